import { sha256Into } from '#native';
import { FastItemEncoder } from '../fast/fast-item-encoder.ts';
import { assetEntries, type FileReference, isEmbeddedChecker, linkedReferences } from '../item/asset.ts';
import { EncodedItemBytes, ItemEncoder } from '../item/encode-item.ts';
import type { Item } from '../item/item.ts';
import { checkItemSize } from '../item/item-size.ts';
import { parseItem } from '../item/parse-item.ts';
import { getMember, type JsonObject } from '../json/json-value.ts';
import { DEFAULT_MAX_DEPTH, JsonReader } from '../json/parse-json.ts';
import { lineLocation, type SourceLocation } from '../source-location.ts';
import type { LineBatch } from './line-cutter.ts';
import { isBlank, parseLines } from './read-items.ts';

const LINE_FEED = 10;

export interface EncoderOptions {
  /** Yields items that embed files or refer to them as they are, so that their content never becomes part of a text. */
  readonly keepsItems?: boolean | undefined;
  /** Bounds the memory of one item: encoding a much longer one ends with `line_too_long`. Files of kept items do not count. */
  readonly maxItemBytes?: number | undefined;
}

const NO_REFERENCES: readonly FileReference[] = [];

/** The encoded item of a line or a row: the one object that an encoder yields for all its items. */
export class EncodedLine extends EncodedItemBytes {
  /** 1-based line of the file; 0 for a row. */
  line = 0;
  /** Start and end of the line in the batch, without its line feed; 0 for a row. */
  lineStart = 0;
  lineEnd = 0;
  /** Whether the item refers to files of its archive, which must be embedded before it is encoded. */
  needsFiles = false;
  /** Those files. */
  references: readonly FileReference[] = NO_REFERENCES;
  /** Whether the item has embedded files, as content of assets or of its checker. */
  embedsFiles = false;
  /** The item itself, not encoded, if it has files and the encoder keeps such items; else null. */
  item: JsonObject | null = null;
  readonly #keepsItems: boolean;
  readonly #maxItemBytes: number | undefined;
  /** Encodes the items that the fast path leaves; made for the first of them. */
  #valueEncoder: ItemEncoder | undefined;

  constructor({ keepsItems = false, maxItemBytes }: EncoderOptions = {}) {
    super();
    this.#keepsItems = keepsItems;
    this.#maxItemBytes = maxItemBytes;
  }

  /** Hashes the item, whose ranges the fast path has set. It has no files, so its hash is the hash of its whole text. */
  endEncoded(): void {
    sha256Into(this.bytes.subarray(this.itemStart, this.itemEnd), this.itemHash);
    this.needsFiles = false;
    this.references = NO_REFERENCES;
    this.embedsFiles = false;
    this.item = null;
  }

  /**
   * Encodes and sets an item; keeps one with files if the options say so.
   *
   * @param expectedBytes of the canonical text, if known: avoids room for twice as much
   * @param origins of a service whose links to files are references; null for none
   * @throws JsonlError `line_too_long` if the item refers to too many files, before it is encoded
   */
  setItem(
    item: JsonObject,
    location?: SourceLocation,
    expectedBytes = 0,
    origins: readonly string[] | null = null,
  ): void {
    this.references = linkedReferences(item, origins);
    checkItemSize(0, this.references.length, { location });
    this.needsFiles = this.references.length > 0;
    this.embedsFiles =
      assetEntries(item).some(({ entry }) => Object.hasOwn(entry, 'data')) ||
      isEmbeddedChecker(getMember(item, 'checker'));
    this.item = this.#keepsItems && (this.needsFiles || this.embedsFiles) ? item : null;
    if (this.item !== null) return;
    this.#valueEncoder ??= new ItemEncoder(this.#maxItemBytes);
    this.#valueEncoder.encode(item, expectedBytes, this);
  }

  release(): void {
    this.bytes = new Uint8Array();
    this.item = null;
    this.#valueEncoder?.release();
  }
}

interface EncodeLinesOptions {
  readonly file?: string;
  readonly maxDepth?: number;
  /** Of a service whose links to files are references; by default none. */
  readonly origins?: readonly string[] | undefined;
}

/**
 * Encodes the items of batches of lines, one batch after another. It gives the same bytes and errors as `parseLines` and
 * `ItemEncoder`, several times as fast: common lines are encoded from bytes to bytes (see `FastItemEncoder`), and only
 * the others become values on the way.
 *
 * @example
 * const encoder = new LineEncoder();
 * for await (const batch of splitLines(source)) {
 *   for (const { bytes, itemStart, itemEnd } of encoder.encode(batch)) write(bytes.subarray(itemStart, itemEnd));
 * }
 */
export class LineEncoder {
  readonly #fast: FastItemEncoder = new FastItemEncoder();
  readonly #line: EncodedLine;

  constructor(options: EncoderOptions = {}) {
    this.#line = new EncodedLine(options);
  }

  /**
   * Encodes the items of a batch. Yields the same object for each item, with other values: copy what you keep.
   *
   * @throws JsonlError as `parseLines` does, at the latest at the faulty line
   */
  *encode(batch: LineBatch, options: EncodeLinesOptions = {}): Generator<EncodedLine, void, undefined> {
    const { bytes } = batch;
    const { maxDepth = DEFAULT_MAX_DEPTH, origins = null, file } = options;
    const line = this.#line;
    const reader = new JsonReader('', maxDepth);
    this.#fast.load(bytes, maxDepth);
    let number = batch.firstLine;
    for (let start = 0; start < bytes.length; start = line.lineEnd + 1, number++) {
      line.line = number;
      line.lineStart = start;
      line.lineEnd = this.#fast.encode(start, line);
      if (line.lineEnd !== -1) line.endEncoded();
      else {
        const lineFeed = bytes.indexOf(LINE_FEED, start);
        line.lineEnd = lineFeed === -1 ? bytes.length : lineFeed;
        const item = readLine(bytes.subarray(start, line.lineEnd), reader, batch, options);
        if (item === null) continue;
        line.setItem(item, lineLocation(number, file), line.lineEnd - start, origins);
      }
      yield line;
    }
    line.release();
  }
}

const DECODER = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function readLine(
  bytes: Uint8Array,
  reader: JsonReader,
  batch: LineBatch,
  options: EncodeLinesOptions,
): Item | null {
  try {
    const text = DECODER.decode(bytes);
    if (isBlank(text, 0, text.length)) return null;
    reader.use(text);
    return parseItem(reader.read(0, text.length, {}));
  } catch (error) {
    // Only parseLines knows file, line and column.
    parseLines(batch, options);
    throw error;
  }
}
