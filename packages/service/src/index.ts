export * from './config/load-config.ts';
export type { ProviderKeys } from './config/provider-keys.ts';
export { parseS3Location } from './config/s3-location.ts';
export * from './http/access/authenticate.ts';
export { clearSessionCookie, type Keys, openKeys, setSessionCookie } from './http/access/keys.ts';
export { createApp, PROBES } from './http/create-app.ts';
export * from './http/health-routes.ts';
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
export * from './http/request/request-error.ts';
export * from './http/response/response.ts';
export { isUnchanged } from './http/response/send-response.ts';
export * from './http/route.ts';
export { checkAddress, type HttpServer, startHttpServer } from './http/server/http-server.ts';
export * from './lifecycle/run-process.ts';
export { createTokenCipher, readSecretFiles, Secret, type TokenCipher } from './secrets/secret.ts';
export { createLogger, type Logger } from './telemetry/create-logger.ts';
export { createMetrics, type Metrics } from './telemetry/create-metrics.ts';
export { EVENTS, type EventFields, LABELS } from './telemetry/events.ts';
