import { JsonlError } from '../errors.ts';
import type { SourceLocation } from '../source-location.ts';
import { type ChunkSource, chunksOf } from '../streams.ts';
import { ASCII } from './ascii.ts';
import { joinBytes, validUtf8Length } from './bytes.ts';

const { TAB, LINE_FEED, CARRIAGE_RETURN, SPACE } = ASCII;
/** Bytes of the longest incomplete character at the end of a chunk. */
const MAX_INCOMPLETE_BYTES = 3;

/** Walks over text that arrives in pieces and counts lines and columns. Holds one piece. */
export class TextCursor {
  readonly #source: AsyncIterator<Uint8Array | string>;
  readonly #file: string | undefined;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  /** The last bytes of the chunks so far, to locate a character that is cut by the end of a chunk. */
  #lastBytes: Uint8Array = new Uint8Array();
  #invalidByte: number | null = null;
  #isStarted = false;
  #isAtEnd = false;
  #line = 1;
  /** Index of the current line's first character in the piece; negative if it is in an earlier piece. */
  #lineStart = 0;
  /** Index of the next line feed in the piece. */
  #lineFeed: number = Number.POSITIVE_INFINITY;

  text = '';
  index = 0;

  constructor(source: ChunkSource<Uint8Array | string>, file: string | undefined) {
    this.#source = chunksOf(source);
    this.#file = file;
  }

  get location(): SourceLocation {
    const position = { line: this.#line, column: this.index - this.#lineStart + 1 };
    return this.#file === undefined ? position : { file: this.#file, ...position };
  }

  moveTo(index: number): void {
    while (this.#lineFeed < index) {
      this.#line += 1;
      this.#lineStart = this.#lineFeed + 1;
      this.#findLineFeed();
    }
    this.index = index;
  }

  /** Moves to the next character that is not white space and returns its code unit, at once if it is in this piece; -1 at the end. */
  skipWhitespace(): number | Promise<number> {
    const { text } = this;
    for (let index = this.index; index < text.length; index++) {
      const code = text.charCodeAt(index);
      if (code !== SPACE && code !== LINE_FEED && code !== CARRIAGE_RETURN && code !== TAB) {
        this.moveTo(index);
        return code;
      }
    }
    return this.next().then((isText) => (isText ? this.skipWhitespace() : -1));
  }

  /** Goes to the next piece of text; false at the end. */
  async next(): Promise<boolean> {
    this.moveTo(this.text.length);
    for (;;) {
      if (this.#invalidByte !== null) throw this.#invalidUtf8(this.#invalidByte);
      if (this.#isAtEnd) return false;
      const { value, done } = await this.#source.next();
      this.#isAtEnd = done === true;
      const text = typeof value === 'string' ? value : this.#decode(value ?? new Uint8Array());
      if (text === '') continue;
      this.#lineStart -= this.text.length;
      this.text = text;
      this.index = 0;
      this.#isStarted = true;
      this.#findLineFeed();
      return true;
    }
  }

  async close(): Promise<void> {
    this.#isAtEnd = true;
    await this.#source.return?.();
  }

  #findLineFeed(): void {
    const found = this.text.indexOf('\n', Math.max(this.#lineStart, 0));
    this.#lineFeed = found === -1 ? Number.POSITIVE_INFINITY : found;
  }

  #decode(chunk: Uint8Array): string {
    try {
      const text = this.#decoder.decode(chunk, { stream: !this.#isAtEnd });
      this.#lastBytes = lastBytesOf(this.#lastBytes, chunk);
      return text;
    } catch {
      // The decoder does not say where it failed.
      const bytes = joinBytes([incompleteEnd(this.#lastBytes), chunk]);
      const validLength = validUtf8Length(bytes);
      this.#invalidByte = bytes[validLength] ?? 0;
      return new TextDecoder('utf-8', { ignoreBOM: this.#isStarted }).decode(bytes.subarray(0, validLength));
    }
  }

  #invalidUtf8(byte: number): JsonlError {
    const shown = byte.toString(16).toUpperCase().padStart(2, '0');
    return new JsonlError('invalid_utf8', `Byte ${shown} is not valid UTF-8`, this.location);
  }
}

function lastBytesOf(before: Uint8Array, chunk: Uint8Array): Uint8Array {
  if (chunk.length >= MAX_INCOMPLETE_BYTES) return Uint8Array.from(chunk.subarray(-MAX_INCOMPLETE_BYTES));
  return Uint8Array.of(...before, ...chunk).slice(-MAX_INCOMPLETE_BYTES);
}

/** The bytes of a character that has begun and is not complete; `bytes` may begin inside another character. */
function incompleteEnd(bytes: Uint8Array): Uint8Array {
  const first = bytes.findIndex((byte) => (byte & 0xc0) !== 0x80);
  const characters = first === -1 ? bytes.subarray(bytes.length) : bytes.subarray(first);
  return characters.subarray(validUtf8Length(characters));
}
