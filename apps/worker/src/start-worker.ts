import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { HubClient } from '@svc/hub-client';
import { spellingsOf } from '@svc/jsonl-v23/secrets';
import {
  ACCEPTING,
  type Config,
  classifyHttpError,
  createApp,
  DRAINING,
  type HealthDeps,
  type HttpServer,
  healthRoutes,
  type Logger,
  type Metrics,
  openKeys,
  secretsOf,
  startHttpServer,
  type TokenCipher,
} from '@svc/service';
import { createCheckRunner } from '@svc/service/evaluation';
import { createThreadReader, createTurns } from '@svc/service/flows';
import { MinuteHistory, openTaskQueue, REPORT_MS, type Store, type WorkerReport } from '@svc/service/store';
import { startHousekeeping } from './housekeeping.ts';
import { createProviderDispatcher } from './providers/provider-dispatcher.ts';
import { startQueue } from './queue/worker-pool.ts';
import { createRunTask } from './tasks/run.ts';
import { createImportTask, createUploadTask } from './tasks/upload.ts';
import { createCancelWatch } from './watch-cancel.ts';

export interface WorkerDeps {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly store: Store;
  /** `postgresql://` URL of the same database: the queue has separate connections. */
  readonly databaseUrl: string;
  readonly hub: Pick<HubClient, 'openDataset'>;
  readonly tokenCipher: TokenCipher | null;
  readonly version: string;
  /** Whether the worker listens on `SVC_WORKER_PORT` for probes and Prometheus, or shares a process with the API. */
  readonly serveAdmin: boolean;
}

const QUEUE_UNREAD = { ok: false, detail: 'The worker has not read the queue lately. The log says why.' };

/** While the database cannot be reached, or is not migrated yet, the worker waits for it and is not ready. */
export async function startWorker(deps: WorkerDeps) {
  const { config, logger, metrics, store, databaseUrl } = deps;
  await using starting = new AsyncDisposableStack();

  const cancelWatch = createCancelWatch({
    cancellationsAmong: (ids) => store.cancellationsAmong(ids),
    logger,
    metrics,
  });
  starting.defer(() => cancelWatch.stop());
  const dispatcher = createProviderDispatcher({ allowedHosts: config.providerAllowedHosts });
  starting.defer(() => dispatcher.destroy());
  const checks = starting.use(createCheckRunner());
  const reader = starting.use(createThreadReader());

  const measured = withHistory(metrics);
  const jobDeps = { ...deps, metrics: measured.metrics, cancelWatch };
  const concurrency = {
    runs: config.runConcurrency,
    jobs: Math.min(config.workerConcurrency, config.maxConcurrentImports),
  };
  const queue = await startQueue(openTaskQueue(databaseUrl), logger, [
    {
      table: 'runs',
      handlers: {
        run: createRunTask({
          ...jobDeps,
          dispatcher,
          checks,
          turns: createTurns(),
          providerKeys: config.providerKeys,
          secrets: spellingsOf(secretsOf(config).keys),
        }),
      },
      concurrency: concurrency.runs,
      resumable: true,
    },
    {
      table: 'jobs',
      handlers: { import: createImportTask(jobDeps), upload: createUploadTask({ ...jobDeps, reader }) },
      concurrency: concurrency.jobs,
      resumable: false,
    },
  ]);
  starting.defer(() => queue.stop(AbortSignal.abort()));
  starting.use(
    store.listen({
      channel: ['svc_cancel', 'svc_task'],
      onNotification: (payload, channel) => {
        if (channel === 'svc_cancel') cancelWatch.notify(payload);
        else queue.wake();
      },
      onConnect: () => {
        cancelWatch.check();
        queue.wake();
      },
    }),
  );
  const hubFileLimits = { days: config.hubFilesDays, bytes: config.hubFilesBytes };
  starting.defer(startHousekeeping(store, { hubFileLimits, auditDays: config.auditDays }, logger));
  starting.defer(
    startReports(store, () => {
      const [runs = 0, jobs = 0] = queue.sizes();
      const provider = measured.history.read(Date.now());
      return { version: deps.version, concurrency, running: { runs, jobs }, provider };
    }),
  );

  let draining = false;
  const checkReadiness = async () => {
    const { database, queue: readable } = await store.ready();
    return {
      database,
      queue: readable.ok && !queue.isWorking() ? QUEUE_UNREAD : readable,
      accepting: draining ? DRAINING : ACCEPTING,
    };
  };
  const admin = deps.serveAdmin
    ? await startHealthServer({ ...deps, checkReadiness, queueSizes: () => store.queueSizes() })
    : null;
  const running = starting.move();
  return {
    /** `http://host:port` of its health and metrics endpoints; null if it serves none. */
    url: admin?.url ?? null,
    /** Drains: see `Running` of @svc/service. */
    stop: async (signal: AbortSignal): Promise<void> => {
      draining = true;
      await queue.stop(signal);
      await running.disposeAsync();
      await admin?.close();
    },
  };
}

async function startHealthServer(options: HealthDeps & WorkerDeps): Promise<HttpServer> {
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

/** The requests of this process to model providers by minute, next to the metrics that count them. */
function withHistory(metrics: Metrics) {
  const history = new MinuteHistory();
  const recordProviderRequest: Metrics['recordProviderRequest'] = (done) => {
    metrics.recordProviderRequest(done);
    history.add(done.outcome !== 'ok', Date.now());
  };
  return { history, metrics: { ...metrics, recordProviderRequest } };
}

/** Reports every few seconds what this worker does. A report that is lost is no error: the next one says the same, and more. */
function startReports(
  store: Pick<Store, 'reportWorker'>,
  read: () => Pick<WorkerReport, 'version' | 'concurrency' | 'running' | 'provider'>,
): () => void {
  const stopping = new AbortController();
  const own = { id: randomUUID(), startedAtMs: Date.now() };

  async function repeat(): Promise<void> {
    while (!stopping.signal.aborted) {
      await store.reportWorker({ ...own, ...read() }).catch(() => undefined);
      await delay(REPORT_MS, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
    }
  }

  void repeat();
  return () => stopping.abort();
}
