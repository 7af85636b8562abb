export { currentContext, type LogContext, runWithContext } from './context.ts';
export {
  createLogger,
  type FieldsArgument,
  type Logger,
  type LoggerOptions,
  type ServiceName,
} from './create-logger.ts';
export { createMetrics, reset_metrics_for_testing, resetMetricsForTesting } from './create-metrics.ts';
export {
  EVENTS,
  type EventFields,
  type EventName,
  type JobKind,
  type LogLevel,
} from './events.ts';
export type { HubOutcome, ImportOutcomeLabel, ImportSource, RunEndStatus } from './metric-labels.ts';
export type { Metrics, MetricsOptions, RequestMeasurement } from './metrics.ts';
export { createRedactor, type Redactor } from './redact.ts';
export { acceptRequestId, newRequestId } from './request-id.ts';
export { UNMATCHED_PATH } from './request-metrics.ts';
