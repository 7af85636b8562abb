import { DEFAULT_IMPORT_LIMITS, type ImportLimits } from '@svc/jsonl-v23/imports';
import { Semaphore } from '../concurrency/index.ts';
import { createDatabaseAssetStore } from './assets/asset-store.ts';
import { createAssets } from './assets/assets.ts';
import { createS3Objects, type S3Location } from './assets/s3/s3-objects.ts';
import { createS3AssetStore } from './assets/s3-asset-store.ts';
import { unchecked, writeAudit } from './audit/actor.ts';
import { createAuditStore } from './audit/audit-store.ts';
import type { StoreContext } from './context.ts';
import { StoreError } from './database/errors.ts';
import { createDatasetStore } from './datasets/dataset-store.ts';
import { createHubFileStore } from './hub-files/hub-file-store.ts';
import { createIdempotencyStore } from './idempotency/idempotency-store.ts';
import { type ImportContext, importShare } from './import/draft.ts';
import { createRowEncoder } from './import/encode/row-encoder.ts';
import { createJobStore } from './jobs/job-store.ts';
import { type Listener, type ListenOptions, listen } from './postgres/listen.ts';
import { createPool, inTransaction } from './postgres/pool.ts';
import { createProbes, type DatabaseChange, measure } from './probes.ts';
import type { WorkerReport } from './queue/worker-board.ts';
import { createRunStore } from './runs/run-store.ts';

/**
 * Channels of notifications:
 *
 * - `svc_cancel`: a run or job is to be cancelled; the payload is its id
 * - `svc_task`: a task was put on a queue; the payload is the queue's name
 * - `svc_version`: a version was stored; the payload is the id of its dataset, a space, and its number
 * - `svc_worker`: a worker reports what it does; the payload is a `WorkerReport` as JSON
 */
type Channel = 'svc_cancel' | 'svc_task' | 'svc_version' | 'svc_worker';

export interface StoreOptions {
  /** Postgresql:// URL of a migrated database. */
  readonly url: string;
  /** Postgresql:// URL of the same server without a pooler, for notifications; by default `url`. */
  readonly directUrl?: string | undefined;
  /** Maximum connections, 20 by default, besides two for probes. Imports, exports, and searches with comparisons hold up to a quarter each. */
  readonly poolSize?: number | undefined;
  /** Maximum concurrent imports, where that is less than a quarter of the pool. */
  readonly maxImports?: number | undefined;
  /** Maximum concurrent searches and comparisons, where that is less than a quarter of the pool. */
  readonly maxSearches?: number | undefined;
  /** Threads that encode the rows of imports; 0, the default, encodes them in the calling thread. */
  readonly encoderThreads?: number | undefined;
  /** What one import may make of what it reads; see `ImportLimits` for the defaults. */
  readonly importLimits?: ImportLimits | undefined;
  /** Where the database is, if it is on a disk of this machine: running imports leave a part of that disk free. */
  readonly disk?: { readonly folder: string; readonly sharePercent: number } | null | undefined;
  /** How long an import waits for its turn, 30,000 by default. */
  readonly importWaitMs?: number | undefined;
  /** How long an export waits for its turn, 30,000 by default. */
  readonly exportWaitMs?: number | undefined;
  /** The same for a search or comparison, and for a large page, 10 s by default. */
  readonly searchWaitMs?: number | undefined;
  /** How long a statement of a read may take, 30 s by default. */
  readonly statementTimeoutMs?: number | undefined;
  /** Where the content of new assets is kept; in the database without it. */
  readonly assetStore?: S3Location | null | undefined;
  /** Maximum bytes of an item or a result, 64 MiB by default; a larger one is reported and not read. */
  readonly maxItemBytes?: number | undefined;
  /** Called when the database has become usable, or is so no more for another reason than before. */
  readonly onDatabaseChange?: ((change: DatabaseChange) => void) | undefined;
}

/** Everything that is stored. Connects on first use. */
export type Store = ReturnType<typeof createStore>;

const DEFAULT_POOL_SIZE = 20;
const DEFAULT_STREAM_WAIT_MS = 30_000;
const DEFAULT_SEARCH_WAIT_MS = 10_000;
const DEFAULT_STATEMENT_TIMEOUT_MS = 30_000;
const DEFAULT_MAX_ITEM_BYTES = 64 * 1024 * 1024;
/** A string of the engine has at most 2^29 - 24 units: no limit of an operator makes a larger item readable. */
const LARGEST_ITEM_BYTES = 256 * 1024 * 1024;
/** What all large pages that are read or sent at one time may hold. */
const LARGE_PAGES_BYTES = 128 * 1024 * 1024;

/** Makes the store on one pool of connections, of a database that `migrate` has brought to this version. */
export function createStore(options: StoreOptions) {
  const probes = createProbes({ url: options.url, onChange: options.onDatabaseChange });
  const pool = createPool({
    url: options.url,
    applicationName: 'svc-store',
    size: options.poolSize ?? DEFAULT_POOL_SIZE,
    statementTimeoutMs: options.statementTimeoutMs ?? DEFAULT_STATEMENT_TIMEOUT_MS,
    onServerError: (code) => probes.noteError(code),
  });
  const encoder = createRowEncoder({ threads: options.encoderThreads ?? 0 });
  const maxItemBytes = Math.min(options.maxItemBytes ?? DEFAULT_MAX_ITEM_BYTES, LARGEST_ITEM_BYTES);
  const database = createDatabaseAssetStore();
  const location = options.assetStore ?? null;
  const objects = location === null ? null : createS3Objects({ location });
  const context: StoreContext & ImportContext = {
    pool,
    assets: objects === null ? database : createS3AssetStore({ pool, objects, database }),
    encoder,
    ...createSemaphores(options, maxItemBytes),
    diskShare: options.disk == null ? null : importShare(options.disk),
    importLimits: options.importLimits ?? DEFAULT_IMPORT_LIMITS,
    maxItemBytes,
    maxWholeBytes: options.maxItemBytes ?? DEFAULT_MAX_ITEM_BYTES,
  };
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= (async () => {
      await encoder[Symbol.asyncDispose]();
      await Promise.all([pool.end(), probes.close()]);
      objects?.close();
    })();
    return closing;
  };
  return {
    datasets: createDatasetStore(context),
    assets: createAssets(context),
    runs: createRunStore(context),
    jobs: createJobStore(context),
    settings: unchecked(context, { get: getSettings, update: updateSettings }),
    audit: createAuditStore(context),
    idempotency: createIdempotencyStore(context),
    hubFiles: createHubFileStore(context),
    ...unchecked(context, { cancellationsAmong, measure, reportWorker }),
    ready: probes.ready,
    queueSizes: probes.queueSizes,
    databaseBytes: probes.databaseBytes,
    /** See {@link listen}; the listener is the caller's to close. */
    listen: (wanted: Omit<ListenOptions<Channel>, 'url'>): Listener =>
      listen({ ...wanted, url: options.directUrl ?? options.url }),
    pool: () => ({
      used: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
    }),
    /** Closes every connection; queries that are still running fail. Safe to call twice. */
    close,
    [Symbol.asyncDispose]: close,
  };
}

function createSemaphores(options: StoreOptions, maxItemBytes: number) {
  const quarter = Math.max(1, Math.floor((options.poolSize ?? DEFAULT_POOL_SIZE) / 4));
  const importWaitMs = options.importWaitMs ?? DEFAULT_STREAM_WAIT_MS;
  const searchWaitMs = options.searchWaitMs ?? DEFAULT_SEARCH_WAIT_MS;
  const bound = (what: string, permits: number, waitMs: number, retry = {}): Semaphore =>
    new Semaphore({
      ...{ permits, waitMs },
      timeoutError: () => new StoreError('unavailable', `Too many concurrent ${what}.`, retry),
    });
  return {
    imports: bound('imports', Math.min(quarter, options.maxImports ?? quarter), importWaitMs, {
      retryAfterMs: importWaitMs,
    }),
    exports: bound('exports', quarter, options.exportWaitMs ?? DEFAULT_STREAM_WAIT_MS),
    searches: bound(
      'searches and comparisons',
      Math.min(quarter, options.maxSearches ?? quarter),
      searchWaitMs,
    ),
    largePages: bound('reads of large pages', Math.max(LARGE_PAGES_BYTES, maxItemBytes), searchWaitMs),
  };
}

/** What a worker learns about the runs and jobs that it works on. */
export interface Cancellations {
  /** Those to stop: a cancel was asked for, they have ended elsewhere, or they were deleted. */
  readonly cancelled: readonly string[];
  /** When to ask again, as the settings say now. */
  readonly checkIntervalMs: number;
}

/** Tells every process that listens to `svc_worker` what a worker does. */
async function reportWorker({ pool }: StoreContext, report: WorkerReport): Promise<void> {
  await pool.query("SELECT pg_notify('svc_worker', $1)", [JSON.stringify(report)]);
}

/** Which of these runs and jobs are to stop, and when to ask again: one query. */
async function cancellationsAmong({ pool }: StoreContext, ids: readonly string[]): Promise<Cancellations> {
  const { rows } = await pool.query<{ cancelled: string[]; interval: string | null }>(
    `SELECT ARRAY(
       SELECT wanted.id FROM unnest($1::uuid[]) AS wanted (id)
       WHERE NOT EXISTS (SELECT FROM runs WHERE runs.id = wanted.id AND cancel_requested_at IS NULL AND finished_at IS NULL)
         AND NOT EXISTS (SELECT FROM jobs WHERE jobs.id = wanted.id AND cancel_requested_at IS NULL AND finished_at IS NULL)
     ) AS cancelled, ${STORED_INTERVAL} AS interval`,
    [ids],
  );
  const [row] = rows;
  return { cancelled: row?.cancelled ?? [], checkIntervalMs: toInterval(row?.interval) };
}

/** What an operator can change while the service runs. */
interface Settings {
  /** How often a worker asks whether its work was cancelled: 250 to 60,000. */
  readonly cancellationCheckIntervalMs: number;
}

const DEFAULT_INTERVAL_MS = 2_000;
/** Name of the setting in the table, which is that of the API. */
const INTERVAL = 'cancellation_check_interval_ms';

/** SQL for the interval as it is stored. */
const STORED_INTERVAL = `(SELECT value FROM settings WHERE key = '${INTERVAL}' AND octet_length(value) <= 1000)`;

const toInterval = (stored: string | null | undefined): number =>
  Number(stored ?? DEFAULT_INTERVAL_MS) || DEFAULT_INTERVAL_MS;

async function getSettings({ pool }: StoreContext): Promise<Settings> {
  const { rows } = await pool.query<{ value: string | null }>(`SELECT ${STORED_INTERVAL} AS value`);
  return { cancellationCheckIntervalMs: toInterval(rows[0]?.value) };
}

/** Changes the settings that are given, and returns all. The caller has checked their ranges. */
async function updateSettings(context: StoreContext, { cancellationCheckIntervalMs }: Partial<Settings>) {
  if (cancellationCheckIntervalMs !== undefined) {
    await inTransaction(context.pool, async (client) => {
      const { rowCount } = await client.query(
        `INSERT INTO settings (key, value) VALUES ($1, $2)
         ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = now()
           WHERE settings.value <> excluded.value`,
        [INTERVAL, JSON.stringify(cancellationCheckIntervalMs)],
      );
      if (rowCount === 0) return;
      await writeAudit(client, 'settings.update', { kind: 'settings', id: null }, { members: [INTERVAL] });
    });
  }
  return await getSettings(context);
}
