export { createLogger, type Logger, type LoggerOptions, type ServiceName } from './create-logger.ts';
export { createMetrics, type Metrics, type MetricsOptions } from './create-metrics.ts';
export { EVENTS, type EventFields, type EventName, type JobKind } from './events.ts';
export type {
  ChangeMode,
  HubOutcome,
  ImportOutcomeLabel,
  ImportSource,
  RunEndStatus,
} from './metric-labels.ts';
