import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Hub, RowEncoder } from '@svc/flows';
import type { Logger, Metrics } from '@svc/observability';
import {
  type Config,
  createSemaphore,
  createServer,
  drainAcceptQueue,
  idleConnections,
  RequestError,
  type Semaphore,
  type TokenCipher,
} from '@svc/runtime';
import type { Store } from '@svc/store';
import { createApp } from './app.ts';
import { openSpool } from './http/spool-file.ts';
import { apiRoutes } from './routes/api-routes.ts';

export interface ApiDeps {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly store: Store;
  readonly hub: Hub;
  readonly encoder: RowEncoder;
  readonly version: string;
  /** secrets known to this process, which no export and no error may hold */
  readonly secrets: readonly string[];
  readonly pid: number;
  readonly isAlive: (pid: number) => boolean;
  /** keeps the hub tokens of asynchronous imports; null where there is no key to seal them with */
  readonly vault: TokenCipher | null;
}

export interface RunningApi {
  /** `http://host:port` */
  readonly url: string;
  /** Drains: see `Running` of @svc/runtime. */
  stop(signal: AbortSignal): Promise<void>;
}

/** How long running requests have to answer once they have been told to end. */
const CLOSE_TIMEOUT_MS = 2000;

/** How long a connection may be there at the start of a drain before the first byte of its request. */
const FIRST_BYTE_TIMEOUT_MS = 1000;

/** How often a drain looks for connections whose last answer is out. */
const SWEEP_INTERVAL_MS = 50;

function importSemaphore(what: string, permits: number, waitMs: number): Semaphore {
  return createSemaphore({
    permits,
    waitMs,
    refuse: () =>
      new RequestError('unavailable', `${permits} ${what} are under way and none ended within ${waitMs} ms`, {
        headers: { 'Retry-After': String(Math.ceil(waitMs / 1000)) },
      }),
  });
}

/** Starts the API on the configured address: spool, routes, app, server. Everything it needs is handed in. */
export async function startApi(deps: ApiDeps): Promise<RunningApi> {
  const { config, logger, metrics, store } = deps;
  const spool = await openSpool(
    join(config.dataDir, 'spool'),
    deps.pid,
    deps.isAlive,
    config.maxSpoolPercent,
  );
  const left = await spool.clean();
  if (left.files > 0) logger.log('spool.clean', left);

  const stopping = new AbortController();
  const draining = new AbortController();
  const checkReadiness = async () => ({ ...(await store.ready()), accepting: !draining.signal.aborted });
  const routes = apiRoutes({
    ...deps,
    spool,
    imports: importSemaphore('imports', config.maxConcurrentImports, config.importWaitMs),
    uploads: importSemaphore('uploads', config.maxConcurrentUploads, config.importWaitMs),
    checkReadiness,
    drainSignal: draining.signal,
    // Metrics are answered without the database too; the queue's gauge then shows what was last known.
    refreshMetrics: async () => {
      await Promise.all([
        checkReadiness().then(metrics.setReadiness),
        store.queueSizes().then(metrics.setQueueJobs, () => undefined),
      ]);
    },
  });
  const app = createApp({
    routes,
    config,
    logger,
    metrics,
    stopSignal: stopping.signal,
    isDraining: () => draining.signal.aborted,
    secrets: deps.secrets,
  });
  const server = createServer({ app, logger, metrics, headersTimeoutMs: config.headersTimeoutMs });
  const silent = idleConnections(server);
  server.listen(config.port, config.host);
  await once(server, 'listening');
  const { address, family, port } = server.address() as AddressInfo;
  const host = family === 'IPv6' ? `[${address}]` : address;
  logger.log('server.start', { host: address, port, version: deps.version });

  return {
    url: `http://${host}:${port}`,
    stop: async (signal) => {
      draining.abort();
      await drainAcceptQueue(server);
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      // Those that are still in use become idle with their answer, and would then be kept for a next request.
      const purgeExpired = setInterval(() => server.closeIdleConnections(), SWEEP_INTERVAL_MS);
      const idleTimer = setTimeout(silent.end, FIRST_BYTE_TIMEOUT_MS);
      const forced = new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        else signal.addEventListener('abort', () => resolve(), { once: true });
      });
      await Promise.race([closed, forced]);
      stopping.abort(
        new RequestError('unavailable', 'the service is stopping', { headers: { 'Retry-After': '5' } }),
      );
      const timer = setTimeout(() => server.closeAllConnections(), CLOSE_TIMEOUT_MS);
      await closed;
      clearTimeout(timer);
      clearTimeout(idleTimer);
      clearInterval(purgeExpired);
    },
  };
}
