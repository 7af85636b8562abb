import { EncodedLine, type EncoderOptions } from '../fast/encoded-line.ts';
import { FastItemEncoder } from '../fast/fast-item-encoder.ts';
import type { Item } from '../item/item.ts';
import { parseItem } from '../item/parse-item.ts';
import { DEFAULT_MAX_DEPTH, JsonReader } from '../json/parse-json.ts';
import type { SourceLocation } from '../source-location.ts';
import type { LineBatch } from './line-cutter.ts';
import { isBlank, parseLines } from './read-items.ts';

const LINE_FEED = 10;

/** Options of `LineEncoder.encode`. */
interface EncodeLinesOptions {
  readonly file?: string;
  readonly maxDepth?: number;
}

/** Encodes the items of batches of lines, one batch after another. */
export interface LineEncoder {
  /**
   * Encodes the items of a batch. Yields the same object for each item, with other values: copy what you keep.
   *
   * @throws JsonlError as `parseLines` does, at the latest at the faulty line
   */
  encode(batch: LineBatch, options?: EncodeLinesOptions): Generator<EncodedLine, void, undefined>;
}

/**
 * Makes an encoder that gives the same bytes and errors as `parseLines` and `createItemEncoder`, several times as fast:
 * common lines are encoded from bytes to bytes (see `FastItemEncoder`), and only the others become values on the way.
 *
 * @example
 * const encoder = createLineEncoder();
 * for await (const batch of splitLines(source)) {
 *   for (const { bytes, itemStart, itemEnd } of encoder.encode(batch)) write(bytes.subarray(itemStart, itemEnd));
 * }
 */
export function createLineEncoder(encoderOptions: EncoderOptions = {}): LineEncoder {
  const fastEncoder = new FastItemEncoder();
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const line = new EncodedLine(encoderOptions);

  /** The item of a line; null if the line is blank. */
  function readLine(
    bytes: Uint8Array,
    reader: JsonReader,
    batch: LineBatch,
    options: EncodeLinesOptions,
  ): Item | null {
    try {
      const text = decoder.decode(bytes);
      if (isBlank(text, 0, text.length)) return null;
      reader.use(text);
      return parseItem(reader.read(0, text.length, {}));
    } catch (error) {
      // Only parseLines knows file, line and column.
      parseLines(batch, options);
      throw error;
    }
  }

  return {
    *encode(batch, options = {}) {
      const { bytes } = batch;
      const { maxDepth = DEFAULT_MAX_DEPTH } = options;
      const reader = new JsonReader('', maxDepth);
      fastEncoder.load(bytes, maxDepth);
      let number = batch.firstLine;
      for (let start = 0; start < bytes.length; number++) {
        line.line = number;
        line.lineStart = start;
        const lineEnd = fastEncoder.encode(start, line);
        if (lineEnd !== -1) {
          line.endEncoded();
          line.lineEnd = lineEnd;
          start = lineEnd + 1;
        } else {
          const lineFeed = bytes.indexOf(LINE_FEED, start);
          const end = lineFeed === -1 ? bytes.length : lineFeed;
          const item = readLine(bytes.subarray(start, end), reader, batch, options);
          line.lineEnd = end;
          start = end + 1;
          if (item === null) continue;
          line.setItem(item, locationOf(number, options.file), end - line.lineStart);
        }
        yield line;
      }
      line.release();
    },
  };
}

function locationOf(line: number, file: string | undefined): SourceLocation {
  return file === undefined ? { line } : { file, line };
}
