import type { Logger, Metrics } from '@svc/instrumentation';
import {
  type Config,
  classifyHttpError,
  createApp,
  type HealthDeps,
  type HttpServer,
  healthRoutes,
  openKeys,
  startHttpServer,
} from '@svc/runtime';

export interface HealthServerOptions extends HealthDeps {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly version: string;
}

/** Serves a worker's own `/healthz`, `/readyz` and `/metrics`. */
export async function startHealthServer(options: HealthServerOptions): Promise<HttpServer> {
  const { config, logger, metrics, version } = options;
  const { workerHost: host, workerPort: port, metricsKey, headersTimeoutMs } = config;
  const keys = openKeys(config, logger);
  const { signal: never } = new AbortController();
  const app = createApp({
    routes: healthRoutes(options),
    config: { ...config, host, corsOrigins: [], rateLimitPerMinute: 0 },
    logger,
    metrics,
    accessOf: (path) => (path === '/metrics' ? 'metrics' : 'public'),
    keys,
    isKeyed: !keys.isOpen || metricsKey !== undefined,
    classify: classifyHttpError,
    secrets: [],
    leaveSignal: never,
    stopSignal: never,
  });
  const variables = { host: 'SVC_WORKER_HOST', port: 'SVC_WORKER_PORT' };
  return await startHttpServer({ app, host, port, variables, headersTimeoutMs, version, logger, metrics });
}
