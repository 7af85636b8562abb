import { JsonlError } from '../errors.ts';
import { canonicalByteLength } from '../json/canonical/canonical-json.ts';
import { getMember, isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import type { SourceLocation } from '../source-location.ts';
import { type FileReference, isEmbeddedChecker, mapEntries } from './asset.ts';

/** Longest line of an item by default: 64 MiB, enough for embedded images. */
export const DEFAULT_MAX_LINE_BYTES: number = 64 * 1024 * 1024;

export const MAX_ITEM_FILES = 10_000;

/** How large an item may be, and where it is. */
export interface ItemSizeOptions {
  /** Longest canonical text of the item with its files embedded, in bytes; default 64 MiB. */
  readonly maxItemBytes?: number | undefined;
  /** Location of the item, for errors. */
  readonly location?: SourceLocation | undefined;
}

/** @throws JsonlError `line_too_long` with the location, for an item that is too large or has too many files */
export function checkItemSize(itemBytes: number, fileCount: number, options: ItemSizeOptions = {}): void {
  const { maxItemBytes = DEFAULT_MAX_LINE_BYTES, location } = options;
  const check = (count: number, max: number, unit: string): void => {
    if (count <= max) return;
    const message = `An item must have at most ${max} ${unit}, got at least ${count}`;
    throw new JsonlError('line_too_long', message, location);
  };
  check(itemBytes, maxItemBytes, 'bytes with its files');
  check(fileCount, MAX_ITEM_FILES, 'references to files');
}

/** Counts while files are read, so that too large an item is refused before any base64 text is made. */
export class EmbeddedSize {
  readonly #options: ItemSizeOptions;
  #bytes: number;
  #files = 0;

  /** @param itemBytes the canonical text of the item without its files */
  constructor(itemBytes: number, options: ItemSizeOptions = {}) {
    this.#bytes = itemBytes;
    this.#options = options;
    checkItemSize(itemBytes, 0, options);
  }

  /** Bytes so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Adds a file, before it is embedded.
   *
   * @throws JsonlError `line_too_long` at the reference where the item becomes too large, or has too many files
   */
  add({ addedBytes, pointer }: Pick<FileReference, 'addedBytes' | 'pointer'>, byteLength: number): void {
    this.#files += 1;
    this.#bytes += addedBytes + base64Length(byteLength);
    const { maxItemBytes, location } = this.#options;
    checkItemSize(this.#bytes, this.#files, { maxItemBytes, location: { ...location, path: pointer } });
  }
}

/** Length of the base64 text of `byteLength` bytes (RFC 4648 section 4). */
export function base64Length(byteLength: number): number {
  return 4 * Math.ceil(byteLength / 3);
}

export interface ItemSize {
  /** Canonical text without the base64 text of its files. */
  readonly textBytes: number;
  /** Base64 text of its files. */
  readonly base64Bytes: number;
}

/** Measures an item without writing the text of its files. @throws JsonlError as `canonicalJson` does */
export function itemSize(item: JsonObject): ItemSize {
  let base64Bytes = 0;
  const shortened = (entry: JsonValue): JsonValue => {
    if (!isJsonObject(entry)) return entry;
    const data = getMember(entry, 'data');
    if (typeof data !== 'string') return entry;
    base64Bytes += data.length;
    return { ...entry, data: '' };
  };
  const { assets, checker } = item;
  let short: JsonObject = item;
  if (assets !== undefined) short = { ...short, assets: mapEntries(assets, shortened) };
  if (isEmbeddedChecker(checker)) short = { ...short, checker: shortened(checker) };
  return { textBytes: canonicalByteLength(short), base64Bytes };
}
