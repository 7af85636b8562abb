import { randomUUID } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { readSecretFiles } from '../secrets/secret.ts';
import type { Logger } from '../telemetry/create-logger.ts';
import { hostNameOf, isLoopback } from './authority.ts';
import { isProviderKey, type ProviderKeys, parseProviderKeys } from './provider-keys.ts';
import { VARIABLES, type Variable } from './variables.ts';

type Values = { readonly [K in keyof typeof VARIABLES]: ReturnType<(typeof VARIABLES)[K]['parse']> };

export interface Config extends Values {
  readonly providerKeys: ProviderKeys;
}

/** Variables of the command line, which may be in the same environment. */
const FOR_OTHERS = /^SVC_(API_KEY|API_URL)$/;

const NAMES: ReadonlySet<string> = new Set(Object.values(VARIABLES).map(({ name }) => name));
const SECRETS: ReadonlySet<string> = new Set(
  Object.values<Variable<unknown>>(VARIABLES).flatMap(({ name, secret }) => (secret ? [name] : [])),
);

/** Whether a variable of the service holds a secret, and no variable has its name with `_FILE`. */
export const isSecretVariable = (name: string): boolean =>
  !NAMES.has(`${name}_FILE`) && (SECRETS.has(name) || (!NAMES.has(name) && isProviderKey(name)));

/**
 * Reads the configuration from environment variables. An empty variable counts as absent. An unknown name that begins
 * with `SVC_` is an error, so that a typing error is not silently ignored. `SVC_PROVIDER_<NAME>` and
 * `SVC_PROVIDER_<NAME>_ORIGINS` are the keys of model providers, see {@link parseProviderKeys}. A secret may be in a file,
 * see {@link readSecretFiles}.
 *
 * @throws ConfigError `invalid_config` with one sentence per invalid variable
 */
export function loadConfig(stated: Readonly<Record<string, string | undefined>>): Config {
  const { env, problems: unreadable } = readSecretFiles(stated, isSecretVariable);
  const problems: string[] = [...unreadable];
  const values: Record<string, unknown> = {};
  for (const [key, variable] of Object.entries(VARIABLES)) {
    const text = env[variable.name]?.trim();
    try {
      values[key] = variable.parse(text === '' ? undefined : text);
    } catch (error) {
      problems.push(`${variable.name} ${(error as Error).message}`);
    }
  }
  for (const name of Object.keys(env)) {
    if (!name.startsWith('SVC_') || FOR_OTHERS.test(name) || NAMES.has(name)) continue;
    if (name.startsWith('SVC_PROVIDER_')) continue;
    problems.push(`${name} is an unknown environment variable`);
  }
  const providers = parseProviderKeys(env, NAMES);
  problems.push(...providers.problems);
  const parsed = values as unknown as Values;
  if (
    problems.length === 0 &&
    !isLoopback(hostNameOf(parsed.host)) &&
    parsed.apiKeys.length === 0 &&
    parsed.apiKeysFile === null &&
    !parsed.allowAnonymous
  ) {
    problems.push(
      `SVC_HOST ${parsed.host} is reachable from other machines: set SVC_API_KEYS, or SVC_ALLOW_ANONYMOUS=true to give every client full access`,
    );
  }
  if (parsed.corsOrigins?.includes('*') && parsed.apiKeys?.length === 0 && parsed.apiKeysFile === null) {
    problems.push(
      'SVC_CORS_ORIGINS * would give every web page full access: name the origins, or set SVC_API_KEYS',
    );
  }
  if (parsed.databaseDirectUrl !== undefined && parsed.databaseUrl === undefined) {
    problems.push('DATABASE_DIRECT_URL needs DATABASE_URL: the embedded database has no pooler');
  }
  if (parsed.distributed !== 'none' && parsed.databaseUrl === undefined) {
    problems.push('SVC_DISTRIBUTED needs DATABASE_URL: the embedded database has no nodes');
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze({
    ...parsed,
    workerConcurrency: parsed.workerConcurrency === 0 ? availableParallelism() : parsed.workerConcurrency,
    providerKeys: providers.keys,
  });
}

/** The exit code of a process that cannot start because of its configuration (`EX_CONFIG` of sysexits.h). */
export const EXIT_CONFIG = 78;

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly code = 'invalid_config';
  /** One sentence per invalid variable, beginning with its name. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`Invalid configuration:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

export function storeSettings(config: Config, logger: Logger) {
  return {
    onDatabaseChange: ({ ok, reason = '', message }: { ok: boolean; reason?: string; message: string }) => {
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

export function importLimits({ maxUncompressedBytes, maxExpansionRatio, maxRows }: Config) {
  return {
    maxTotalBytes: maxUncompressedBytes,
    maxExpansionRatio,
    maxRows: maxRows === 0 ? Number.POSITIVE_INFINITY : maxRows,
  };
}

export function hubSettings(config: Config) {
  return {
    endpoint: config.hubEndpoint,
    token: config.hubToken?.reveal(),
    cacheDir: config.hubCacheDir,
    cacheMaxBytes: config.hubCacheBytes,
  };
}

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
