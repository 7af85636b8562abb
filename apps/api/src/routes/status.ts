import { statfs } from 'node:fs/promises';
import { json, type Route, type Schema, shape } from '@svc/service';
import { HISTORY_MINUTES, type WorkerReport } from '@svc/store';
import type { RouteDeps } from './deps.ts';
import { COUNT, record, TEXT, TIME, UUID } from './docs/members.ts';
import { JOB_STATUSES } from './jobs.ts';

const counts = (names: readonly string[]): Schema =>
  shape(Object.fromEntries(names.map((name) => [name, COUNT])));
const TASKS = counts(['runs', 'jobs']);

const MINUTE_MS = 60_000;
/** How long figures that need a count of rows are cached. */
const MEASURED_MS = 15_000;

/** The limits of the configuration that people meet, under the names of their variables. */
const LIMITS = [
  'maxUploadBytes',
  'maxUncompressedBytes',
  'maxArchiveEntries',
  'maxRows',
  'maxLineBytes',
  'maxAssetBytes',
  'maxJsonBodyBytes',
  'maxConcurrentUploads',
  'maxConcurrentImports',
  'maxStreamsPerClient',
  'rateLimitPerMinute',
  'runConcurrency',
  'workerConcurrency',
] as const;

const WORKER = record<WorkerReport & { readonly startedAt: Date }>({
  id: UUID,
  version: TEXT,
  started_at: TIME,
  concurrency: { ...TASKS, description: 'the tasks that it may work on at a time' },
  running: { ...TASKS, description: 'tasks that it is working on' },
});

export const STATUS: Schema = shape({
  version: TEXT,
  workers: {
    type: 'array',
    description: 'the workers that have reported in the last 15 seconds',
    items: WORKER.schema,
  },
  queue: { ...counts(['queued', 'retry', 'running', 'failed']), description: 'tasks by state' },
  imports: {
    ...counts(JOB_STATUSES),
    description: 'jobs by status: those of the last 24 hours, and all that have not ended',
  },
  datasets: COUNT,
  runs: COUNT,
  database: shape({ bytes: COUNT }),
  disk: {
    ...shape({ bytes: COUNT, free_bytes: COUNT }),
    type: ['object', 'null'],
    description: 'the disk of `SVC_DATA_DIR`',
  },
  asset_store: shape({
    kind: { type: 'string', enum: ['database', 's3'] },
    files: { ...COUNT, description: 'each content once' },
    bytes: COUNT,
  }),
  provider_requests: {
    type: 'array',
    maxItems: HISTORY_MINUTES,
    description:
      'requests to model providers by minute, of the last six hours; minutes without any are left out',
    items: shape({ minute: TIME, requests: COUNT, errors: COUNT }),
  },
  limits: { ...counts(LIMITS.map(snakeCase)), description: 'configured limits; 0 means no limit' },
});

/** `GET /status`: what an operator wants to see on one page. */
export function statusRoute({ store, config, workers, version }: RouteDeps): Route {
  const measure = keptFor(MEASURED_MS, () => store.measure());
  return {
    method: 'get',
    path: '/status',
    operationId: 'getStatus',
    summary: 'Workers, queue, imports, sizes, requests to model providers, and limits',
    tag: 'operation',
    access: 'viewer',
    produces: 'application/json',
    responses: { 200: { description: 'the state of the whole installation', schema: STATUS } },
    errors: ['unavailable'],
    handle: async () => {
      const [measured, queue, disk] = await Promise.all([
        measure(),
        store.queueSizes(),
        statfs(config.dataDir).catch(() => null),
      ]);
      const nowMs = Date.now();
      return json({
        version,
        workers: workers
          .workers(nowMs)
          .map((worker) => WORKER.toBody({ ...worker, startedAt: new Date(worker.startedAtMs) })),
        queue: { ...queue },
        imports: Object.fromEntries(JOB_STATUSES.map((status) => [status, measured.jobs[status] ?? 0])),
        datasets: measured.datasets,
        runs: measured.runs,
        database: { bytes: measured.databaseBytes },
        disk:
          disk === null ? null : { bytes: disk.blocks * disk.bsize, free_bytes: disk.bavail * disk.bsize },
        asset_store: {
          kind: config.assetStore === null ? 'database' : 's3',
          files: measured.assets.count,
          bytes: measured.assets.bytes,
        },
        provider_requests: workers.providerMinutes(nowMs).map(({ minute, requests, errors }) => ({
          minute: new Date(minute * MINUTE_MS).toISOString(),
          requests,
          errors,
        })),
        limits: Object.fromEntries(LIMITS.map((name) => [snakeCase(name), config[name]])),
      });
    },
  };
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Asks once for all who ask within a time; a failure is not kept. */
function keptFor<T>(keptMs: number, ask: () => Promise<T>): () => Promise<T> {
  let kept: Promise<T> | undefined;
  let askedAtMs = 0;
  return () => {
    if (kept !== undefined && performance.now() - askedAtMs < keptMs) return kept;
    askedAtMs = performance.now();
    const asked = ask();
    kept = asked;
    asked.catch(() => {
      if (kept === asked) kept = undefined;
    });
    return asked;
  };
}
