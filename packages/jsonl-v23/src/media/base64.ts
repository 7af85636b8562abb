/** Letters of base64 in the order of their values. */
export const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const PAD = 61;
const NOT_IN_ALPHABET = 64;

/** Writes bytes as base64 (RFC 4648 section 4, padded). */
export function encodeBase64(bytes: Uint8Array): string {
  const letters = new TextEncoder().encode(ALPHABET);
  const out = new Uint8Array(Math.ceil(bytes.length / 3) * 4);
  let to = 0;
  let from = 0;
  for (; from + 2 < bytes.length; from += 3) {
    const bits =
      ((bytes[from] as number) << 16) | ((bytes[from + 1] as number) << 8) | (bytes[from + 2] as number);
    out[to] = letters[bits >> 18] as number;
    out[to + 1] = letters[(bits >> 12) & 63] as number;
    out[to + 2] = letters[(bits >> 6) & 63] as number;
    out[to + 3] = letters[bits & 63] as number;
    to += 4;
  }
  if (from < bytes.length) {
    const second = bytes[from + 1];
    const bits = ((bytes[from] as number) << 16) | ((second ?? 0) << 8);
    out[to++] = letters[bits >> 18] as number;
    out[to++] = letters[(bits >> 12) & 63] as number;
    out[to++] = second === undefined ? PAD : (letters[(bits >> 6) & 63] as number);
    out[to++] = PAD;
  }
  return new TextDecoder().decode(out);
}

/**
 * The bytes of a base64 text, or null when it is none. White space and missing padding are forgiven here (WHATWG
 * Infra, "forgiving-base64 decode"), as data: URIs are read; `isBase64` is the strict test.
 */
export function decodeBase64(text: string): Uint8Array | null {
  const compact = /[\t\n\f\r ]/.test(text) ? text.replace(/[\t\n\f\r ]/g, '') : text;
  const end = compact.length - (compact.length % 4 === 0 ? countPadding(compact) : 0);
  if (end % 4 === 1) return null;

  const values = decodingTable();
  const bytes = new Uint8Array(Math.floor((end * 3) / 4));
  let to = 0;
  let from = 0;
  for (; from + 3 < end; from += 4) {
    const first = sextet(values, compact.charCodeAt(from));
    const second = sextet(values, compact.charCodeAt(from + 1));
    const third = sextet(values, compact.charCodeAt(from + 2));
    const fourth = sextet(values, compact.charCodeAt(from + 3));
    if (((first | second | third | fourth) & NOT_IN_ALPHABET) !== 0) return null;
    bytes[to] = (first << 2) | (second >> 4);
    bytes[to + 1] = (second << 4) | (third >> 2);
    bytes[to + 2] = (third << 6) | fourth;
    to += 3;
  }
  if (from < end) {
    const first = sextet(values, compact.charCodeAt(from));
    const second = sextet(values, compact.charCodeAt(from + 1));
    const third = from + 2 < end ? sextet(values, compact.charCodeAt(from + 2)) : 0;
    if (((first | second | third) & NOT_IN_ALPHABET) !== 0) return null;
    bytes[to] = (first << 2) | (second >> 4);
    if (from + 2 < end) bytes[to + 1] = (second << 4) | (third >> 2);
  }
  return bytes;
}

/** The number of characters that pad a base64 text. */
export function countPadding(text: string): number {
  return text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
}

function decodingTable(): Uint8Array {
  const values = new Uint8Array(128).fill(NOT_IN_ALPHABET);
  for (let value = 0; value < ALPHABET.length; value++) values[ALPHABET.charCodeAt(value)] = value;
  return values;
}

function sextet(values: Uint8Array, code: number): number {
  return code < 128 ? (values[code] as number) : NOT_IN_ALPHABET;
}
