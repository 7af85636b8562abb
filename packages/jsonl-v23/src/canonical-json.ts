import { canonicalNumber } from './canonical-number.ts';
import { JsonlError } from './errors.ts';
import { ExactNumber, type JsonObject, type JsonValue } from './json-value.ts';

/** Deepest value that is written. The writer recurses, and a stack overflow must not end the process. */
export const MAX_WRITE_DEPTH = 1024;

/**
 * The canonical text of a value: RFC 8785 (JCS), with numbers as `canonicalNumber` writes them.
 *
 * - no white space (3.2.1), members sorted by the UTF-16 code units of their names (3.2.3);
 * - strings as 3.2.2.2; a lone surrogate, which RFC 8785 leaves out, is its lower-case `\udxxx` escape, so
 *   the text is always well-formed and its UTF-8 form is unique;
 * - `bigint` is written as the integer literal it is.
 *
 * Throws JsonlError `invalid_json` for what JSON cannot hold (NaN, infinities, undefined, functions) and
 * `nesting_too_deep` beyond 1,024 levels.
 *
 * @example canonicalJson({ b: 1.0, a: [true, null] }) // '{"a":[true,null],"b":1}'
 */
export function canonicalJson(value: JsonValue | bigint): string {
  return writeValue(value, MAX_WRITE_DEPTH);
}

function writeValue(value: JsonValue | bigint, depthLeft: number): string {
  switch (typeof value) {
    case 'string':
      return writeString(value);
    case 'number':
      return writeNumber(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'bigint':
      return canonicalNumber(value.toString());
    case 'object':
      if (value === null) return 'null';
      if (Array.isArray(value)) return writeArray(value, depthLeft);
      if (value instanceof ExactNumber) return value.text;
      return writeObject(value, depthLeft);
    default:
      throw new JsonlError('invalid_json', `A ${typeof value} cannot be written as JSON`);
  }
}

/** RFC 8785 section 3.2.2.3: the ECMAScript form. */
function writeNumber(value: number): string {
  if (!Number.isFinite(value)) throw new JsonlError('invalid_json', `${value} cannot be written as JSON`);
  return String(value);
}

/** RFC 8785 section 3.2.2.2. ECMAScript's own form is the same one, lone surrogates included. */
function writeString(value: string): string {
  return JSON.stringify(value);
}

function writeArray(values: readonly JsonValue[], depthLeft: number): string {
  if (depthLeft === 0) throw tooDeep();
  let text = '[';
  for (let index = 0; index < values.length; index++) {
    if (index > 0) text += ',';
    text += writeValue(values[index] as JsonValue, depthLeft - 1);
  }
  return `${text}]`;
}

function writeObject(object: JsonObject, depthLeft: number): string {
  if (depthLeft === 0) throw tooDeep();
  let text = '{';
  for (const key of Object.keys(object).sort()) {
    if (text.length > 1) text += ',';
    text += `${writeString(key)}:${writeValue(object[key] as JsonValue, depthLeft - 1)}`;
  }
  return `${text}}`;
}

function tooDeep(): JsonlError {
  return new JsonlError('nesting_too_deep', `The value is nested over ${MAX_WRITE_DEPTH} levels deep`);
}
