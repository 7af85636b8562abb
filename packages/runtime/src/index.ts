export { ConfigError, EXIT_CONFIG } from './config/config-error.ts';
export { type ApiKey, type Config, type Limits, loadConfig } from './config/load-config.ts';
export { packageLimits } from './config/package-limits.ts';
export type { ProviderKey, ProviderKeys } from './config/provider-keys.ts';
export { requiredDatabaseUrl } from './config/required-database-url.ts';
export { Secret } from './config/secret.ts';
export { VARIABLES, type Variable } from './config/variables.ts';
export { type Authority, hostNameOf, parseAuthority, type Scheme } from './http/authority.ts';
export { type AllowedHost, createHostCheck, type HostCheck, type HostVerdict } from './http/check-host.ts';
export { addressOf, schemeOf } from './http/forwarded.ts';
export { type FailedAttempts, slowDownFailures } from './http/slow-down-failures.ts';
export { type Allowance, createTokenBuckets, networkOf } from './http/token-buckets.ts';
export { configureHeap } from './lifecycle/configure-heap.ts';
export { isProcessAlive } from './lifecycle/is-process-alive.ts';
export {
  type ProcessHandle,
  type Running,
  runProcess,
  type StartService,
  secretsOf,
} from './lifecycle/run-process.ts';
export { createKeyVault, createMemoryVault, type TokenCipher } from './token-cipher.ts';
