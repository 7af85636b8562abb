export {
  type Config,
  checkHubCache,
  hubSettings,
  importLimits,
  isSecretVariable,
  loadConfig,
  packageLimits,
  requiredDatabaseUrl,
  storeSettings,
} from './config/load-config.ts';
export type { ProviderKeys } from './config/provider-keys.ts';
export { parseS3Location } from './config/s3-location.ts';
export {
  type Access,
  type Caller,
  forbidden,
  notVisible,
  unauthenticated,
} from './http/access/authenticate.ts';
export { clearSessionCookie, type Keys, openKeys, setSessionCookie } from './http/access/keys.ts';
export { createApp, PROBES } from './http/create-app.ts';
export {
  ACCEPTING,
  DRAINING,
  type HealthDeps,
  healthRoutes,
} from './http/health-routes.ts';
export { watchUploadRate } from './http/minimum-rate.ts';
export {
  classifyHttpError,
  type ErrorView,
  escapeHtml,
  isOutage,
  type ProblemBody,
  problem,
} from './http/problem.ts';
export { bodyChunks, checkMediaType } from './http/request/read-body.ts';
export {
  type FieldError,
  HTTP_PROBLEM_ROWS,
  invalidMember,
  invalidRequest,
  type ProblemRow,
  RequestError,
  type RequestErrorCode,
  retryLater,
} from './http/request/request-error.ts';
export {
  empty,
  type JsonBody,
  JsonText,
  json,
  type RouteResponse,
  stream,
  text,
  toJsonText,
  toJsonTexts,
} from './http/response/response.ts';
export { isUnchanged } from './http/response/send-response.ts';
export { jsonBody, ok, orNull, type Route, type RouteRequest, type Schema, shape } from './http/route.ts';
export { checkAddress, type HttpServer, startHttpServer } from './http/server/http-server.ts';
export {
  configureHeap,
  isProcessAlive,
  runProcess,
  secretsOf,
} from './lifecycle/run-process.ts';
export { createTokenCipher, readSecretFiles, Secret, type TokenCipher } from './secrets/secret.ts';
export { createLogger, type Logger } from './telemetry/create-logger.ts';
export { createMetrics, type Metrics } from './telemetry/create-metrics.ts';
export { EVENTS, type EventFields } from './telemetry/events.ts';
export { LABELS } from './telemetry/metric-labels.ts';
