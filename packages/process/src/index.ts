export { ConfigError, EXIT_CONFIG } from './config-error.ts';
export { type ApiKey, type Config, type Limits, loadConfig } from './load-config.ts';
export { openHub } from './open-hub.ts';
export { packageLimits } from './package-limits.ts';
export { type ProviderEnvironment, providerEnvironment, providerSecrets } from './provider-environment.ts';
export { type ProcessLike, type Running, runProcess, type StartService, secretsOf } from './run-process.ts';
export { Secret } from './secret.ts';
export { createKeyVault, createMemoryVault, type TokenVault } from './token-vault.ts';
export { VARIABLES, type Variable } from './variables.ts';
