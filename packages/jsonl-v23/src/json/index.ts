/** `@svc/jsonl-v23/json`: strict, lossless JSON, whole or as a stream. */
export { JsonlError, type JsonlErrorCode } from '../errors.ts';
export { formatLocation, jsonPointer, type SourceLocation } from '../source-location.ts';
export { canonicalJson } from './canonical/canonical-json.ts';
export { canonicalNumber } from './canonical-number.ts';
export {
  DEFAULT_MAX_VALUE_LENGTH,
  type JsonKind,
  JsonStream,
  type JsonStreamOptions,
  type LocatedText,
} from './json-stream.ts';
export {
  ExactNumber,
  getMember,
  isJsonObject,
  type JsonInput,
  type JsonObject,
  type JsonValue,
  parseNumber,
  setMember,
} from './json-value.ts';
export { DEFAULT_MAX_DEPTH, type ParseJsonOptions, parseJson } from './parse-json.ts';
export { skipValue } from './value-scanner.ts';
