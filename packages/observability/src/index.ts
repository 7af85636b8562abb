export { currentContext, type LogContext, runWithContext } from './context.ts';
export {
  createLogger,
  type FieldsArgument,
  type Logger,
  type LoggerOptions,
  type ServiceName,
} from './create-logger.ts';
export {
  EVENTS,
  type EventDescription,
  type EventFields,
  type EventName,
  type JobKind,
  type LogLevel,
} from './events.ts';
export { createLogLineFormatter, type LogInput, type LogLineFormatter } from './log-line.ts';
export {
  createMetrics,
  type HubOutcome,
  type ImportOutcomeLabel,
  type ImportSource,
  METRICS_CONTENT_TYPE,
  type Metrics,
  type MetricsOptions,
  type QueueState,
  type ReadinessCheck,
  type RunEndStatus,
  type RunItemStatus,
  reset_metrics_for_testing,
  resetMetricsForTesting,
} from './metrics.ts';
export { createRedactor, type Redactor } from './redact.ts';
export { acceptRequestId, newRequestId } from './request-id.ts';
export { methodLabel, type RequestMeasurement, UNMATCHED_PATH } from './request-metrics.ts';
