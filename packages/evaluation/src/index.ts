export type { CheckOutcome, Judge } from './checkers/checker.ts';
export { isForbiddenAddress } from './config/is-forbidden-address.ts';
export { parseRunConfig, parseStoredRunConfig } from './config/parse-run-config.ts';
export {
  type ModelConfig,
  type ProviderConfig,
  type RunConfig,
  runConfigToJson,
} from './config/run-config.ts';
export { RUN_CONFIG_SCHEMA, type RunConfigSchema } from './config/run-config-schema.ts';
export { buildMessages } from './item/build-messages.ts';
export { plainText } from './item/labelled-choices.ts';
export { isIndex, pointerSteps } from './item/large-item.ts';
export { fieldMissing, lastMessageText } from './item/output-source.ts';
export {
  type ChatMessage,
  type Completion,
  JsonText,
  type Provider,
  type ProviderRequest,
  type RunClock,
  type RunEnd,
  type RunFailure,
  type RunItem,
  type RunResult,
  type RunResultStatus,
  type RunSession,
} from './ports.ts';
export { type RunConfigProblem, RunError, type RunErrorCode, runCancelled } from './run-error.ts';
export { runItem, toFailure } from './run-item.ts';
export { type CheckRunner, createCheckRunner } from './threads/check-runner.ts';
