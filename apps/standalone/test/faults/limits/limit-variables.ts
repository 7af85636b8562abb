import { VARIABLES } from '../../../../../packages/service/src/config/variables.ts';

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
  'SVC_API_KEYS_FILE',
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
  'SVC_AUDIT_DAYS',
  // Nothing is refused in this time.
  'SVC_DRAIN_DELAY_MS',
  'SVC_TELEMETRY',
  'SVC_CONSOLE_NAME',
  'SVC_CORS_ORIGINS',
  'SVC_WORKER_CONCURRENCY',
  'SVC_RUN_CONCURRENCY',
]);

/** Names of the variables that limit something. */
export function limitVariables(): string[] {
  return Object.values(VARIABLES)
    .map(({ name }) => name)
    .filter((name) => !NO_LIMITS.has(name));
}
