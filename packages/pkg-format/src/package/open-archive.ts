import { JsonlError, type SourceLocation } from '@svc/jsonl-v23';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@svc/jsonl-v23/json';
import { missingFile, PackageError, quote } from '../errors.ts';
import { FILE_CACHE_BYTES, type PackageLimits, resolveLimits } from '../limits.ts';
import { type ByteSource, collectBytes } from '../zip/byte-source.ts';
import { decodeUtf8, type ZipEntry } from '../zip/entry-name.ts';
import { readDirectory } from '../zip/read-directory.ts';
import {
  ByteBudget,
  entryCeiling,
  type InflateZstd,
  isSmallEntry,
  type ReadEntryOptions,
  readEntry,
  readSmallEntry,
} from '../zip/read-entry.ts';
import { type ArchiveFiles, archiveFiles } from './layout.ts';

export interface ReadOptions {
  /** Bytes that the file may have. */
  readonly maxBytes?: number;
  /** Whether the bytes are only checked, not returned: they do not count towards the total. */
  readonly uncounted?: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Whether a chunk may be freed when the next one is asked for; for a reader that copies what it keeps. */
  readonly isTransient?: boolean;
}

/** Checks the bytes of a file while they are read. */
export interface ContentCheck {
  add(chunk: Uint8Array): void;
  end(): void;
}

/** A checked archive: its files by path. */
export interface Archive {
  /** Size of the file. */
  readonly byteLength: number;
  readonly files: ArchiveFiles;
  readonly limits: PackageLimits;
  /** Streams a file; checks size, CRC-32 and limits while reading. */
  read(path: string, options?: ReadOptions): AsyncGenerator<Uint8Array>;
  /**
   * Reads all of an asset or checker file. A recently read file comes from a cache, but counts again; the bytes are
   * shared, so do not change them.
   *
   * @param check sees the bytes of a file that is not cached
   * @throws what `check` throws
   */
  readWhole(path: string, check?: ContentCheck): Promise<Uint8Array>;
  /** Parses a JSON file with an object; null if the archive does not contain it. */
  readJsonObject(path: string): Promise<{ value: JsonObject; byteLength: number } | null>;
  close(): Promise<void>;
}

/**
 * Checks the structure of an archive and opens it.
 *
 * @param close called by `Archive.close`, and when opening fails
 * @param inflateZstd inflates entries that zstd compressed, which no package has
 * @throws PackageError as `readDirectory`; TypeError, RangeError for an invalid limit
 */
export async function openArchive(
  source: ByteSource,
  limits: Partial<PackageLimits> | undefined,
  close: () => Promise<void>,
  inflateZstd?: InflateZstd,
): Promise<Archive> {
  try {
    const resolved = resolveLimits(limits);
    const entries = await readDirectory(source, resolved, { allowsZstd: inflateZstd !== undefined });
    return archiveOver(source, archiveFiles(entries), resolved, close, inflateZstd);
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * An export puts manifest and meta inside the `schema` of its `meta.json` (`schema.package.meta`). This many levels are
 * reserved, so that a reader accepts that file.
 */
const PROVENANCE_DEPTH = 8;

function archiveOver(
  source: ByteSource,
  files: ArchiveFiles,
  limits: PackageLimits,
  close: () => Promise<void>,
  inflateZstd: InflateZstd | undefined,
): Archive {
  const budget = new ByteBudget(source.byteLength, limits);
  const cache = new FileCache(FILE_CACHE_BYTES);
  /** Small files that were read once: most are never read again, so only the second time puts them into the cache. */
  const readOnce = new Set<string>();

  function read(
    path: string,
    { maxBytes, uncounted = false, signal, isTransient }: ReadOptions = {},
  ): AsyncGenerator<Uint8Array> {
    const entry = files.get(path);
    if (!entry) throw missingFile(path);
    const ceiling = entryCeiling(entry, limits, maxBytes);
    return readEntry(source, entry, {
      ...{ ceiling, budget: uncounted ? null : budget, signal, isTransient, inflateZstd },
    });
  }

  /** Small files are read one after another. */
  let reading: Promise<unknown> = Promise.resolve();
  function readSmall(entry: ZipEntry, options: ReadEntryOptions): Promise<Uint8Array | null> {
    const content = reading.then(() => readSmallEntry(source, entry, options));
    reading = content.catch(() => undefined);
    return content;
  }

  async function contentOf(entry: ZipEntry, check: ContentCheck | undefined): Promise<Uint8Array> {
    const ceiling = entryCeiling(entry, limits, limits.maxAssetBytes);
    const options = { ceiling, budget, signal: undefined, isTransient: true, inflateZstd };
    const small = isSmallEntry(entry) ? await readSmall(entry, options) : null;
    if (small !== null) {
      check?.add(small);
      check?.end();
      return small;
    }
    // A buffer of exactly this size; slices of the inflater's chunks would keep these in memory.
    const content = new Uint8Array(ceiling.bytes);
    let at = 0;
    for await (const chunk of readEntry(source, entry, options)) {
      check?.add(chunk);
      content.set(chunk, at);
      at += chunk.byteLength;
    }
    check?.end();
    return content;
  }

  return {
    byteLength: source.byteLength,
    files,
    limits,
    read,
    async readWhole(path, check) {
      const entry = files.get(path);
      if (!entry) throw missingFile(path);
      const known = cache.get(path);
      if (known !== undefined) {
        budget.spend(entry.name, 0, known.byteLength);
        return known;
      }
      const content = await contentOf(entry, check);
      if (!isSmallEntry(entry) || readOnce.has(path)) cache.set(path, content);
      else readOnce.add(path);
      return content;
    },
    async readJsonObject(path) {
      if (!files.has(path)) return null;
      const bytes = await collectBytes(read(path, { maxBytes: limits.maxLineBytes }));
      const maxDepth = Math.max(1, limits.maxDepth - PROVENANCE_DEPTH);
      return { value: parseJsonFile(bytes, path, maxDepth), byteLength: bytes.byteLength };
    },
    close,
  };
}

/** Keeps the most recently used files, up to a total of bytes. */
class FileCache {
  readonly #maxBytes: number;
  /** The least recently used file first. */
  readonly #contents = new Map<string, Uint8Array>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The content of a file, if it is kept. */
  get(path: string): Uint8Array | undefined {
    const content = this.#contents.get(path);
    if (content === undefined) return undefined;
    this.#contents.delete(path);
    this.#contents.set(path, content);
    return content;
  }

  /** Adds a file, unless it is larger than the whole cache. */
  set(path: string, content: Uint8Array): void {
    if (content.byteLength > this.#maxBytes) return;
    this.delete(path);
    this.#contents.set(path, content);
    this.#bytes += content.byteLength;
    for (const oldest of this.#contents.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      this.delete(oldest);
    }
  }

  delete(path: string): void {
    const content = this.#contents.get(path);
    if (content === undefined) return;
    this.#contents.delete(path);
    this.#bytes -= content.byteLength;
  }
}

const LINE_FEED = 0x0a;

/**
 * Parses a JSON file of the archive, which must contain an object. Keeps every digit of its numbers; accepts a byte order
 * mark.
 *
 * @throws PackageError `package_invalid_json` with line, column and JSON Pointer
 */
export function parseJsonFile(bytes: Uint8Array, file: string, maxDepth: number): JsonObject {
  const value = parseJsonFileValue(bytes, file, maxDepth);
  if (!isJsonObject(value))
    throw invalid(`${quote(file)} does not contain a JSON object.`, { file, line: 1 });
  return value;
}

function parseJsonFileValue(bytes: Uint8Array, file: string, maxDepth: number): JsonValue {
  const decoded = decodeUtf8(bytes);
  if (decoded === null)
    throw invalid(`${quote(file)} is not UTF-8.`, { file, line: firstUndecodableLine(bytes) });
  const text = decoded.startsWith('\ufeff') ? decoded.slice(1) : decoded;
  try {
    return parseJson(text, { maxDepth, location: { file } });
  } catch (error) {
    if (!(error instanceof JsonlError)) throw error;
    throw invalid(`Cannot parse ${quote(file)}: ${error.message}.`, error.location, error);
  }
}

function invalid(message: string, location: SourceLocation, cause?: unknown): PackageError {
  return new PackageError('package_invalid_json', message, { entry: location.file, location, cause });
}

/** A line feed is never part of a longer UTF-8 sequence, so each line can be decoded alone. */
function firstUndecodableLine(bytes: Uint8Array): number {
  let line = 1;
  for (let start = 0; start <= bytes.length; line += 1) {
    const end = bytes.indexOf(LINE_FEED, start);
    const stop = end < 0 ? bytes.length : end;
    if (decodeUtf8(bytes.subarray(start, stop)) === null) return line;
    start = stop + 1;
  }
  return line;
}
