import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { importItems } from '../../../test/store/import-items.ts';
import { createTestDatabase } from '../../../test/store/template-db.ts';
import { actAs } from '../audit/actor.ts';
import { createStore, type Store } from '../create-store.ts';
import { listen } from '../postgres/listen.ts';
import type { Run } from '../runs/run-row.ts';
import {
  type ClaimedTask,
  MAX_ATTEMPTS,
  openTaskQueue,
  type TaskQueue,
  type TaskTable,
} from './task-queue.ts';

let cleanUp: AsyncDisposableStack;
let url: string;
let store: Store;
let queue: TaskQueue;
let plain: pg.Pool;

beforeEach(async () => {
  cleanUp = new AsyncDisposableStack();
  const database = await createTestDatabase();
  cleanUp.defer(() => database.drop());
  url = database.url;
  store = cleanUp.use(createStore({ url, poolSize: 4 }));
  queue = openQueue();
  plain = new pg.Pool({ connectionString: url });
  cleanUp.defer(() => plain.end());
});
afterEach(() => cleanUp.disposeAsync());

function openQueue(): TaskQueue {
  const opened = openTaskQueue(url);
  cleanUp.defer(() => opened.close());
  return opened;
}

async function createRun(): Promise<Run> {
  const { id: datasetId } = await importItems(store.datasets, { s: ['{}'] });
  const run = { id: randomUUID(), datasetId, name: null, config: '{}', repetitions: 1, requestId: 'r' };
  return await store.runs.create(run);
}
const expireLeases = (table: TaskTable): Promise<unknown> =>
  plain.query(
    `UPDATE ${table} SET lease_expires_at = now() - interval '1 second' WHERE lease_expires_at IS NOT NULL`,
  );
async function claimOne(): Promise<ClaimedTask> {
  const [task] = await queue.claim('runs', 1, true);
  if (task === undefined) throw new Error('No task is due.');
  return task;
}

it('wakes the workers at the end of the transaction', async () => {
  const woken: string[] = [];
  const connected = Promise.withResolvers<void>();
  await using _ = listen({
    url,
    channel: ['svc_task', 'svc_cancel'],
    onNotification: (payload, channel) => woken.push(`${channel} ${payload}`),
    onConnect: () => connected.resolve(),
  });
  await connected.promise;
  await createRun();
  await store.jobs.create({ id: randomUUID(), kind: 'import', request: '{}', requestId: null });
  await expect.poll(() => woken).toEqual(['svc_task run', 'svc_task import']);
});

const ADA = { name: 'Ada', role: 'editor', requestId: 'r', handles: null };

it('gives each task to one of many workers, the oldest first', async () => {
  const runs = [];
  for (let count = 0; count < 12; count += 1) runs.push((await actAs(ADA, () => createRun())).id);
  const first = await queue.claim('runs', 2, false);
  expect(first).toMatchObject(
    runs.slice(0, 2).map((id) => ({
      claim: { id, attempt: 1 },
      ...{ kind: 'run', failedAttempts: 0, isRecovered: false, actor: ADA, ageMs: expect.any(Number) },
    })),
  );
  const others = await Promise.all(
    Array.from({ length: 5 }, () => openQueue()).map((other) => other.claim('runs', 3, false)),
  );
  const claimed = [...first, ...others.flat(), ...(await queue.claim('runs', 99, false))];
  expect(claimed.map(({ claim }) => claim.id).sort()).toEqual(runs.toSorted());
  expect((await store.runs.get(runs[0] as string)).status).toBe('running');
  expect(await queue.claim('runs', 99, true)).toEqual([]);
});

it('gives jobs of both kinds', async () => {
  for (const kind of ['import', 'upload'] as const) {
    await store.jobs.create({ id: randomUUID(), kind, request: '{}', requestId: null });
  }
  const tasks = await queue.claim('jobs', 9, false);
  expect(tasks.map(({ kind }) => kind)).toEqual(['import', 'upload']);
  expect(await queue.claim('runs', 9, false)).toEqual([]);
});

it('does not count an attempt that was released, however often', async () => {
  await createRun();
  for (let time = 1; time <= 5; time += 1) {
    const task = await claimOne();
    expect(task).toMatchObject({ claim: { attempt: time }, failedAttempts: 0, isRecovered: false });
    await queue.release(task);
    expect(await store.queueSizes()).toEqual({ queued: 1, retry: 0, running: 0, failed: 0 });
  }
});

it('gives a task to another worker when its lease has expired, and counts the attempt', async () => {
  const { id } = await createRun();
  const dead = await claimOne();
  expect(await openQueue().claim('runs', 1, true)).toEqual([]);
  await expireLeases('runs');
  expect(await openQueue().claim('runs', 1, false)).toEqual([]);
  const [task] = await openQueue().claim('runs', 1, true);
  expect(task).toMatchObject({ claim: { id, attempt: 2 }, failedAttempts: 1, isRecovered: true });
  // the worker that was thought dead neither keeps nor releases the task, and opens no run
  expect(await queue.extend('runs', [dead.claim])).toEqual([id]);
  await queue.release(dead);
  await queue.retry(dead);
  expect(await store.runs.take(dead.claim)).toBeNull();
  expect(await store.queueSizes()).toMatchObject({ running: 1 });
  expect(await queue.claim('runs', 1, true)).toEqual([]);
});

it('keeps a task whose lease is extended, also after it expired', async () => {
  const { id } = await createRun();
  const { claim } = await claimOne();
  await expireLeases('runs');
  expect(await queue.extend('runs', [claim, { id: randomUUID(), attempt: 1 }])).toEqual([]);
  expect(await queue.claim('runs', 1, true)).toEqual([]);
  const taken = await store.runs.take(claim);
  await taken?.session.finish({ status: 'completed' });
  // what has ended is not lost: its worker is about to notice
  expect(await queue.extend('runs', [claim])).toEqual([]);
  expect((await store.runs.get(id)).status).toBe('completed');
});

it('retries after a growing delay, and leaves the last attempt to its worker', async () => {
  await createRun();
  const dueInSeconds = async (): Promise<number> => {
    const { rows } = await plain.query(
      'SELECT extract(epoch FROM available_at - now())::float8 AS due FROM runs',
    );
    return rows[0].due;
  };
  for (const [attempt, least, most] of [
    [1, 1.5, 4],
    [2, 3.5, 8],
  ] as const) {
    const task = await claimOne();
    expect(task.failedAttempts).toBe(attempt - 1);
    await queue.retry(task);
    expect(await dueInSeconds()).toBeGreaterThan(least);
    expect(await dueInSeconds()).toBeLessThanOrEqual(most);
    expect(await queue.claim('runs', 1, true)).toEqual([]);
    expect(await store.queueSizes()).toEqual({ queued: 0, retry: 1, running: 0, failed: 0 });
    await plain.query('UPDATE runs SET available_at = now()');
  }
  const last = await claimOne();
  await queue.retry(last);
  await plain.query('UPDATE runs SET available_at = now()');
  expect(await queue.claim('runs', 1, true)).toEqual([]);
  expect(await store.runs.fail(last.claim.id, { code: 'internal', message: 'it broke' })).toBe('failed');
  expect(await store.queueSizes()).toEqual({ queued: 0, retry: 0, running: 0, failed: 1 });
});

it('counts the death of a worker on every attempt', async () => {
  await createRun();
  for (let deaths = 0; deaths <= MAX_ATTEMPTS; deaths += 1) {
    expect(await claimOne()).toMatchObject({ failedAttempts: deaths });
    await expireLeases('runs');
    await plain.query('UPDATE runs SET available_at = now()');
  }
});

it('finds due tasks by an index', async () => {
  const client = await plain.connect();
  try {
    await client.query('SET enable_seqscan = off; SET enable_bitmapscan = off');
    for (const table of ['runs', 'jobs']) {
      const { rows } = await client.query(
        `EXPLAIN SELECT id FROM ${table} WHERE finished_at IS NULL AND available_at <= clock_timestamp()
         AND (lease_expires_at IS NULL OR lease_expires_at < clock_timestamp()) ORDER BY available_at LIMIT 1`,
      );
      expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain(`Index Scan using ${table}_to_do`);
    }
  } finally {
    client.release(true);
  }
});

it('leaves no task of work that was rolled back', async () => {
  const id = randomUUID();
  const answer = () => {
    throw new Error('no answer');
  };
  const job = { id, kind: 'import', request: '{}', requestId: null } as const;
  const idempotent = { claim: { key: 'k', token: randomUUID() }, of: answer };
  await expect(store.jobs.create(job, { idempotent })).rejects.toThrow('no answer');
  expect(await queue.claim('jobs', 1, true)).toEqual([]);
});
