import { randomUUID } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Logger } from '../telemetry/create-logger.ts';
import { type Config, ConfigError } from './load-config.ts';

/** What the store reports of its database. */
interface DatabaseChange {
  readonly ok: boolean;
  readonly reason?: string;
  readonly message: string;
}

/** The part of the configuration that the store of every process uses, without the URL of its database. */
export function storeSettings(config: Config, logger: Logger) {
  return {
    onDatabaseChange: ({ ok, reason = '', message }: DatabaseChange) => {
      if (ok) logger.log('database.ready');
      else logger.log('database.unready', { reason, message });
    },
    directUrl: config.databaseDirectUrl?.reveal(),
    assetStore: config.assetStore,
    poolSize: config.databasePoolSize,
    maxImports: config.maxConcurrentImports,
    // A search keeps a core busy: more of them on a machine with the database would only delay everything else.
    maxSearches: availableParallelism(),
    importWaitMs: config.importWaitMs,
    maxItemBytes: config.maxLineBytes,
    importLimits: importLimits(config),
    // On one core, threads would only take turns.
    encoderThreads: availableParallelism() > 1 ? config.workerConcurrency : 0,
  };
}

/** The configured limits of what one import makes. */
export function importLimits({ maxUncompressedBytes, maxExpansionRatio, maxRows }: Config) {
  return {
    maxTotalBytes: maxUncompressedBytes,
    maxExpansionRatio,
    maxRows: maxRows === 0 ? Number.POSITIVE_INFINITY : maxRows,
  };
}

/** The part of the configuration that the hub client of every process uses. */
export function hubSettings(config: Config) {
  return {
    endpoint: config.hubEndpoint,
    token: config.hubToken?.reveal(),
    cacheDir: config.hubCacheDir,
    cacheMaxBytes: config.hubCacheBytes,
  };
}

/** The configured limits as options of the package reader. */
export function packageLimits(config: Config) {
  return {
    maxEntries: config.maxArchiveEntries,
    maxTotalBytes: config.maxUncompressedBytes,
    maxExpansionRatio: config.maxExpansionRatio,
    maxLineBytes: config.maxLineBytes,
    maxAssetBytes: config.maxAssetBytes,
    maxDepth: config.maxJsonDepth,
  };
}

/**
 * The URL of the PostgreSQL that the processes of the service share.
 *
 * @throws ConfigError `invalid_config` when it is not configured
 */
export function requiredDatabaseUrl({ databaseUrl }: Pick<Config, 'databaseUrl'>): string {
  if (databaseUrl === undefined) {
    throw new ConfigError(['DATABASE_URL is missing: only `npm start` runs its own database']);
  }
  return databaseUrl.reveal();
}

/**
 * Logs `hub.cache.fail` if this process cannot write to the folder of `SVC_HUB_CACHE_DIR`: the hub client then caches
 * nothing and reports nothing. Call it as the account that serves requests.
 */
export async function checkHubCache({ hubCacheDir: folder }: Config, logger: Logger): Promise<void> {
  if (folder === undefined) return;
  // The cache removes files of such names if they stay behind.
  const probe = join(folder, `unfinished-${randomUUID()}`);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(probe, '', { flag: 'wx' });
    await rm(probe);
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    logger.log('hub.cache.fail', { folder, code, uid: process.getuid?.() ?? null });
  }
}
