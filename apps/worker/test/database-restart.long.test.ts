import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { queryDatabase } from '../../../packages/service/test/store/query-database.ts';
import { startTcpProxy } from '../../../packages/service/test/store/tcp-proxy.ts';
import { until } from '../../../tools/vitest/until.ts';
import { makePackage, uploadForm } from '../../api/test/make-package.ts';
import { runService } from '../../standalone/test/faults/run-service.ts';
import { type FaultyDatabase, startDatabase } from '../../standalone/test/faults/start-database.ts';
import { startFakeProvider } from './fake-provider.ts';
import { runEnded, startTestService } from './start-test-service.ts';

let cleanUp: AsyncDisposableStack;
beforeEach(() => {
  cleanUp = new AsyncDisposableStack();
});
afterEach(() => cleanUp.disposeAsync());

/** Always at the same URL; each test leaves it running. */
let database: FaultyDatabase;
beforeAll(async () => {
  database = await startDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

const items = Array.from({ length: 200 }, (_, index) => ({
  type: 'exact',
  inputs: { prompt: String(index) },
  answer: String(index),
}));

it('continues after the database was restarted, without a restart of the service', async () => {
  const provider = cleanUp.use(
    await startFakeProvider((prompt) => (Number(prompt) < 40 ? { text: prompt } : 'hang')),
  );
  const service = cleanUp.use(await startTestService({ databaseUrl: database.url }));
  await service.patch('/settings', { cancellation_check_interval_ms: 60_000 });
  const config = { provider: { type: 'openai_compatible', base_url: provider.baseUrl, model: 'm' } };
  const dataset_id = await service.importItems(items);
  const { body: run } = await service.post('/runs', { dataset_id, config });
  await until(
    () => service.get(`/runs/${run.id}`),
    ({ body }) => body.counts.done === 40,
  );

  await database.stop();
  const form = uploadForm(await makePackage({ 'sections/a.jsonl': '{}\n' }));
  const during = [
    await service.get('/datasets'),
    await service.get(`/runs/${run.id}`),
    await service.get('/settings'),
    await service.post('/runs', { dataset_id, config }),
    await service.post(`/runs/${run.id}/cancel`),
    await service.post('/datasets/upload', form),
    await service.post('/datasets/upload', form, { prefer: 'respond-async' }),
    await service.post('/datasets/upload', form, { 'idempotency-key': 'k' }),
  ];
  for (const { status, headers, body } of during) {
    expect({ status, code: body.code }).toEqual({ status: 503, code: 'unavailable' });
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(JSON.stringify(body)).not.toMatch(/ECONN|postgres|127\.0\.0\.1/);
  }
  const away = { ok: false, reason: 'unreachable' };
  const notReady = { database: away, queue: away, accepting: { ok: true } };
  await expect
    .poll(() => service.get('/readyz'), { timeout: 5_000 })
    .toMatchObject({ status: 503, body: { checks: notReady } });
  await expect
    .poll(async () => (await fetch(`${service.worker.url}/readyz`)).status, { timeout: 5_000 })
    .toBe(503);
  expect((await service.get('/healthz')).status).toBe(200);
  const metrics = await service.get('/metrics');
  expect(metrics.status).toBe(200);
  expect(metrics.body).toContain('svc_ready{check="database"} 0');
  expect(metrics.body).toContain('svc_ready{check="accepting"} 1');
  // the provider responds while the database is unavailable
  provider.release();
  await until(service.workerLog, (lines) => lines.some(({ event }) => event === 'job.hand_back'));

  await database.start();
  const ended = await runEnded(service, run.id, 120_000);
  expect(ended).toMatchObject({ status: 'completed', counts: { total: 200, done: 200, ok: 200 } });
  const [stored] = await queryDatabase(database.url, 'SELECT count(*)::int AS results FROM run_results');
  expect(stored).toEqual({ results: 200 });
  const hanging = cleanUp.use(await startFakeProvider(() => 'hang'));
  await until(
    () => fetch(`${service.worker.url}/readyz`),
    ({ status }) => status === 200,
  );
  expect((await service.get('/readyz')).status).toBe(200);

  // new runs are taken, and a cancellation arrives by notification: the next check is a minute away
  const again = { provider: { ...config.provider, base_url: hanging.baseUrl } };
  const { body: second } = await service.post('/runs', { dataset_id, config: again });
  await until(hanging.waiting, (waiting) => waiting === 8);
  await service.post(`/runs/${second.id}/cancel`);
  expect(await runEnded(service, second.id)).toMatchObject({ status: 'cancelled' });
  const waited = await service.post('/datasets/upload', form, { 'idempotency-key': 'k' });
  expect(waited.status).toBe(201);

  const outages = service.workerLog().filter(({ event }) => event === 'queue.error');
  expect(outages.length).toBeGreaterThan(0);
  expect(JSON.stringify([service.workerLog(), service.apiLog()])).not.toContain(
    new URL(database.url).password,
  );
});

it('a worker waits for a database that comes later, logs an outage once, and is not ready until it is over', async () => {
  await database.stop();
  const worker = cleanUp.use(await runService({ app: 'worker', env: { DATABASE_URL: database.url } }));
  const ready = (): Promise<Response> => fetch(`${worker.url}/readyz`);
  expect((await fetch(`${worker.url}/healthz`)).status).toBe(200);
  expect((await ready()).status).toBe(503);

  await database.start();
  await until(ready, ({ status }) => status === 200);
  const service = cleanUp.use(await startTestService({ databaseUrl: database.url, worker: false }));
  const dataset_id = await service.importItems([{ inputs: { prompt: 'p' } }]);
  const { body: run } = await service.post('/runs', {
    dataset_id,
    config: { provider: 'echo', allow_unscored: true },
  });
  expect(await runEnded(service, run.id)).toMatchObject({ status: 'completed' });

  const outages = (): number => worker.log().filter((line) => line['event'] === 'queue.error').length;
  const before = outages();
  await database.stop();
  // a good answer lasts for a second
  await until(ready, ({ status }) => status === 503);
  // longer than two heartbeats
  for (const end = performance.now() + 8_000; performance.now() < end; ) {
    expect((await ready()).status).toBe(503);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  await database.start();
  await until(ready, ({ status }) => status === 200);
  expect(outages()).toBe(before + 1);
  expect(await worker.end('SIGTERM')).toBe(0);
});

it('a worker that still waits for its database stops at SIGTERM', async () => {
  const proxy = cleanUp.use(await startTcpProxy(null));
  const url = `postgresql://svc@127.0.0.1:${proxy.port}/svc`;
  const worker = cleanUp.use(await runService({ app: 'worker', env: { DATABASE_URL: url } }));
  expect(await worker.end('SIGTERM')).toBe(0);
  expect(worker.log().at(-1)).toMatchObject({ event: 'server.stop', exit_code: 0 });
});
