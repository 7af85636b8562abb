import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  ACCEPTING,
  type Access,
  createApp,
  DRAINING,
  isProcessAlive,
  openKeys,
  PROBES,
  packageLimits,
  retryLater,
  secretsOf,
  startHttpServer,
} from '@svc/service';
import { Semaphore } from '@svc/service/concurrency';
import { createCheckRunner } from '@svc/service/evaluation';
import { createThreadReader, createToolConverter } from '@svc/service/flows';
import { actAs, WorkerBoard } from '@svc/service/store';
import { classify } from './http/problem.ts';
import { openStagingFolder } from './http/staging-folder.ts';
import { apiRoutes } from './routes/api-routes.ts';
import { openConsole } from './routes/console.ts';
import type { RouteDeps } from './routes/deps.ts';
import { createHubFiles } from './routes/hub-serving/files/hub-files.ts';
import { withHubHeaders } from './routes/hub-serving/repository.ts';
import { createItemEncoder } from './routes/hub-serving/thread/item-encoder.ts';

export interface ApiDeps
  extends Pick<RouteDeps, 'config' | 'logger' | 'metrics' | 'store' | 'hub' | 'version' | 'tokenCipher'> {
  readonly consoleFolder: string;
}

export type RunningApi = Awaited<ReturnType<typeof startApi>>;

/** Requests that send results, each with a batch in memory; and the ones among them with a long line. */
const MAX_PUSHES = 24;
const MAX_LONG_LINES = 2;

export async function startApi(deps: ApiDeps) {
  const { config, logger, metrics, store } = deps;
  const staging = await openStagingFolder(
    join(config.dataDir, 'spool'),
    process.pid,
    (pid) => isProcessAlive(process.kill, pid),
    config.maxStagingPercent,
  );
  const left = await staging.clean();
  if (left.files > 0) logger.log('spool.clean', left);

  await using starting = new AsyncDisposableStack();
  // A thread, which starts with the first pattern.
  const checks = starting.use(createCheckRunner({ threads: 1 }));
  const reader = starting.use(createThreadReader());
  const converter = starting.use(createToolConverter());
  const pushChecks = starting.use(createCheckRunner({ threads: 2 }));
  const encoder = starting.use(createItemEncoder(store.hubFiles));
  const workers = new WorkerBoard();
  const leaving = new AbortController();
  const draining = new AbortController();
  const stopping = new AbortController();
  const files = createHubFiles({ store, encoder, logger }, stopping.signal);
  starting.use(
    store.listen({
      channel: ['svc_worker', 'svc_version'],
      onNotification: (payload, channel) => {
        if (channel === 'svc_worker') return workers.read(payload, Date.now());
        const [datasetId = '', version] = payload.split(' ');
        files.announce({ datasetId, version: Number(version) });
      },
    }),
  );
  const keys = openKeys(config, logger);
  const secrets = secretsOf(config);
  const routes = apiRoutes({
    ...deps,
    keys,
    secrets: secrets.keys,
    staging,
    limits: packageLimits(config),
    checks,
    reader,
    converter,
    pushChecks,
    pushes: limit('requests with results', MAX_PUSHES, config.importWaitMs),
    longLines: limit('long lines of results', MAX_LONG_LINES, config.importWaitMs),
    workers,
    files,
    console: openConsole(deps.consoleFolder, config.consoleName),
    uploads: limit('uploads', config.maxConcurrentUploads, config.importWaitMs),
    checkReadiness: async () => ({
      ...(await store.ready()),
      accepting: leaving.signal.aborted ? DRAINING : ACCEPTING,
    }),
    queueSizes: () => store.queueSizes(),
    drainSignal: draining.signal,
  });
  const app = createApp({
    routes,
    config,
    logger,
    metrics,
    accessOf,
    keys,
    actAs: ({ name, role, handles }, requestId, next) => actAs({ name, role, requestId, handles }, next),
    isKeyed: !keys.isOpen,
    classify: (error, path) => withHubHeaders(classify(error), path),
    secrets: secrets.all,
    leaveSignal: leaving.signal,
    stopSignal: stopping.signal,
  });
  const server = await startHttpServer({
    app,
    host: config.host,
    port: config.port,
    variables: { host: 'SVC_HOST', port: 'SVC_PORT' },
    headersTimeoutMs: config.headersTimeoutMs,
    version: deps.version,
    logger,
    metrics,
  });
  const started = starting.move();
  return {
    url: server.url,
    /** Drains: see `Running` of @svc/service. */
    stop: async (signal: AbortSignal): Promise<void> => {
      leaving.abort();
      // Balancers need a moment to notice; whatever they still send is served.
      await delay(config.drainDelayMs, undefined, { signal }).catch(() => undefined);
      draining.abort();
      await server.drain(signal);
      stopping.abort(retryLater('unavailable', 'The service is stopping.', 5, { reason: 'draining' }));
      await server.close();
      await started.disposeAsync();
    },
  };
}

/** All paths need a key, whether they exist or not, except the console, the documentation and the probes. */
function accessOf(path: string): Access {
  if (PROBES.includes(path) || path === '/' || path === '/openapi.json') return 'public';
  if (/^\/(?:docs|console)(?:\/|$)/.test(path)) return 'public';
  if (path === '/session') return 'anyone';
  return path === '/metrics' ? 'metrics' : 'viewer';
}

/** A client with slow requests leaves half of the permits to the others. */
function limit(what: string, permits: number, waitMs: number): Semaphore {
  const permitsPerClient = Math.max(1, Math.floor(permits / 2));
  const share = permitsPerClient < permits ? `, ${permitsPerClient} per client` : '';
  return new Semaphore({
    permits,
    permitsPerClient,
    waitMs,
    timeoutError: () =>
      retryLater(
        'unavailable',
        `Too many concurrent ${what} (at most ${permits}${share}): none finished within ${waitMs} ms.`,
        Math.ceil(waitMs / 1000),
      ),
  });
}
