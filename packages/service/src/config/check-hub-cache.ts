import { randomUUID } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../telemetry/create-logger.ts';
import type { Config } from './load-config.ts';

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
