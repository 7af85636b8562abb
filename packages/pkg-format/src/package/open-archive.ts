import { JsonlError, type SourceLocation } from '@svc/jsonl-v23';
import { countLineFeeds, validUtf8Length } from '@svc/jsonl-v23/bytes';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@svc/jsonl-v23/json';
import { missingFile, PackageError, quote } from '../errors.ts';
import { FILE_CACHE_BYTES, type PackageLimits, resolveLimits } from '../limits.ts';
import { type ByteSource, collectBytes } from '../zip/byte-source.ts';
import { decodeUtf8, type ZipEntry } from '../zip/entry-name.ts';
import { readDirectory } from '../zip/read-directory.ts';
import { ByteBudget, entryCeiling, type InflateZstd, readEntry } from '../zip/read-entry.ts';
import { type ArchiveFiles, archiveFiles } from './layout.ts';

export interface ReadOptions {
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
  readJsonObject(path: string): Promise<JsonObject | null>;
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
    const entries = await readDirectory(source, resolved, inflateZstd !== undefined);
    return archiveOver(source, archiveFiles(entries), resolved, close, inflateZstd);
  } catch (error) {
    await close();
    throw error;
  }
}

/** Levels reserved for an export, which puts manifest and meta inside `schema.package.meta` of its `meta.json`. */
const PROVENANCE_DEPTH = 8;

function archiveOver(
  source: ByteSource,
  files: ArchiveFiles,
  limits: PackageLimits,
  close: () => Promise<void>,
  inflateZstd: InflateZstd | undefined,
): Archive {
  const budget = new ByteBudget(source.byteLength, limits);
  /** Files that were read last, for other items that refer to them. */
  const cache = new Map<string, Uint8Array>();
  let cachedBytes = 0;

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

  async function contentOf(entry: ZipEntry, check: ContentCheck | undefined): Promise<Uint8Array> {
    const ceiling = entryCeiling(entry, limits, limits.maxAssetBytes);
    const options = { ceiling, budget, signal: undefined, isTransient: true, inflateZstd };
    // A buffer of exactly this size; slices of larger ones would keep these in memory.
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
      if (cachedBytes + content.byteLength > FILE_CACHE_BYTES) {
        cache.clear();
        cachedBytes = 0;
      }
      if (content.byteLength <= FILE_CACHE_BYTES) {
        cache.set(path, content);
        cachedBytes += content.byteLength;
      }
      return content;
    },
    async readJsonObject(path) {
      if (!files.has(path)) return null;
      const bytes = await collectBytes(read(path, { maxBytes: limits.maxLineBytes }));
      const maxDepth = Math.max(1, limits.maxDepth - PROVENANCE_DEPTH);
      return parseJsonFile(bytes, path, maxDepth);
    },
    close,
  };
}

/** Parses an object and keeps every digit of its numbers; accepts a byte order mark. */
export function parseJsonFile(bytes: Uint8Array, file: string, maxDepth: number): JsonObject {
  const value = parseJsonFileValue(bytes, file, maxDepth);
  if (!isJsonObject(value))
    throw invalid(`${quote(file)} does not contain a JSON object.`, { file, line: 1 });
  return value;
}

function parseJsonFileValue(bytes: Uint8Array, file: string, maxDepth: number): JsonValue {
  const decoded = decodeUtf8(bytes);
  if (decoded === null) {
    const line = 1 + countLineFeeds(bytes.subarray(0, validUtf8Length(bytes)));
    throw invalid(`${quote(file)} is not UTF-8.`, { file, line });
  }
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
