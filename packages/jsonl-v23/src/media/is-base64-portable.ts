import { ALPHABET, countPadding } from './base64.ts';

/**
 * Whether a text is base64 as RFC 4648 section 4 writes it: the standard alphabet, padded, without line
 * breaks, unused bits zero (section 3.5). Exactly these texts come out of `encodeBase64` again, so a file and
 * its embedded form stand for one another.
 */
export function isBase64(text: string): boolean {
  if (text.length % 4 !== 0) return false;
  if (text.length === 0) return true;
  const padding = countPadding(text);
  const end = text.length - padding;
  const foreign = text.search(/[^A-Za-z0-9+/]/);
  if (foreign !== -1 && foreign !== end) return false;
  const unusedBits = padding === 2 ? 0b1111 : padding === 1 ? 0b11 : 0;
  return (ALPHABET.indexOf(text.charAt(end - 1)) & unusedBits) === 0;
}
