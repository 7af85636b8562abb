const MiB = 1024 * 1024;
const GiB = 1024 * MiB;

/** The limits of a reader. Bytes are counted while they are inflated, never taken from a header. */
export interface PackageLimits {
  /** Entries in the directory, with folders and ignored entries. */
  readonly maxEntries: number;
  /** Uncompressed bytes that one reader returns in all; a file counts once for each reference to it. */
  readonly maxTotalBytes: number;
  /**
   * Uncompressed to compressed size: of one entry past its first 1 MiB, and of the archive as a whole past its first
   * 64 MiB. The archive counts the bytes that are inflated, each entry once.
   */
  readonly maxExpansionRatio: number;
  /**
   * Bytes of one line of a section, of an item with its files embedded, and of each of `manifest.json` and `meta.json`.
   */
  readonly maxLineBytes: number;
  /** Bytes of one asset or checker file. */
  readonly maxAssetBytes: number;
  /** Levels of nested arrays and objects in one JSON value. */
  readonly maxDepth: number;
}

/** The limits that apply unless you set others. */
export const DEFAULT_LIMITS: PackageLimits = {
  // To check a directory of this many entries takes some 100 MB of memory.
  maxEntries: 100_000,
  maxTotalBytes: 20 * GiB,
  // Real text expands 3 to 30 times, repeating rows up to 300 times, and deflate data at most 1,032 times.
  maxExpansionRatio: 500,
  maxLineBytes: 64 * MiB,
  maxAssetBytes: 64 * MiB,
  maxDepth: 256,
};

/** Bytes of an entry that may expand without a limit: they do no harm, and small repetitive files are common. */
export const RATIO_FREE_BYTES: number = MiB;

/** Bytes of the whole archive that may expand without a limit. */
export const ARCHIVE_RATIO_FREE_BYTES: number = 64 * MiB;

/** Far below the default limit of readers, so that they accept an archive however repetitive its content is. */
export const MAX_WRITTEN_EXPANSION: number = 200;

/** An entry up to this size cannot make an archive expand too much: it has headers and a line in the manifest. */
export const UNPADDED_BYTES: number = 96 * 1024;

/** Bytes of files that are cached for the next item that refers to them. */
export const FILE_CACHE_BYTES: number = 32 * MiB;

/** Bytes of the directory. The names, extra fields and comments of 100,000 ordinary entries take a quarter of this. */
export const MAX_DIRECTORY_BYTES: number = 64 * MiB;
