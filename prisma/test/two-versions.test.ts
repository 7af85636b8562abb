import { randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { createStore, type Store } from '../src/create-store.ts';
import { migrate, readMigrations } from '../src/migrate/migrate.ts';
import { MigrationAdapter } from '../src/migrate/migration-adapter.ts';
import { openSchemaEngine } from '../src/migrate/schema-engine.ts';
import { type ClaimedTask, openTaskQueue, type TaskQueue } from '../src/queue/task-queue.ts';
import { type OlderVersion, startOlderVersion } from './older-version.ts';
import { queryDatabase } from './query-database.ts';

const MIGRATION = '20260601000000_task_leases';

let cleanUp: AsyncDisposableStack;
let url: string;
let older: OlderVersion;
let store: Store;
let queue: TaskQueue;
let datasetId: string;
let plain: pg.Pool;

/** A database of the older version, with its queue; `migrate(url)` brings it to this version. */
beforeEach(async () => {
  cleanUp = new AsyncDisposableStack();
  const name = `svc_versions_${randomBytes(6).toString('hex')}`;
  const server = inject('postgresUrl');
  await queryDatabase(server, `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`);
  cleanUp.defer(async () => void (await queryDatabase(server, `DROP DATABASE ${name} WITH (FORCE)`)));
  const own = new URL(server);
  own.pathname = `/${name}`;
  url = own.href;
  await migrateBefore();
  plain = new pg.Pool({ connectionString: url });
  plain.on('error', () => undefined); // the database is dropped at the end
  cleanUp.defer(() => plain.end());
  older = cleanUp.use(await startOlderVersion(url));
  store = cleanUp.use(createStore({ url, poolSize: 4 }));
  queue = openTaskQueue(url);
  cleanUp.defer(() => queue.close());
  datasetId = await importAsOlder();
});
afterEach(() => cleanUp.disposeAsync());

/** A dataset of one item, by the statements of the older version. */
async function importAsOlder(): Promise<string> {
  const [dataset, section] = [randomUUID(), randomUUID()];
  await plain.query(
    `INSERT INTO datasets (id, name, source, version_hash, schema, section_count, item_count, asset_count)
     VALUES ($1, 'older', 'pkg_zip', repeat('0', 64), '{}', 1, 1, 0)`,
    [dataset],
  );
  await plain.query(
    `INSERT INTO sections (id, dataset_id, name, order_index, item_count, section_hash)
     VALUES ($1, $2, 's', 0, 1, sha256(''))`,
    [section, dataset],
  );
  await plain.query(
    `INSERT INTO items (section_id, order_index, item_hash, type, payload)
     VALUES ($1, 0, sha256(''), 'freeform', '{}')`,
    [section],
  );
  return dataset;
}

/** Applies the migrations of the older version. */
async function migrateBefore(): Promise<void> {
  const { migrationDirectories } = await readMigrations();
  const before = migrationDirectories.map(({ path }) => path).filter((path) => path < MIGRATION);
  const pool = new pg.Pool({ connectionString: url });
  pool.on('error', () => undefined); // the database is dropped at the end
  try {
    using opened = await openSchemaEngine(new MigrationAdapter(pool));
    await opened.engine.applyMigrations({
      migrationsList: await readMigrations(before),
      filters: { externalTables: [], externalEnums: [] },
    });
  } finally {
    await pool.end();
  }
}

async function createOlderRun(): Promise<string> {
  const id = randomUUID();
  await older.createRun(id, datasetId);
  return id;
}
async function createRun(): Promise<string> {
  const run = { id: randomUUID(), datasetId, name: null, config: '{}', repetitions: 1, requestId: 'r' };
  return (await store.runs.create(run)).id;
}
async function claim(): Promise<ClaimedTask | undefined> {
  return (await queue.claim('runs', 1, true))[0];
}
const query = (sql: string): Promise<unknown> => plain.query(sql);
/** The worker of the older version sends no more heartbeats, and another one looks for such tasks. */
async function killOlderWorker(): Promise<void> {
  await query(`UPDATE pgboss.job SET heartbeat_on = now() - interval '13 seconds' WHERE state = 'active'`);
}
const killWorker = (): Promise<unknown> =>
  query(`UPDATE runs SET lease_expires_at = now() - interval '1 second' WHERE lease_expires_at IS NOT NULL`);
const ageRuns = (): Promise<unknown> => query(`UPDATE runs SET created_at = now() - interval '1 hour'`);

describe('at the migration', () => {
  it('what waits, is worked on or failed at the older version is so here', async () => {
    const [active, retried, last] = [await createOlderRun(), await createOlderRun(), await createOlderRun()];
    const tasks = [await older.fetch('run'), await older.fetch('run'), await older.fetch('run')];
    expect(tasks.map((task) => task?.id)).toEqual([active, retried, last]);
    await older.boss.fail('run', retried, { code: 'internal' });
    await query(`UPDATE pgboss.job SET state = 'failed', retry_count = 2 WHERE id = '${last}'`);
    const waiting = await createOlderRun();
    const { migrationDirectories } = await readMigrations();
    const names = migrationDirectories.map(({ path }) => path);
    expect(await migrate(url)).toEqual({ applied: names.filter((name) => name >= MIGRATION) });

    const found = [await claim(), await claim(), await claim()];
    expect(found).toMatchObject([
      { claim: { id: waiting }, failedAttempts: 0 },
      { claim: { id: last }, failedAttempts: 3 },
      undefined,
    ]);
    const { rows } = await plain.query(
      'SELECT failed_attempts, available_at > now() AS later FROM runs WHERE id = $1',
      [retried],
    );
    expect(rows).toEqual([{ failed_attempts: 1, later: true }]);
    expect(await store.queueSizes()).toEqual({ queued: 0, retry: 1, running: 3, failed: 0 });
  });
});

describe('after the migration, while workers of both versions work', () => {
  beforeEach(async () => {
    await migrate(url);
  });

  it.each([
    ['the older', createOlderRun],
    ['this', createRun],
  ])('a run that the API of %s version made goes to one worker', async (_, create) => {
    const first = await create();
    const task = await older.fetch('run');
    expect(task).toMatchObject({ id: first, data: { id: first }, retryCount: 0, retryLimit: 2 });
    expect(await claim()).toBeUndefined();

    const second = await create();
    expect(await claim()).toMatchObject({ claim: { id: second } });
    expect(await older.fetch('run')).toBeUndefined();
  });

  it('a run that needs this version goes to its workers only', async () => {
    const id = await createRun();
    await query('UPDATE runs SET worker_level = 1');
    // a worker of the older version finds the task, and nothing to do
    expect(await older.fetch('run')).toMatchObject({ id });
    expect(await older.take('run', id)).toBeNull();
    await query(`UPDATE runs SET lease_expires_at = now() - interval '1 second'`);
    expect(await claim()).toMatchObject({ claim: { id, attempt: 1 } });
    await killWorker();
    expect(await older.take('run', id)).toBeNull();
    expect(await claim()).toMatchObject({ claim: { id, attempt: 2 } });
  });

  it('many tasks go to one worker each', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 20; count += 1)
      ids.push(count % 2 === 0 ? await createRun() : await createOlderRun());
    const taken: string[] = [];
    await Promise.all([
      ...Array.from({ length: 2 }, async () => {
        for (let empty = 0; empty < 5; ) {
          const task = await older.fetch('run');
          if (task === undefined) empty += 1;
          else taken.push(task.id);
        }
      }),
      ...Array.from({ length: 2 }, async () => {
        for (let empty = 0; empty < 5; ) {
          const tasks = await queue.claim('runs', 2, true);
          if (tasks.length === 0) empty += 1;
          taken.push(...tasks.map(({ claim: { id } }) => id));
        }
      }),
    ]);
    expect(taken.toSorted()).toEqual(ids.toSorted());
  });

  it('a worker that dies loses its task to one of this version, which counts the attempt', async () => {
    const id = await createOlderRun();
    const task = await older.fetch('run');
    const attempt = await older.take('run', id);
    await older.boss.touch('run', [task as never]);
    expect(await claim()).toBeUndefined();
    await killOlderWorker();
    const claimed = await claim();
    expect(claimed).toMatchObject({ claim: { id }, failedAttempts: 1, isRecovered: true });
    expect(claimed?.claim.attempt).toBeGreaterThan(attempt ?? 0);
    // it was not dead: its heartbeat does not get the task back
    await older.boss.touch('run', [task as never]);
    expect(await queue.extend('runs', [claimed?.claim as never])).toEqual([]);
    expect(await claim()).toBeUndefined();
  });

  it('a worker of this version that dies loses its task to one of the older, which counts the attempt', async () => {
    const id = await createRun();
    const task = await claim();
    expect(await older.fetch('run')).toBeUndefined();
    await killWorker();
    await killOlderWorker(); // as the older version sees it
    await older.boss.supervise();
    await query('UPDATE pgboss.job SET start_after = now()');
    expect(await older.fetch('run')).toMatchObject({ id, retryCount: 1 });
    await older.take('run', id);
    expect(await claim()).toBeUndefined();
    expect(await queue.extend('runs', [task?.claim as never])).toEqual([id]);
  });

  it('a task that a worker of either version releases goes to the other, and no attempt counts', async () => {
    const id = await createRun();
    const released = await claim();
    await queue.release(released as ClaimedTask);
    const task = await older.fetch('run');
    expect(task).toMatchObject({ id, retryCount: 0 });
    await older.release('run', task as never);
    expect(await claim()).toMatchObject({ claim: { id }, failedAttempts: 0, isRecovered: false });
  });

  it('a failed attempt counts in both versions', async () => {
    const id = await createRun();
    const first = await older.fetch('run');
    await older.boss.fail('run', first as never, { code: 'internal' });
    expect(await claim()).toBeUndefined();
    await query('UPDATE runs SET available_at = now()');
    const second = await claim();
    expect(second).toMatchObject({ claim: { id }, failedAttempts: 1, isRecovered: false });
    await queue.retry(second as ClaimedTask);
    expect(await older.fetch('run')).toBeUndefined();
    await query('UPDATE pgboss.job SET start_after = now()');
    expect(await older.fetch('run')).toMatchObject({ id, retryCount: 2 });
  });

  it('the older version fails no run that waits for this one, is worked on or was released by it', async () => {
    const ids = [await createRun(), await createRun(), await createRun()];
    const released = await claim();
    await claim();
    await queue.release(released as ClaimedTask);
    await ageRuns();
    expect(await older.failOrphaned()).toEqual([]);
    await killWorker();
    await killOlderWorker();
    await older.boss.supervise();
    expect(await older.failOrphaned()).toEqual([]);
    expect(ids).toHaveLength(3);
  });

  it('a run that has ended here is nothing to do for the older version', async () => {
    await createRun();
    const task = await claim();
    const taken = await store.runs.take(task?.claim as never);
    await taken?.session.finish({ status: 'completed' });
    expect(await older.fetch('run')).toBeUndefined();
    await killOlderWorker();
    await older.boss.supervise();
    expect(await older.fetch('run')).toBeUndefined();
    expect(await store.queueSizes()).toEqual({ queued: 0, retry: 0, running: 0, failed: 0 });
  });

  it('a job goes to one worker as a run does', async () => {
    const job = { id: randomUUID(), kind: 'import', request: '{}', requestId: 'r' } as const;
    await store.jobs.create(job);
    expect(await older.fetch('import')).toMatchObject({ id: job.id, data: { id: job.id, request_id: 'r' } });
    expect(await queue.claim('jobs', 1, true)).toEqual([]);
    await killOlderWorker();
    expect(await queue.claim('jobs', 1, true)).toMatchObject([{ claim: { id: job.id }, kind: 'import' }]);
    expect(await older.fetch('import')).toBeUndefined();
  });

  it('a dataset with runs can be deleted, and its older tasks have nothing to do', async () => {
    const id = await createRun();
    await claim();
    await store.datasets.delete(datasetId);
    await killOlderWorker();
    await older.boss.supervise();
    await query('UPDATE pgboss.job SET start_after = now()');
    expect(await older.fetch('run')).toMatchObject({ id });
    expect(await older.take('run', id)).toBeNull();
  });
});
