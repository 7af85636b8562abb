const MiB = 1024 * 1024;
const GiB = 1024 * MiB;

/** What a reader lets an archive cost. Bytes are counted as they come out, never taken from a header. */
export interface PackageLimits {
  /** Entries in the directory, folders and ignored ones included. */
  maxEntries: number;
  /** Uncompressed bytes handed out over the life of one reader; a file read twice counts twice. */
  maxTotalBytes: number;
  /**
   * Uncompressed to compressed size: of one entry, once it has given its first 1 MiB, and of the archive as a whole, once
   * it has given its first 64 MiB. The archive gives every byte that `maxTotalBytes` counts.
   */
  maxExpansionRatio: number;
  /**
   * One line of a section, an item as it is with its files embedded, and each of `manifest.json` and `meta.json` as a
   * whole.
   */
  maxLineBytes: number;
  /** One asset or checker file. */
  maxAssetBytes: number;
  /** Nested arrays and objects of one JSON value. */
  maxDepth: number;
}

export const DEFAULT_LIMITS: PackageLimits = {
  // A directory of this many entries takes some 100 MB of memory to check.
  maxEntries: 100_000,
  maxTotalBytes: 20 * GiB,
  // Real text deflates 3 to 30 times, rows that repeat up to 300; deflate ends at 1,032.
  maxExpansionRatio: 500,
  maxLineBytes: 64 * MiB,
  maxAssetBytes: 64 * MiB,
  maxDepth: 256,
};

/** Below this an entry may expand as it likes: it cannot hurt, and small repetitive files are common. */
export const RATIO_FREE_BYTES: number = MiB;

/**
 * The same for the archive as a whole: a file that many items refer to comes out of it as often as it is referred to, and
 * small datasets share their images.
 */
export const ARCHIVE_RATIO_FREE_BYTES: number = 64 * MiB;

/** Contents of files that are kept for the next item that refers to them. */
export const FILE_CACHE_BYTES: number = 32 * MiB;

/** The directory alone: names, extra fields and comments of 100,000 ordinary entries take a quarter of this. */
export const MAX_DIRECTORY_BYTES: number = 64 * MiB;

/** Fills in the defaults. */
export function resolveLimits(limits: Partial<PackageLimits> = {}): PackageLimits {
  return { ...DEFAULT_LIMITS, ...limits };
}
