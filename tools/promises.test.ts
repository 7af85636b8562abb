import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { VARIABLES } from '../packages/service/src/config/variables.ts';
import { LIMITS, PROMISES } from './promises.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Variables that limit nothing that a client sends or asks for. */
const NO_LIMITS: ReadonlySet<string> = new Set([
  'SVC_HOST',
  'SVC_PORT',
  'SVC_WORKER_HOST',
  'SVC_WORKER_PORT',
  'SVC_ALLOW_ANONYMOUS',
  'SVC_ALLOWED_HOSTS',
  'SVC_TRUST_PROXY',
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'SVC_DATABASE_POOL_SIZE',
  'SVC_DISTRIBUTED',
  'SVC_DATA_DIR',
  'SVC_API_KEYS',
  'SVC_API_KEYS_FILE',
  'SVC_METRICS_KEY',
  'SVC_JOB_KEY',
  'SVC_ASSET_STORE_URL',
  'HUB_ENDPOINT',
  'HUB_TOKEN',
  'SVC_HUB_CACHE_DIR',
  // A full cache forgets files; it refuses nothing.
  'SVC_HUB_CACHE_BYTES',
  // What is removed is made again.
  'SVC_HUB_FILES_DAYS',
  'SVC_HUB_FILES_BYTES',
  'SVC_PROVIDER_ALLOWED_HOSTS',
  'SVC_LOG_LEVEL',
  'SVC_AUDIT_DAYS',
  'SVC_LOG_FORMAT',
  // Nothing is refused in this time.
  'SVC_DRAIN_DELAY_MS',
  'SVC_TELEMETRY',
  'SVC_CONSOLE_NAME',
  'SVC_CORS_ORIGINS',
  'SVC_WORKER_CONCURRENCY',
  'SVC_RUN_CONCURRENCY',
]);

it('each variable that is a limit has a test that keeps it', () => {
  expect(Object.keys(LIMITS).sort(), 'tools/promises.ts needs a row for each limit').toEqual(
    Object.values(VARIABLES)
      .map(({ name }) => name)
      .filter((name) => !NO_LIMITS.has(name))
      .sort(),
  );
});

describe.each(Object.entries({ ...LIMITS, ...PROMISES }))('%s', (_, [file, title]) => {
  it('has a test of the fast suite that keeps it', () => {
    expect(file).not.toContain('.long.test.');
    const text = readFileSync(`${root}${file}`, 'utf8');
    const at = text.indexOf(title);
    expect(at, `${file} has no test "${title}"`).toBeGreaterThan(0);
    // the call that the title belongs to
    const call = /(?:^|\n)\s*it\b[^\n]*(?![\s\S]*\n\s*it\b)/.exec(text.slice(0, at))?.[0] ?? '';
    expect(call).not.toContain('runIf(IS_LONG');
  });
});
