export { checkHubCache } from './config/check-hub-cache.ts';
export {
  hubSettings,
  importLimits,
  packageLimits,
  requiredDatabaseUrl,
  storeSettings,
} from './config/config-parts.ts';
export { type Config, isSecretVariable, loadConfig } from './config/load-config.ts';
export type { ProviderKeys } from './config/provider-keys.ts';
export { parseS3Location } from './config/s3-location.ts';
export type { Access } from './http/access/access.ts';
export { type Caller, forbidden, notVisible, unauthenticated } from './http/access/authenticate.ts';
export { type Keys, openKeys } from './http/access/keys.ts';
export { clearSessionCookie, setSessionCookie } from './http/access/sessions.ts';
export { createApp, PROBES } from './http/create-app.ts';
export {
  ACCEPTING,
  DRAINING,
  type HealthDeps,
  healthRoutes,
  type ReadinessCheck,
} from './http/health-routes.ts';
export { watchUploadRate } from './http/minimum-rate.ts';
export {
  classifyHttpError,
  type ErrorView,
  HTTP_PROBLEM_ROWS,
  isOutage,
  type ProblemBody,
  type ProblemRow,
  problem,
} from './http/problem.ts';
export { bodyChunks } from './http/request/body-chunks.ts';
export { checkMediaType } from './http/request/request-body.ts';
export {
  type FieldError,
  invalidMember,
  invalidRequest,
  RequestError,
  type RequestErrorCode,
  retryLater,
} from './http/request/request-error.ts';
export { isUnchanged } from './http/response/is-unchanged.ts';
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
export { jsonBody, orNull, type Route, type RouteRequest, type Schema, shape } from './http/route.ts';
export { checkAddress, type HttpServer, startHttpServer } from './http/server/http-server.ts';
export { configureHeap } from './lifecycle/configure-heap.ts';
export { isProcessAlive } from './lifecycle/is-process-alive.ts';
export { type ConfiguredSecrets, runProcess, secretsOf } from './lifecycle/run-process.ts';
export { Secret } from './secrets/secret.ts';
export { readSecretFiles } from './secrets/secret-files.ts';
export { createTokenCipher, type TokenCipher } from './secrets/token-cipher.ts';
export { createLogger, type Logger } from './telemetry/create-logger.ts';
export { createMetrics, type Metrics } from './telemetry/create-metrics.ts';
export { EVENTS, type EventFields } from './telemetry/events.ts';
export { type ChangeMode, type HubOutcome, PROVIDER_OUTCOMES } from './telemetry/metric-labels.ts';
