export { type ContextFields, currentContext, runWithContext } from './context.ts';
export { createLogger, type FieldsArgument, type Logger, type LoggerOptions } from './create-logger.ts';
export {
  collectProcessMetrics,
  createMetrics,
  type Metrics,
  type MetricsOptions,
  type RequestMeasurement,
  reset_metrics_for_testing,
  UNMATCHED_PATH,
} from './create-metrics.ts';
export {
  type EventType,
  type EventTypes,
  event,
  type Fields,
  type FieldsOf,
  type LogLevel,
  type RequestErrorFields,
  type RequestFields,
} from './event.ts';
export {
  type ExpressErrorMiddleware,
  type ExpressMiddleware,
  expressErrors,
  expressRequests,
} from './http/express-requests.ts';
export {
  acceptRequestId,
  newRequestId,
  type ObservedRequest,
  observeRequest,
  parseTraceparent,
  RequestIdError,
  type RequestObservers,
  type TraceContext,
} from './http/observe-request.ts';
export { createRedactor, type Redactor } from './line-format.ts';
