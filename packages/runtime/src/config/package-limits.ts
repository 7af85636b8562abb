import type { Limits } from './load-config.ts';

/** The configured limits as options of the package reader. */
export function packageLimits(limits: Limits): {
  readonly maxEntries: number;
  readonly maxTotalBytes: number;
  readonly maxExpansionRatio: number;
  readonly maxLineBytes: number;
  readonly maxAssetBytes: number;
  readonly maxDepth: number;
} {
  return {
    maxEntries: limits.maxArchiveEntries,
    maxTotalBytes: limits.maxUncompressedBytes,
    maxExpansionRatio: limits.maxExpansionRatio,
    maxLineBytes: limits.maxLineBytes,
    maxAssetBytes: limits.maxAssetBytes,
    maxDepth: limits.maxJsonDepth,
  };
}
