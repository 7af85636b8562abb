/** `@svc/jsonl-v23/lines`: JSON Lines in batches, for threads and stores. */
export { type EncodedLine, type EncoderOptions, LineEncoder } from './encode-lines.ts';
export {
  type CutLine,
  type CutOptions,
  type LineBatch,
  LineCutter,
  linesOf,
  splitLines,
} from './line-cutter.ts';
export { PlainLineCollector, type PlainLines } from './plain-line-collector.ts';
export { checkLine, parseLines } from './read-items.ts';
