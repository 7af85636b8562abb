import pg from 'pg';
import { type JobWithMetadata, PgBoss } from 'pg-boss';

/** What the version before leases on rows told pg-boss. */
const OPTIONS = {
  retryLimit: 2,
  retryDelay: 2,
  retryBackoff: true,
  heartbeatSeconds: 12,
  expireInSeconds: 24 * 60 * 60 - 1,
};
const KINDS = ['run', 'import', 'upload'] as const;
type Kind = (typeof KINDS)[number];

type OlderTask = JobWithMetadata<{ readonly id: string; readonly request_id: string | null }>;

/** The queue as the version before leases on rows worked with it: by pg-boss, and by these statements. */
export interface OlderVersion extends AsyncDisposable {
  readonly boss: PgBoss;
  /** Stores a run and sends its task in one transaction, as its API did. */
  createRun(id: string, datasetId: string): Promise<void>;
  fetch(kind: Kind): Promise<OlderTask | undefined>;
  /** Begins the work of a fetched task. @returns the attempt, which fences others out; null when the work has ended */
  take(kind: Kind, id: string): Promise<number | null>;
  /** Gives a task back at a shutdown. */
  release(kind: Kind, task: OlderTask): Promise<void>;
  /** Ends the runs and jobs whose tasks are gone. */
  failOrphaned(): Promise<string[]>;
}

/** Installs pg-boss as the older version did and connects to it. */
export async function startOlderVersion(url: string): Promise<OlderVersion> {
  const boss = new PgBoss({
    connectionString: url,
    schema: 'pgboss',
    supervise: false,
    schedule: false,
    max: 3,
  });
  boss.on('error', () => undefined);
  await boss.start();
  const present = new Set((await boss.getQueues()).map(({ name }) => name));
  for (const name of KINDS) if (!present.has(name)) await boss.createQueue(name, OPTIONS);
  const pool = new pg.Pool({ connectionString: url, max: 3 });
  pool.on('error', () => undefined); // the database is dropped at the end
  const tableOf = (kind: Kind): string => (kind === 'run' ? 'runs' : 'jobs');
  return {
    boss,
    async createRun(id, datasetId) {
      const client = await pool.connect();
      try {
        await client.query('BEGIN');
        await client.query(
          `INSERT INTO runs (id, dataset_id, dataset_version_hash, config, total)
           SELECT $1, id, version_hash, '{}', item_count FROM datasets WHERE id = $2`,
          [id, datasetId],
        );
        const db = { executeSql: (text: string, values?: unknown[]) => client.query(text, values) };
        await boss.send('run', { id, request_id: null }, { id, db });
        await client.query('COMMIT');
      } finally {
        client.release();
      }
    },
    fetch: async (kind) =>
      (await boss.fetch<OlderTask['data']>(kind, { batchSize: 1, includeMetadata: true }))[0],
    async take(kind, id) {
      const { rows } = await pool.query<{ attempt: number }>(
        `UPDATE ${tableOf(kind)} SET attempt = attempt + 1, started_at = coalesce(started_at, clock_timestamp()),
           status = CASE WHEN cancel_requested_at IS NULL THEN 'running' ELSE 'cancelling' END
         WHERE id = $1 AND finished_at IS NULL RETURNING attempt`,
        [id],
      );
      return rows[0]?.attempt ?? null;
    },
    async release(kind, { id, retryCount }) {
      await pool.query(
        `UPDATE pgboss.job SET state = 'created', started_on = NULL, heartbeat_on = NULL
         WHERE name = $1 AND id = $2 AND state = 'active' AND retry_count = $3`,
        [kind, id, retryCount],
      );
    },
    async failOrphaned() {
      const found = [];
      for (const [table, name] of [
        ['runs', `'run'`],
        ['jobs', 'tasks.kind'],
      ]) {
        const { rows } = await pool.query<{ id: string }>(
          `UPDATE ${table} AS tasks SET status = 'failed', error = '{"code":"worker_lost"}', finished_at = clock_timestamp()
           WHERE finished_at IS NULL AND created_at < clock_timestamp() - interval '1 minute'
             AND NOT EXISTS (SELECT FROM pgboss.job
               WHERE job.name = ${name} AND job.id = tasks.id AND state IN ('created', 'retry', 'active'))
           RETURNING id`,
        );
        found.push(...rows.map(({ id }) => id));
      }
      return found;
    },
    async [Symbol.asyncDispose]() {
      await boss.stop({ graceful: false });
      await pool.end();
    },
  };
}
