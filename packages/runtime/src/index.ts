export { ConfigError, EXIT_CONFIG } from './config/config-error.ts';
export { type ApiKey, type Config, type Limits, loadConfig } from './config/load-config.ts';
export { packageLimits } from './config/package-limits.ts';
export type { ProviderKey, ProviderKeys } from './config/provider-keys.ts';
export { requiredDatabaseUrl } from './config/required-database-url.ts';
export { Secret } from './config/secret.ts';
export { VARIABLES, type Variable } from './config/variables.ts';
export { admitHost } from './http/access/admit-host.ts';
export { ANONYMOUS, createAuthenticator, denied } from './http/access/authenticate.ts';
export { type Authority, hostNameOf, parseAuthority, type Scheme } from './http/access/authority.ts';
export {
  type AllowedHost,
  createHostCheck,
  type HostCheck,
  type HostVerdict,
} from './http/access/check-host.ts';
export { clientOf } from './http/access/client-of.ts';
export { addressOf, schemeOf } from './http/access/forwarded.ts';
export { limitRate } from './http/access/limit-rate.ts';
export { type FailedAttempts, slowDownFailures } from './http/access/slow-down-failures.ts';
export { createStreamPermits, type StreamPermits } from './http/access/stream-permits.ts';
export { type Allowance, createTokenBuckets, networkOf } from './http/access/token-buckets.ts';
export { awaitsBody } from './http/request/awaits-body.ts';
export { withIdleTimeout } from './http/request/idle-body.ts';
export type { Middleware } from './http/request/middleware.ts';
export { withMinimumRate } from './http/request/minimum-rate.ts';
export { readJsonBody } from './http/request/read-json-body.ts';
export { type FieldError, RequestError, type RequestErrorCode } from './http/request/request-error.ts';
export type { Access, Route, RouteRequest, Schema } from './http/request/route.ts';
export { ClientDisconnectedError, requestState, trackRequest } from './http/request/track-request.ts';
export { createRouteCompiler, type RouteValidator } from './http/request/validate.ts';
export { discardBody, endResponse } from './http/response/end-response.ts';
export { type JsonBody, JsonText, toJsonText } from './http/response/json-text.ts';
export { type Answer, type BufferedResponse, empty, json, stream, text } from './http/response/response.ts';
export { securityHeaders } from './http/response/security-headers.ts';
export { endWithText, sendResponse } from './http/response/send-response.ts';
export { answerProbe } from './http/server/answer-probe.ts';
export { createServer } from './http/server/create-server.ts';
export { drainAcceptQueue } from './http/server/drain-accept-queue.ts';
export { idleConnections } from './http/server/idle-connections.ts';
export { configureHeap } from './lifecycle/configure-heap.ts';
export { isProcessAlive } from './lifecycle/is-process-alive.ts';
export {
  type ProcessHandle,
  type Running,
  runProcess,
  type StartService,
  secretsOf,
} from './lifecycle/run-process.ts';
export { createSemaphore, type Semaphore } from './semaphore.ts';
export { createKeyVault, createMemoryVault, type TokenCipher } from './token-cipher.ts';
