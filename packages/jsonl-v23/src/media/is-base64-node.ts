import { Buffer } from 'node:buffer';

/** Characters that are compared at a time: a multiple of 4. */
const PIECE_LENGTH = 48 * 1024;

/**
 * Whether a text is base64 as RFC 4648 section 4 writes it: the standard alphabet, padded, without line
 * breaks, unused bits zero (section 3.5). Exactly these texts come out of `encodeBase64` again, so a file and
 * its embedded form stand for one another.
 */
export function isBase64(text: string): boolean {
  // Decoding and encoding a text take a tenth of the time of a look at its characters.
  for (let at = 0; at < text.length; at += PIECE_LENGTH) {
    const piece = text.slice(at, at + PIECE_LENGTH);
    const bytes = Buffer.from(piece, 'base64');
    if (bytes.toString('base64') !== piece) return false;
    // Padding ends a text.
    if (bytes.byteLength % 3 !== 0 && at + PIECE_LENGTH < text.length) return false;
  }
  return true;
}
