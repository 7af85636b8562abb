export { createLogger, type Logger } from './create-logger.ts';
export { createMetrics, type Metrics } from './create-metrics.ts';
export { EVENTS, type EventFields } from './events.ts';
export { type ChangeMode, type HubOutcome, PROVIDER_OUTCOMES } from './metric-labels.ts';
