import { randomUUID } from 'node:crypto';
import { PgBoss } from 'pg-boss';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { importItems } from '../test/import-items.ts';
import { createTestDatabase, type TestDatabase } from '../test/template-db.ts';
import { createStore, type Store } from './create-store.ts';
import { listen } from './database/listen.ts';
import { migrate } from './migrate/migrate.ts';
import { QUEUE_OPTIONS, QUEUE_SCHEMA, type TaskData } from './queue.ts';

let database: TestDatabase;
let store: Store;
let worker: PgBoss;

beforeAll(async () => {
  database = await createTestDatabase();
  store = createStore({ url: database.url, poolSize: 4 });
  worker = new PgBoss({
    connectionString: database.url,
    schema: QUEUE_SCHEMA,
    migrate: false,
    supervise: false,
    schedule: false,
    max: 3,
  });
  worker.on('error', () => undefined);
  await worker.start();
});
afterAll(async () => {
  await worker.stop({ graceful: false });
  await store.close();
  await database.drop();
});

it('gives a worker the task of a run, and wakes it', async () => {
  const woken: string[] = [];
  const connected = Promise.withResolvers<void>();
  await using _ = listen({
    url: database.url,
    channel: ['svc_task', 'svc_cancel'],
    onNotification: (payload, channel) => woken.push(`${channel} ${payload}`),
    onConnect: () => connected.resolve(),
  });
  await connected.promise;
  const dataset = await importItems(store.datasets, { s: ['{}'] });
  const run = {
    id: randomUUID(),
    datasetId: dataset.id,
    name: null,
    config: '{}',
    repetitions: 1,
    requestId: 'r',
  };
  await store.runs.create(run);
  await expect.poll(() => woken).toEqual(['svc_task run']);
  const [task, ...others] = await worker.fetch<TaskData>('run', { batchSize: 10 });
  expect(others).toEqual([]);
  expect(task).toMatchObject({ id: run.id, data: { id: run.id, request_id: 'r' } });
});

it('has the queues as the workers expect them, also those that an older version made', async () => {
  await worker.updateQueue('run', { retryLimit: 9, retryBackoff: false });
  await worker.deleteQueue('import');
  await migrate(database.url);
  const queues = await worker.getQueues();
  expect(queues.map(({ name }) => name).sort()).toEqual(['import', 'run', 'upload']);
  for (const queue of queues) expect(queue).toMatchObject(QUEUE_OPTIONS);
});

it('leaves no task of work that was rolled back', async () => {
  const id = randomUUID();
  const answer = () => {
    throw new Error('no answer');
  };
  const job = { id, kind: 'import', request: '{}', requestId: null } as const;
  const idempotency = { claim: { key: 'k', token: randomUUID() }, answer };
  await expect(store.jobs.create(job, { idempotency })).rejects.toThrow('no answer');
  expect(await worker.getJobById('import', id)).toBeNull();
});
