const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const PAD = 61;
const NOT_IN_ALPHABET = 64;

/**
 * Whether a text is base64 as RFC 4648 section 4 writes it: the standard alphabet, padded, without line
 * breaks, unused bits zero (section 3.5). Exactly these texts come out of `encodeBase64` again, so a file and
 * its embedded form stand for one another.
 */
export function isBase64(text: string): boolean {
  if (text.length % 4 !== 0) return false;
  if (text.length === 0) return true;
  const values = decodingTable();
  let end = text.length;
  if (text.charCodeAt(end - 1) === PAD) end--;
  if (text.charCodeAt(end - 1) === PAD) end--;
  for (let index = 0; index < end; index++) {
    if (sextet(values, text.charCodeAt(index)) === NOT_IN_ALPHABET) return false;
  }
  const padding = text.length - end;
  const unusedBits = padding === 2 ? 0b1111 : padding === 1 ? 0b11 : 0;
  return (sextet(values, text.charCodeAt(end - 1)) & unusedBits) === 0;
}

/** Writes bytes as base64 (RFC 4648 section 4, padded). */
export function encodeBase64(bytes: Uint8Array): string {
  const letters = new TextEncoder().encode(ALPHABET);
  const out = new Uint8Array(Math.ceil(bytes.length / 3) * 4);
  let to = 0;
  let from = 0;
  for (; from + 2 < bytes.length; from += 3) {
    const bits =
      ((bytes[from] as number) << 16) | ((bytes[from + 1] as number) << 8) | (bytes[from + 2] as number);
    out[to++] = letters[bits >> 18] as number;
    out[to++] = letters[(bits >> 12) & 63] as number;
    out[to++] = letters[(bits >> 6) & 63] as number;
    out[to++] = letters[bits & 63] as number;
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
  const values = decodingTable();
  const compact = /[\t\n\f\r ]/.test(text) ? text.replace(/[\t\n\f\r ]/g, '') : text;
  let end = compact.length;
  if (end % 4 === 0) {
    if (end > 0 && compact.charCodeAt(end - 1) === PAD) end--;
    if (end > 0 && compact.charCodeAt(end - 1) === PAD) end--;
  }
  if (end % 4 === 1) return null;
  const bytes = new Uint8Array(Math.floor((end * 3) / 4));
  let to = 0;
  let bits = 0;
  let bitCount = 0;
  for (let index = 0; index < end; index++) {
    const value = sextet(values, compact.charCodeAt(index));
    if (value === NOT_IN_ALPHABET) return null;
    bits = ((bits << 6) | value) & 0xffff;
    bitCount += 6;
    if (bitCount >= 8) {
      bitCount -= 8;
      bytes[to++] = (bits >> bitCount) & 255;
    }
  }
  return bytes;
}

function decodingTable(): Uint8Array {
  const values = new Uint8Array(128).fill(NOT_IN_ALPHABET);
  for (let value = 0; value < ALPHABET.length; value++) values[ALPHABET.charCodeAt(value)] = value;
  return values;
}

function sextet(values: Uint8Array, code: number): number {
  return code < 128 ? (values[code] as number) : NOT_IN_ALPHABET;
}
