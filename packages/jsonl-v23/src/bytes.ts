/** `@svc/jsonl-v23/bytes`: SHA-256, base64 and UTF-8, with what the runtime is fastest at. */
export {
  createSha256,
  decodeBase64,
  encodeBase64,
  isBase64,
  sha256Hex,
  toHex,
} from '#native';
export { asciiText } from './json/ascii.ts';
export {
  compareUtf8,
  countLineFeeds,
  grownSize,
  joinBytes,
  type OwnBytes,
  ownText,
  transferBuffer,
  validUtf8Length,
} from './json/bytes.ts';
