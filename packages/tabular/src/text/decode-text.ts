import { countLineFeeds } from '@svc/jsonl-v23/bytes';
import { createDecoder, type TextEncodingOptions, withoutMark } from './encodings.ts';
import { invalidRow } from './raw-row.ts';

/** No character of any encoding has more bytes. */
const MAX_CHARACTER_BYTES = 4;
const NO_BYTES = new Uint8Array();

/** Decodes a file as it arrives. @throws TableError `invalid_row` with the place of invalid bytes, `unsupported_file` */
export async function* decodeText(
  source: AsyncIterable<Uint8Array>,
  options: TextEncodingOptions,
): AsyncGenerator<string, void, undefined> {
  const decoder = new PieceDecoder(options);
  let line = 1;
  let width = 0;
  let atStart = true;
  const trimmed = (text: string): string => {
    if (!atStart) return text;
    const rest = withoutMark(text);
    atStart = rest === '';
    return rest;
  };
  const checked = (bytes: Uint8Array | null): string => {
    try {
      return trimmed(decoder.decode(bytes));
    } catch (cause) {
      const before = trimmed(decoder.validStart(bytes ?? NO_BYTES));
      const location = {
        file: options.file,
        line: line + countLineFeeds(before),
        column: widthAfter(before, width) + 1,
      };
      throw invalidRow(`The line is not ${options.encoding ?? 'UTF-8'} text.`, location, cause);
    }
  };
  for await (const bytes of source) {
    options.signal?.throwIfAborted();
    const text = checked(bytes);
    if (text !== '') yield text;
    line += countLineFeeds(text);
    width = widthAfter(text, width);
  }
  const rest = checked(null);
  if (rest !== '') yield rest;
}

/** Decodes a file piece by piece, and keeps the first bytes of a character whose others are in the next piece. */
class PieceDecoder {
  readonly #options: TextEncodingOptions;
  readonly #decode: (bytes: Uint8Array | null) => string;
  #begun: Uint8Array = NO_BYTES;

  constructor(options: TextEncodingOptions) {
    this.#options = options;
    this.#decode = createDecoder(options);
  }

  /** The text of the next bytes; null ends the file. @throws TypeError for invalid bytes */
  decode(bytes: Uint8Array | null): string {
    if (bytes === null) return this.#decode(null);
    let begun = this.#begun;
    let text = '';
    const decode = (part: Uint8Array): void => {
      const decoded = this.#decode(part);
      begun = decoded === '' ? Uint8Array.of(...begun, ...part) : NO_BYTES;
      text += decoded;
    };
    // One by one, the last bytes show where the last whole character ends.
    const split = Math.max(0, bytes.length - MAX_CHARACTER_BYTES);
    if (split > 0) decode(bytes.subarray(0, split));
    for (let at = split; at < bytes.length; at += 1) decode(bytes.subarray(at, at + 1));
    this.#begun = begun;
    return text;
  }

  /** The text of bytes for which `decode` throws, up to the first invalid one. */
  validStart(bytes: Uint8Array): string {
    let text = '';
    let [valid, invalid] = [0, bytes.length];
    while (invalid - valid > 1) {
      const middle = Math.floor((valid + invalid) / 2);
      const decode = createDecoder(this.#options);
      try {
        text = decode(this.#begun) + decode(bytes.subarray(0, middle));
        valid = middle;
      } catch {
        invalid = middle;
      }
    }
    return text;
  }
}

/** Length of the last line, including what came before this text. */
function widthAfter(text: string, before: number): number {
  const lineFeed = text.lastIndexOf('\n');
  return lineFeed === -1 ? before + text.length : text.length - lineFeed - 1;
}
