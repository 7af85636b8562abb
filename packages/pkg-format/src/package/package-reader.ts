/// <reference lib="esnext.disposable" preserve="true" />
import {
  HASH_SPEC,
  JsonlError,
  type JsonlErrorCode,
  type LocatedItem,
  rehydrateItem,
  type SourceLocation,
} from '@svc/jsonl-v23';
import { createSha256, toHex } from '@svc/jsonl-v23/bytes';
import { getMember, type JsonObject } from '@svc/jsonl-v23/json';
import { parseLines, splitLines } from '@svc/jsonl-v23/lines';
import { missingFile, missingFileProblem, PackageError, quote, toPackageError } from '../errors.ts';
import type { PackageLimits } from '../limits.ts';
import { type ArchiveInput, openSource } from '../zip/byte-source.ts';
import { normalForm } from '../zip/read-directory.ts';
import {
  type Archive,
  ASSETS_FOLDER,
  CHECKERS_FOLDER,
  type ContentCheck,
  checkDatasetName,
  isPackageManifest,
  isPathInside,
  MANIFEST_FILE,
  META_FILE,
  manifestSections,
  packageLayout,
  RESULTS_FILE,
  type ReadOptions,
  type StatedFile,
  sectionNames,
  statedFiles,
} from './layout.ts';
import { openArchive } from './open-archive.ts';
import { type PackageRun, readPackageRun, type SignalOptions } from './package-run.ts';

/** One section of a package. */
export interface PackageSection {
  /** The name in the manifest, or else the file name without `.jsonl`. */
  readonly name: string;
  /** The path in the archive, `sections/<file name>.jsonl`. */
  readonly file: string;
  /** From 0, in the order of the file names' UTF-8 bytes. */
  readonly orderIndex: number;
  /**
   * The file's bytes. Reading to the end checks its size, its CRC-32 and the checksum that the manifest states.
   *
   * @param options `isTransient` if you copy what you keep of a chunk before you ask for the next one: its memory is freed
   *   then, and not by the garbage collector
   */
  bytes(options?: SignalOptions & { readonly isTransient?: boolean }): AsyncIterable<Uint8Array>;
}

/** Counts and hashes of the items that were read, for `PackageReader.verify`. */
export interface FoundVersion {
  readonly sections: readonly { name: string; sectionHash: Uint8Array; itemCount: number }[];
  /** Lower-case hex. */
  readonly versionHash: string;
}

export interface EntryOptions extends SignalOptions {
  readonly maxBytes?: number;
}

/** An open package. Dispose it (`await using`), or call `close()`, to close the file. */
export interface PackageReader extends AsyncDisposable {
  /** As parsed, with every digit; null if absent. */
  readonly manifest: JsonObject | null;
  readonly meta: JsonObject | null;
  readonly sections: readonly PackageSection[];
  /** Names of the files that items may refer to, in `assets/` and `checkers/`. */
  readonly itemFiles: readonly string[];
  /** Names of files that do not belong to the format. */
  readonly ignoredEntries: readonly string[];
  readonly limits: PackageLimits;
  /** Why an item must not refer to this path, without a full stop; null if {@link readFile} finds the file. */
  referenceProblem(path: string): string | null;
  /**
   * Reads a file in `assets/` or `checkers/`. The bytes are cached for the next item that refers to the file: do not
   * change them.
   *
   * @param location the item that refers to the file, for errors
   * @throws PackageError `package_missing_file`, also for a path outside those folders, `package_limit`,
   *   `package_corrupt`, `package_hash_mismatch`
   */
  readFile(path: string, location: SourceLocation): Promise<Uint8Array>;
  /**
   * Reads any file by its path: `results.jsonl`, `run_config.json`.
   *
   * @throws PackageError `package_missing_file`; while reading, `package_corrupt`, `package_limit`,
   *   `package_hash_mismatch`
   */
  readEntry(path: string, options?: EntryOptions): AsyncIterable<Uint8Array>;
  /**
   * Reads the run that the package holds: `results.jsonl`, and if they exist `run_config.json` and `run` of the manifest.
   * Null without `results.jsonl`.
   *
   * @throws PackageError `package_invalid_json` for the configuration, or for `run` of a manifest of this format
   */
  readRun(options?: SignalOptions): Promise<PackageRun | null>;
  /**
   * Compares what was read with the manifest: the version hash if its `hash_spec` is the one of this version, and every
   * file checksum that reading has not checked.
   *
   * @param found counts and hashes of all items
   * @throws PackageError for the first of {@link mismatches}
   */
  verify(found: FoundVersion, options?: SignalOptions): Promise<void>;
  /**
   * All differences that `verify` looks for, one error each: `package_hash_mismatch` for a count, hash or checksum that
   * differs from the manifest, `package_missing_file` for a file that the archive lacks, `package_corrupt` for a damaged
   * file.
   */
  mismatches(found: FoundVersion, options?: SignalOptions): AsyncIterable<PackageError>;
  /**
   * The error to report for an error of a line of `file`. A damaged file usually fails with an invalid line first, so
   * this reads the whole file and reports damage if there is any.
   */
  explain(error: unknown, file: string, options?: SignalOptions): Promise<unknown>;
  /** Closes the file, as disposing does. */
  close(): Promise<void>;
}

/**
 * Opens a checked archive as a package; both entry points use it. Closes the archive if that fails.
 *
 * @throws PackageError `package_no_sections`, `package_unsupported`, `package_invalid_json`, `package_missing_file`
 */
export async function readPackage(archive: Archive): Promise<PackageReader> {
  try {
    const { sectionFiles, ignoredEntries } = packageLayout(archive.files);
    const manifest = await archive.readJsonObject(MANIFEST_FILE);
    const meta = await archive.readJsonObject(META_FILE);
    return createReader(archive, sectionFiles, ignoredEntries, manifest, meta);
  } catch (error) {
    await archive.close();
    throw error;
  }
}

function createReader(
  archive: Archive,
  sectionFiles: readonly string[],
  ignoredEntries: readonly string[],
  manifest: JsonObject | null,
  meta: JsonObject | null,
): PackageReader {
  const name = isPackageManifest(manifest) ? getMember(manifest, 'name') : undefined;
  if (name !== undefined) checkDatasetName(name);
  const names = sectionNames(manifest, sectionFiles);
  const unchecked = new Map(statedFiles(manifest, archive.files).map((stated) => [stated.path, stated]));

  /** The first complete read of a file also checks its checksum in the manifest. */
  async function* read(path: string, options: ReadOptions): AsyncGenerator<Uint8Array> {
    const check = manifestCheck(path);
    if (check === undefined) {
      yield* archive.read(path, options);
      return;
    }
    for await (const chunk of archive.read(path, options)) {
      check.add(chunk);
      yield chunk;
    }
    check.end();
  }

  /** Compares a file with the manifest; undefined if it states nothing, or the file was compared before. */
  function manifestCheck(path: string): ContentCheck | undefined {
    const stated = unchecked.get(path);
    if (stated === undefined) return undefined;
    const hash = createSha256();
    let byteLength = 0;
    return {
      add(chunk) {
        hash.update(chunk);
        byteLength += chunk.byteLength;
      },
      end() {
        // A file that differs is reported once, and can still be read.
        unchecked.delete(path);
        checkStatedFile(stated, byteLength, toHex(hash.digest()));
      },
    };
  }

  async function* mismatches(
    found: FoundVersion,
    { signal }: SignalOptions = {},
  ): AsyncGenerator<PackageError> {
    yield* versionMismatches(manifest, found);
    for (const stated of [...unchecked.values()]) {
      if (!archive.files.has(stated.path)) {
        yield missingFile(stated.path, { file: MANIFEST_FILE, path: `${stated.pointer}/path` });
        continue;
      }
      try {
        for await (const _ of read(stated.path, { signal }));
      } catch (error) {
        if (!(error instanceof PackageError)) throw error;
        yield error;
      }
    }
  }

  function referenceProblem(path: string): string | null {
    if (!isItemFile(path)) {
      return `The item refers to ${quote(path)}, which is not a file in ${ASSETS_FOLDER} or ${CHECKERS_FOLDER}`;
    }
    return archivePath(archive, path) === null ? missingFileProblem(path) : null;
  }

  const explain: PackageReader['explain'] = async (error, file, { signal } = {}) => {
    if (!(error instanceof JsonlError) || LIMIT_CODES.has(error.code)) return toPackageError(error, file);
    try {
      for await (const _ of archive.read(file, { uncounted: true, signal }));
    } catch (damage) {
      return damage;
    }
    return toPackageError(error, file);
  };

  return {
    manifest,
    meta,
    itemFiles: [...archive.files.keys()].filter(isItemFile),
    ignoredEntries,
    limits: archive.limits,
    sections: sectionFiles.map((file, orderIndex) => ({
      name: names[orderIndex] ?? '',
      file,
      orderIndex,
      bytes: (options = {}) => read(file, options),
    })),

    referenceProblem,

    async readFile(path, location) {
      const file = isItemFile(path) ? archivePath(archive, path) : null;
      if (file === null) {
        const message = `${referenceProblem(path)}.`;
        throw new PackageError('package_missing_file', message, { entry: path, location });
      }
      try {
        return await archive.readWhole(file, manifestCheck(file));
      } catch (error) {
        if (!(error instanceof PackageError)) throw error;
        throw new PackageError(error.code, error.message, { entry: file, location, cause: error });
      }
    },

    readEntry(path, options = {}) {
      if (!archive.files.has(path)) throw missingFile(path);
      return read(path, options);
    },

    async readRun(options) {
      const { limits, files } = archive;
      if (!files.has(RESULTS_FILE)) return null;
      return await readPackageRun(
        { manifest, meta, limits, has: (path) => files.has(path), read, explain },
        options,
      );
    },

    async verify(found, options) {
      for await (const first of mismatches(found, options)) throw first;
    },

    mismatches,

    explain,

    close: () => archive.close(),

    [Symbol.asyncDispose]: () => archive.close(),
  };
}

const isItemFile = (path: string): boolean =>
  isPathInside(path, ASSETS_FOLDER) || isPathInside(path, CHECKERS_FOLDER);

/** The path in the archive. Tools of some systems decompose accents in names; references usually do not. */
function archivePath(archive: Archive, path: string): string | null {
  return (
    [path, normalForm(path, 'NFC'), normalForm(path, 'NFD')].find((form) => archive.files.has(form)) ?? null
  );
}

function checkStatedFile(stated: StatedFile, byteLength: number, sha256: string): void {
  if (stated.bytes !== null && stated.bytes !== byteLength) {
    throw mismatch(
      `${quote(stated.path)} has ${byteLength} bytes; the manifest states ${stated.bytes}.`,
      `${stated.pointer}/bytes`,
      stated.path,
    );
  }
  if (stated.sha256 !== sha256) {
    throw mismatch(
      `${quote(stated.path)} has the SHA-256 ${sha256}; the manifest states ${stated.sha256}.`,
      `${stated.pointer}/sha256`,
      stated.path,
    );
  }
}

/** package-format section 2: the hashes are compared if the manifest names the hash rules of this version. */
function* versionMismatches(manifest: JsonObject | null, found: FoundVersion): Generator<PackageError> {
  if (manifest === null || getMember(manifest, 'hash_spec') !== HASH_SPEC) return;
  const byName = new Map(found.sections.map((section) => [section.name, section]));
  for (const { section, pointer } of manifestSections(manifest)) {
    const name = getMember(section, 'name');
    const actual = typeof name === 'string' ? byName.get(name) : undefined;
    if (!actual) continue;
    const itemCount = getMember(section, 'item_count');
    if (typeof itemCount === 'number' && itemCount !== actual.itemCount) {
      yield mismatch(
        `Section ${quote(actual.name)} has ${actual.itemCount} items; the manifest states ${itemCount}.`,
        `${pointer}/item_count`,
      );
    }
    const sectionHash = getMember(section, 'section_hash');
    const actualHash = toHex(actual.sectionHash);
    if (typeof sectionHash === 'string' && sectionHash.toLowerCase() !== actualHash) {
      yield mismatch(
        `Section ${quote(actual.name)} has the hash ${actualHash}; the manifest states ${quote(sectionHash)}.`,
        `${pointer}/section_hash`,
      );
    }
  }
  const stated = getMember(manifest, 'version_hash');
  if (stated === undefined) return;
  if (typeof stated !== 'string' || stated.toLowerCase() !== found.versionHash) {
    const displayed = typeof stated === 'string' ? quote(stated) : 'something else';
    yield mismatch(
      `The items have the version hash ${found.versionHash}; the manifest states ${displayed}.`,
      '/version_hash',
    );
  }
}

function mismatch(message: string, pointer: string, entry: string = MANIFEST_FILE): PackageError {
  return new PackageError('package_hash_mismatch', message, {
    entry,
    location: { file: MANIFEST_FILE, path: pointer },
  });
}

/** Beyond a limit, nothing more is read. */
const LIMIT_CODES: ReadonlySet<JsonlErrorCode> = new Set(['line_too_long', 'package_limit']);

/** Options of `openPackage` and `openPackageFile`. */
export interface OpenOptions {
  readonly limits?: Partial<PackageLimits>;
}

/**
 * Opens a package in memory, in a `File` or `Blob`, or behind any source of byte ranges; runs anywhere, browsers included.
 * Memory does not grow with the archive: its directory is held, and files are unpacked while they are read. A source stays
 * yours to close.
 *
 * The whole structure is checked first.
 *
 * @throws PackageError with any code except `package_invalid_line` and `package_hash_mismatch`, which reading a section
 *   throws; TypeError for another kind of input; TypeError, RangeError for an invalid limit; errors of the source
 * @example
 * await using pkg = await openPackage(bytes);
 * for (const section of pkg.sections) for await (const { item } of readPackageItems(pkg, section)) use(item);
 */
export async function openPackage(archive: ArchiveInput, options: OpenOptions = {}): Promise<PackageReader> {
  return readPackage(await openArchive(openSource(archive), options.limits, () => Promise.resolve()));
}

/**
 * Reads the items of a section in order, each with its location, and embeds the files that they refer to. One batch of
 * lines is in memory at a time.
 *
 * @throws PackageError `package_invalid_line` with file, line, column and JSON Pointer; `package_limit`, also for an item
 *   that is longer than a line with its files; `package_corrupt`; for files, as `PackageReader.readFile`
 */
export async function* readPackageItems(
  pkg: PackageReader,
  section: PackageSection,
  options: SignalOptions = {},
): AsyncGenerator<LocatedItem> {
  const { file } = section;
  const { maxLineBytes, maxDepth } = pkg.limits;
  try {
    const batches = splitLines(section.bytes(options), { file, maxLineBytes, ...options });
    for await (const batch of batches) {
      for (const located of parseLines(batch, { file, maxDepth })) {
        options.signal?.throwIfAborted();
        yield await withFiles(pkg, located);
      }
    }
  } catch (error) {
    throw await pkg.explain(error, file, options);
  }
}

async function withFiles(pkg: PackageReader, { item, location }: LocatedItem): Promise<LocatedItem> {
  const whole = await rehydrateItem(
    item,
    ({ path, pointer }) => pkg.readFile(path, { ...location, path: pointer }),
    { maxItemBytes: pkg.limits.maxLineBytes, location },
  );
  return { item: whole, location };
}
