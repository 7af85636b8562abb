import type { PackageLimits } from '@svc/pkg-format';
import type { Config } from '@svc/process';

/** The configured limits as the package reader takes them. */
export function packageLimits(config: Config): PackageLimits {
  return {
    maxEntries: config.maxArchiveEntries,
    maxTotalBytes: config.maxUncompressedBytes,
    maxExpansionRatio: config.maxExpansionRatio,
    maxLineBytes: config.maxLineBytes,
    maxAssetBytes: config.maxAssetBytes,
    maxDepth: config.maxJsonDepth,
  };
}
