export type { CheckOutcome } from './checkers/checker.ts';
export { isForbiddenAddress } from './config/is-forbidden-address.ts';
export { parseRunConfig, parseStoredRunConfig } from './config/parse-run-config.ts';
export {
  type ModelConfig,
  type ProviderConfig,
  type RunConfig,
  runConfigToJson,
} from './config/run-config.ts';
export { RUN_CONFIG_SCHEMA, type RunConfigSchema } from './config/run-config-schema.ts';
export { fieldMissing, lastMessageText } from './item/last-message.ts';
export { isIndex, pointerSteps } from './item/text-at.ts';
export { JsonText } from './json-text.ts';
export type { ChatMessage, Completion, Provider, ProviderRequest } from './provider.ts';
export { readProviderResponse } from './read-provider-response.ts';
export { type RunConfigProblem, RunError, type RunErrorCode, runCancelled } from './run-error.ts';
export { type RunClock, runItem, toFailure } from './run-item.ts';
export type { RunEnd, RunFailure, RunItem, RunResult, RunResultStatus, RunSession } from './run-session.ts';
export { type CheckRunner, createCheckRunner } from './threads/check-runner.ts';
