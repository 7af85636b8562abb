import { hasPrompt, JsonlError, type SourceLocation } from '@svc/jsonl-v23';
import { compareUtf8, countLineFeeds, validUtf8Length } from '@svc/jsonl-v23/bytes';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@svc/jsonl-v23/json';
import { checkNumber, withDefaults } from '@svc/jsonl-v23/options';
import { untilAborted } from '@svc/jsonl-v23/streams';
import { crc32, inflateRaw, inflateSmall } from '#byte-tools';
import { entryError, missingFile, PackageError, quote, toPackageError } from '../errors.ts';
import { readLegacyItems } from '../legacy/legacy-items.ts';
import { createReferenceResolver, isOtherFile } from '../legacy/legacy-sources.ts';
import { datasetPrompts, upgradeItem } from '../legacy/upgrade-item.ts';
import {
  ARCHIVE_RATIO_FREE_BYTES,
  DEFAULT_LIMITS,
  FILE_CACHE_BYTES,
  type PackageLimits,
  RATIO_FREE_BYTES,
} from '../limits.ts';
import {
  type ByteSource,
  becameShorter,
  collectBytes,
  decodeUtf8,
  readRange,
  type ZipEntry,
} from '../zip/byte-source.ts';
import { readDirectory } from '../zip/read-directory.ts';
import {
  type Archive,
  type ArchiveFiles,
  archiveFiles,
  type ContentCheck,
  MANIFEST_FILE,
  type ReadOptions,
} from './layout.ts';

interface RecognisedArchive {
  readonly kind: ArchiveKind;
  readonly archive: Archive;
}

interface RecogniseOptions {
  readonly limits?: Partial<PackageLimits> | undefined;
  /** Whether the files of an archive are tables, also files that could be items of an older archive. */
  readonly areTables: boolean;
  readonly signal: AbortSignal;
}

/**
 * Opens a file as a ZIP archive, and finds out what it holds; null for a file that does not begin as one.
 *
 * @throws PackageError for an archive that cannot be read; errors of the source; the signal's reason
 */
export async function recogniseArchive(
  source: ByteSource,
  { limits, areTables, signal }: RecogniseOptions,
): Promise<RecognisedArchive | null> {
  const head = String.fromCharCode(...(await source.read(0, Math.min(4, source.byteLength))));
  if (head !== 'PK\u0003\u0004' && head !== 'PK\u0005\u0006') return null;
  const archive = await openArchive(source, limits, () => Promise.resolve());
  const kind = await archiveKind(archive, signal);
  const holdsTables = kind === 'legacy_package' && areTables && !archive.files.has(MANIFEST_FILE);
  return { kind: holdsTables ? 'files' : kind, archive };
}

/** What a ZIP archive is: `files` are any others, such as tables. */
export type ArchiveKind = 'package' | 'legacy_package' | 'office_document' | 'files';

/** Files whose first item is looked at, and the bytes of each that are read. */
const MAX_FILES = 20;
const MAX_BYTES = 1024 * 1024;

/** Reads only beginnings. In an older archive, the first item of a JSON file has a prompt when it is upgraded. */
async function archiveKind(archive: Archive, signal?: AbortSignal): Promise<ArchiveKind> {
  const paths = [...archive.files.keys()];
  if (paths.includes('[Content_Types].xml')) return 'office_document';
  if (paths.length === 0 || paths.some((path) => /^sections\/.*\.jsonl$/.test(path))) return 'package';
  const candidates = paths.filter((path) => /\.jsonl?$/i.test(path) && !isOtherFile(path)).sort(compareUtf8);
  for (const path of candidates.slice(0, MAX_FILES)) {
    if (await hasItems(archive, path, signal)) return 'legacy_package';
  }
  return paths.includes(MANIFEST_FILE) ? 'package' : 'files';
}

/** Whether the first item of a file becomes an item with a prompt. A line that is longer than the beginning may. */
async function hasItems(archive: Archive, path: string, signal: AbortSignal | undefined): Promise<boolean> {
  const kind = /\.json$/i.test(path) ? 'json' : 'jsonl';
  const resolveReference = createReferenceResolver(archive.files);
  const beginning = beginningOf(archive);
  try {
    for await (const { item, location } of readLegacyItems(beginning, path, kind, signal)) {
      if (item instanceof PackageError) return beginning.isCut && kind === 'jsonl';
      const upgraded = upgradeItem(item, {
        section: path,
        prompts: datasetPrompts([]),
        location,
        resolveFile: (reference) => resolveReference(reference, path),
      });
      return hasPrompt(upgraded.item);
    }
  } catch (error) {
    signal?.throwIfAborted();
    const found = toPackageError(error, path);
    if (!(found instanceof PackageError) || DAMAGED.has(found.code)) throw found;
  }
  return false;
}

/** The error for an archive that no reader accepts. */
const DAMAGED: ReadonlySet<string> = new Set(['package_corrupt', 'package_unsupported']);

/** An archive with no more than the beginning of a file. */
function beginningOf({
  limits,
  read,
}: Archive): Pick<Archive, 'limits' | 'read'> & { readonly isCut: boolean } {
  let left = MAX_BYTES;
  return {
    limits,
    get isCut() {
      return left < 0;
    },
    async *read(path, options) {
      for await (const chunk of read(path, { ...options, uncounted: true })) {
        yield chunk.subarray(0, left);
        left -= chunk.byteLength;
        if (left < 0) return;
      }
    },
  };
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

export function resolveLimits(limits: Partial<PackageLimits> = {}): PackageLimits {
  for (const [name, value] of Object.entries(limits)) {
    const isRatio = name === 'maxExpansionRatio';
    // Infinity is no limit, which only a ratio can be: all else is memory.
    if (isRatio && value === Number.POSITIVE_INFINITY) continue;
    checkNumber(`limits.${name}`, value, { min: 1, fractions: isRatio });
  }
  return withDefaults(DEFAULT_LIMITS, limits);
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

interface ReadEntryOptions {
  readonly ceiling: EntryCeiling;
  /** Counted down; null if the bytes are only checked, not handed out. */
  readonly budget: ByteBudget | null;
  readonly signal: AbortSignal | undefined;
  readonly isTransient?: boolean | undefined;
  readonly inflateZstd?: InflateZstd | undefined;
}

type InflateZstd = (packed: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;

/** Checks bytes as they pass: no more than ceiling and budget allow, and at the end the stated size and CRC-32. */
async function* readEntry(
  source: ByteSource,
  entry: ZipEntry,
  options: ReadEntryOptions,
): AsyncGenerator<Uint8Array> {
  const { signal, isTransient = false } = options;
  const { dataStart, compressedSize } = entry;
  const check = new EntryCheck(entry, options);
  if (compressedSize > 0 && isSmallEntry(entry)) {
    const packed = await untilAborted(() => source.read(dataStart, dataStart + compressedSize), signal);
    const bytes = unpackSmall(packed, entry, check);
    if (bytes !== null) {
      if (bytes.byteLength > 0) yield bytes;
      return;
    }
  }
  const packed = readRange(source, dataStart, dataStart + compressedSize, signal);
  for await (const chunk of inflated(packed, entry, isTransient, options.inflateZstd)) {
    signal?.throwIfAborted();
    if (chunk.byteLength === 0) continue;
    check.add(chunk);
    yield chunk;
  }
  signal?.throwIfAborted();
  check.end();
}

function inflated(
  packed: AsyncIterable<Uint8Array>,
  entry: ZipEntry,
  isTransient: boolean,
  inflateZstd: InflateZstd | undefined,
): AsyncIterable<Uint8Array> {
  if (entry.method === 'stored') return packed;
  if (entry.method === 'deflated') return inflateRaw(packed, entry, isTransient);
  if (inflateZstd === undefined)
    throw entryError('package_unsupported', entry.name, 'is compressed with zstd');
  return inflateZstd(packed);
}

/** Deflated entries up to this size, packed and unpacked, are inflated synchronously: a thread would cost more. */
const SMALL_PACKED_BYTES = 32 * 1024;
const SMALL_BYTES = 128 * 1024;

/** Stored entries up to this size are read in one piece. */
const PIECE_BYTES = 64 * 1024;

function isSmallEntry({ method, size, compressedSize }: ZipEntry): boolean {
  if (method === 'zstd') return false;
  if (method === 'stored') return compressedSize <= PIECE_BYTES;
  return compressedSize > 0 && compressedSize <= SMALL_PACKED_BYTES && size <= SMALL_BYTES;
}

/** The checked bytes of a small entry; null for deflated bytes that have to be inflated piece by piece. */
function unpackSmall(packed: Uint8Array, entry: ZipEntry, check: EntryCheck): Uint8Array | null {
  if (packed.byteLength < entry.compressedSize) throw becameShorter();
  const bytes = entry.method === 'stored' ? packed : inflateSmall(packed, entry.size);
  if (bytes === null) return null;
  if (bytes.byteLength > 0) check.add(bytes);
  check.end();
  return bytes;
}

class EntryCheck {
  readonly #entry: ZipEntry;
  readonly #options: Omit<ReadEntryOptions, 'signal'>;
  #byteLength = 0;
  #crc = 0;

  constructor(entry: ZipEntry, options: Omit<ReadEntryOptions, 'signal'>) {
    this.#entry = entry;
    this.#options = options;
  }

  add(chunk: Uint8Array): void {
    const { ceiling, budget } = this.#options;
    const { name } = this.#entry;
    const room = ceiling.bytes - this.#byteLength;
    const left = budget?.remainingBytes(name, this.#byteLength) ?? Number.POSITIVE_INFINITY;
    // The lower of the two is the error, however the bytes are cut into chunks.
    if (chunk.byteLength > room && room <= left) throw ceiling.error();
    budget?.spend(name, this.#byteLength, chunk.byteLength);
    this.#byteLength += chunk.byteLength;
    this.#crc = crc32(chunk, this.#crc);
  }

  end(): void {
    const { name, size, crc32 } = this.#entry;
    if (this.#byteLength < size) {
      const problem = `contains ${this.#byteLength} bytes; its header states ${size}`;
      throw entryError('package_corrupt', name, problem);
    }
    if (this.#crc !== crc32)
      throw entryError('package_corrupt', name, 'does not have the CRC-32 that its header states');
  }
}

/** The bytes that an entry may give. */
interface EntryCeiling {
  /** The next byte is an error. */
  readonly bytes: number;
  error(): PackageError;
}

/**
 * The lowest bound on what an entry may give: its declared size, the expansion ratio, or the caller's own bound (an
 * asset, a JSON document). It does not depend on how the bytes are cut into chunks, so every way of reading fails alike.
 */
export function entryCeiling(
  entry: ZipEntry,
  limits: PackageLimits,
  maxBytes: number = Number.POSITIVE_INFINITY,
): EntryCeiling {
  const ratioBytes = Math.max(RATIO_FREE_BYTES, Math.floor(entry.compressedSize * limits.maxExpansionRatio));
  const bytes = Math.min(entry.size, ratioBytes, maxBytes);
  return {
    bytes,
    error: () => {
      if (bytes === entry.size) {
        const problem = `contains more than the ${entry.size} bytes that its header states`;
        return entryError('package_corrupt', entry.name, problem);
      }
      return bytes === maxBytes
        ? entryError('package_limit', entry.name, `has more than ${maxBytes} bytes`)
        : entryError('package_limit', entry.name, `expands more than ${limits.maxExpansionRatio} times`);
    },
  };
}

/** The total counts what is given out, a file once for each reference; the ratio what is inflated, each entry once. */
export class ByteBudget {
  readonly #limits: PackageLimits;
  readonly #ratioBytes: number;
  #givenBytes = 0;
  #inflatedBytes = 0;
  /** How far each entry was inflated, by its name. */
  readonly #inflated = new Map<string, number>();
  #error: PackageError | undefined;

  /** @param archiveBytes the compressed size of the archive */
  constructor(archiveBytes: number, limits: PackageLimits) {
    this.#limits = limits;
    this.#ratioBytes = Math.max(
      ARCHIVE_RATIO_FREE_BYTES,
      Math.floor(archiveBytes * limits.maxExpansionRatio),
    );
  }

  /** Bytes of an entry that may still be spent, from a position in it. */
  remainingBytes(entry: string, position: number): number {
    return Math.min(this.#limits.maxTotalBytes - this.#givenBytes, this.#inflatableBytes(entry, position));
  }

  /** Spends bytes of an entry, from a position in it. */
  spend(entry: string, position: number, byteLength: number): void {
    const { maxTotalBytes, maxExpansionRatio } = this.#limits;
    if (this.#givenBytes + byteLength > maxTotalBytes) {
      const problem = `exceeds the limit of ${maxTotalBytes} uncompressed bytes for the archive, in which a file counts once for each reference`;
      this.#error ??= entryError('package_limit', entry, problem);
      throw this.#error;
    }
    if (byteLength > this.#inflatableBytes(entry, position)) {
      const problem = `makes the archive as a whole expand more than ${maxExpansionRatio} times`;
      this.#error ??= entryError('package_limit', entry, problem);
      throw this.#error;
    }
    this.#givenBytes += byteLength;
    const end = position + byteLength;
    const known = this.#inflated.get(entry) ?? 0;
    if (end <= known) return;
    this.#inflated.set(entry, end);
    this.#inflatedBytes += end - known;
  }

  /** What the ratio allows of an entry from a position in it, with the bytes that were inflated before. */
  #inflatableBytes(entry: string, position: number): number {
    const known = Math.max(0, (this.#inflated.get(entry) ?? 0) - position);
    return known + this.#ratioBytes - this.#inflatedBytes;
  }
}
