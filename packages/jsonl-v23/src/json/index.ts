/** `@svc/jsonl-v23/json`: strict, lossless JSON, whole or as a stream. */
export { JsonlError, type JsonlErrorCode } from '../errors.ts';
export { formatLocation, jsonPointer, type SourceLocation } from '../source-location.ts';
export { CanonicalWriter, canonicalByteLength, canonicalJson } from './canonical/canonical-json.ts';
export { canonicalNumber } from './canonical-number.ts';
export { schemaPredicate } from './describe.ts';
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
  isDeeper,
  isJsonObject,
  type JsonInput,
  type JsonObject,
  type JsonValue,
  jsonText,
  parseNumber,
  setMember,
} from './json-value.ts';
export { DEFAULT_MAX_DEPTH, type ParseJsonOptions, parseJson, tryParseJson } from './parse-json.ts';
export { replacePythonLiterals } from './python-literals.ts';
export { checkValueCount, hasMoreValues, MAX_LINE_VALUES, ValueCounter } from './value-counter.ts';
export { locateValue, skipValue } from './value-scanner.ts';
