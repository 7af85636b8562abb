export { type ContextFields, currentContext, runWithContext } from './context.ts';
export { createLogger, type FieldsArgument, type Logger, type LoggerOptions } from './create-logger.ts';
export { createMetrics, reset_metrics_for_testing } from './create-metrics.ts';
export {
  type EventType,
  type EventTypes,
  event,
  type Fields,
  type FieldsOf,
  type LogLevel,
} from './event.ts';
export {
  type ExpressErrorMiddleware,
  type ExpressMiddleware,
  expressErrors,
  expressRequests,
} from './http/express-requests.ts';
export { type ObservedRequest, observeRequest, type RequestObservers } from './http/observe-request.ts';
export type { RequestErrorFields, RequestFields } from './http/request-event.ts';
export type { Metrics, MetricsOptions, RequestMeasurement } from './metrics.ts';
export { collectProcessMetrics } from './process-metrics.ts';
export { createRedactor, type Redactor } from './redact.ts';
export { acceptRequestId, newRequestId, RequestIdError } from './request-id.ts';
export { UNMATCHED_PATH } from './request-metrics.ts';
export { parseTraceparent, type TraceContext } from './trace-context.ts';
