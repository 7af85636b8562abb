import type { SourceLocation } from '@svc/jsonl-v23';
import type { JsonObject } from '@svc/jsonl-v23/json';
import { PackageError, quote } from '../errors.ts';
import { FILE_CACHE_BYTES, type PackageLimits, resolveLimits } from '../limits.ts';
import { ByteBudget } from '../zip/byte-budget.ts';
import type { ByteSource } from '../zip/byte-source.ts';
import { concatBytes } from '../zip/concat-bytes.ts';
import { entryCeiling } from '../zip/entry-ceiling.ts';
import { readDirectory } from '../zip/read-directory.ts';
import { readEntry } from '../zip/read-entry.ts';
import { FileCache } from './file-cache.ts';
import { type ArchiveFiles, archiveFiles } from './layout.ts';
import { parseJsonFile } from './parse-json-file.ts';

export interface ReadOptions {
  /** An error where the file has more. */
  maxBytes?: number;
  /** The bytes are only looked at, not handed out: they count against no total. */
  uncounted?: boolean;
  signal?: AbortSignal;
}

/** A checked archive: every file by its path, bytes on demand. */
export interface Archive {
  readonly files: ArchiveFiles;
  readonly limits: PackageLimits;
  /** Streams a file; size, CRC-32 and limits are checked as it passes. */
  read(path: string, options?: ReadOptions): AsyncGenerator<Uint8Array>;
  /**
   * All of an asset or checker file. One that was read lately is not unpacked again, but counts like one that is; its
   * bytes are shared, so they must not be changed.
   *
   * @param open reads the file where it has to be unpacked; `read` where absent
   */
  readWhole(path: string, open?: (options: ReadOptions) => AsyncIterable<Uint8Array>): Promise<Uint8Array>;
  /** A whole JSON file whose value is an object, and its size; null where there is no such file. */
  readJsonObject(path: string): Promise<{ value: JsonObject; byteLength: number } | null>;
  close(): Promise<void>;
}

/**
 * Checks an archive's structure and makes its files readable.
 *
 * @param close called by `Archive.close`, and when opening fails
 * @throws PackageError as `readDirectory`
 */
export async function openArchive(
  source: ByteSource,
  limits: Partial<PackageLimits> | undefined,
  close: () => Promise<void>,
): Promise<Archive> {
  const resolved = resolveLimits(limits);
  try {
    const entries = await readDirectory(source, resolved);
    return archiveOver(source, archiveFiles(entries), resolved, close);
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Manifest and meta end up inside the `schema` of a later `meta.json` (`schema.package.meta`): read with this much
 * room left, they can be exported and read again.
 */
const PROVENANCE_DEPTH = 8;

function archiveOver(
  source: ByteSource,
  files: ArchiveFiles,
  limits: PackageLimits,
  close: () => Promise<void>,
): Archive {
  const budget = new ByteBudget(source.byteLength, limits);
  const cache = new FileCache(FILE_CACHE_BYTES);

  function read(
    path: string,
    { maxBytes, uncounted = false, signal }: ReadOptions = {},
  ): AsyncGenerator<Uint8Array> {
    const entry = files.get(path);
    if (!entry) throw missingFile(path);
    const ceiling = entryCeiling(entry, limits, maxBytes);
    return readEntry(source, entry, { ceiling, budget: uncounted ? null : budget, signal });
  }

  return {
    files,
    limits,
    read,
    async readWhole(path, open = (options) => read(path, options)) {
      const known = cache.get(path);
      if (known !== undefined) {
        budget.spend(known.byteLength, path);
        return known;
      }
      const entry = files.get(path);
      if (!entry) throw missingFile(path);
      const maxBytes = limits.maxAssetBytes;
      // A buffer of its own size: pieces of an inflater's larger ones would keep those.
      const content = new Uint8Array(entryCeiling(entry, limits, maxBytes).bytes);
      let at = 0;
      for await (const chunk of open({ maxBytes })) {
        content.set(chunk, at);
        at += chunk.byteLength;
      }
      cache.set(path, content);
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

/** The error of a path that the archive does not have. */
export function missingFile(path: string, location?: SourceLocation): PackageError {
  return new PackageError('package_missing_file', `The archive has no file ${quote(path)}`, {
    entry: path,
    ...(location && { location }),
  });
}

/** All of a stream's bytes in one piece. */
export async function collectBytes(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return concatBytes(chunks);
}
