import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../../tools/vitest/until.ts';
import { type FakeProvider, startFakeProvider } from './fake-provider.ts';
import {
  type Body,
  runEnded,
  startTestService,
  type TestService,
  type TestServiceOptions,
} from './start-test-service.ts';

let cleanUp: AsyncDisposableStack;
let provider: FakeProvider;
beforeEach(async () => {
  cleanUp = new AsyncDisposableStack();
  // the provider responds to the first two items only
  provider = cleanUp.use(
    await startFakeProvider((prompt) => (Number(prompt) < 2 ? { text: prompt } : 'hang')),
  );
});
afterEach(() => cleanUp.disposeAsync());

async function serve(options?: TestServiceOptions): Promise<TestService> {
  return cleanUp.use(await startTestService(options));
}

const items = Array.from({ length: 20 }, (_, index) => ({
  type: 'exact',
  inputs: { prompt: String(index) },
  answer: String(index),
}));

/** A run with two results and calls in flight. */
async function startHangingRun(service: TestService, concurrency = 6): Promise<Body> {
  const { body: run } = await service.post('/runs', {
    dataset_id: await service.importItems(items),
    config: {
      provider: { type: 'openai_compatible', base_url: provider.baseUrl, model: 'm' },
      concurrency,
    },
  });
  await until(
    () => service.get(`/runs/${run.id}`),
    ({ body }) => body.counts.done === 2,
  );
  await until(provider.waiting, (waiting) => waiting === concurrency);
  return run;
}

const setInterval = (service: TestService, ms: number): Promise<unknown> =>
  service.patch('/settings', { cancellation_check_interval_ms: ms });

async function expectCancelled(service: TestService, id: string): Promise<void> {
  const ended = await runEnded(service, id);
  expect(ended).toMatchObject({
    status: 'cancelled',
    counts: { total: 20, done: 2, ok: 2 },
    error: null,
    cancel_requested_at: expect.any(String),
  });
  const { body: results } = await service.get(`/runs/${id}/results`);
  expect(results.data.map((result: Body) => result.output)).toEqual(['0', '1']);
  await until(provider.waiting, (waiting) => waiting === 0);
  expect(provider.aborted()).toBeGreaterThan(0);
}

describe('cancelling a run with calls in flight', () => {
  it('takes effect by notification, long before the next check', async () => {
    const service = await serve();
    await setInterval(service, 60_000);
    const run = await startHangingRun(service);
    // the check at the start of the run has ended
    const checks = await until(
      () => service.sample('runs_cancel_poll_count'),
      (count) => count > 0,
    );
    const answer = await service.post(`/runs/${run.id}/cancel`);
    expect(answer).toMatchObject({ status: 202, body: { id: run.id, status: 'cancelling' } });
    await expectCancelled(service, run.id);
    await expect.poll(() => service.sample('runs_cancel_poll_count')).toBe(checks);
    await expect.poll(() => service.sample('svc_runs_total{status="cancelled"}')).toBe(1);
  });

  it('takes effect with the next check where no notification arrives', async () => {
    const service = await serve({ blockNotifications: true });
    await setInterval(service, 250);
    const run = await startHangingRun(service);
    const checks = await service.sample('runs_cancel_poll_count');
    await service.post(`/runs/${run.id}/cancel`);
    await expectCancelled(service, run.id);
    const needed = (await service.sample('runs_cancel_poll_count')) - checks;
    expect(needed).toBeGreaterThanOrEqual(1);
    // a check between two samples counts in one of them
    const queriesBeyondChecks = async (): Promise<number> =>
      (await service.sample('runs_cancel_poll_db_queries_total')) -
      (await service.sample('runs_cancel_poll_count'));
    await expect.poll(queriesBeyondChecks).toBe(0);
  });

  it('is harmless a second time and after the end', async () => {
    const service = await serve();
    const run = await startHangingRun(service);
    const [one, two] = await Promise.all([
      service.post(`/runs/${run.id}/cancel`),
      service.post(`/runs/${run.id}/cancel`),
    ]);
    expect([one.status, two.status]).toEqual([202, 202]);
    await expectCancelled(service, run.id);
    const before = (await service.get(`/runs/${run.id}`)).body;
    const again = await service.post(`/runs/${run.id}/cancel`);
    expect(again.status).toBe(202);
    expect(before).toMatchObject({ status: again.body.status, finished_at: again.body.finished_at });
    expect((await service.get(`/runs/${run.id}`)).body).toEqual(before);
  });

  it('leaves a run that has completed as it is', async () => {
    const service = await serve();
    const { body: run } = await service.post('/runs', {
      dataset_id: await service.importItems(items),
      config: { provider: 'echo', allow_unscored: true },
    });
    const ended = await runEnded(service, run.id);
    const answer = await service.post(`/runs/${run.id}/cancel`);
    expect(answer).toMatchObject({ status: 409, body: { code: 'run_finished' } });
    expect((await service.get(`/runs/${run.id}`)).body).toEqual(ended);
  });

  it('immediately ends a run that no worker has claimed', async () => {
    const service = await serve();
    await service.worker.stop(AbortSignal.timeout(1000));
    const { body: run } = await service.post('/runs', {
      dataset_id: await service.importItems(items),
      config: { provider: 'echo', allow_unscored: true },
    });
    const answer = await service.post(`/runs/${run.id}/cancel`);
    expect(answer).toMatchObject({ status: 202, body: { status: 'cancelled' } });
  });

  it('stops a run whose dataset is deleted', async () => {
    const service = await serve();
    const run = await startHangingRun(service);
    await fetch(`${service.url}/datasets/${run.dataset_id}`, { method: 'DELETE' });
    await until(provider.waiting, (waiting) => waiting === 0);
    expect((await service.get(`/runs/${run.id}`)).status).toBe(404);
    await until(service.workerLog, (lines) => lines.some(({ event }) => event === 'job.cancel'));
    expect(await service.store.queueSizes()).toMatchObject({ queued: 0, retry: 0, running: 0, failed: 0 });
  });
});

it('asks the database once an interval for fifty runs', async () => {
  const service = await serve({ env: { SVC_RUN_CONCURRENCY: '50' } });
  await setInterval(service, 250);
  const dataset_id = await service.importItems(items);
  const config = {
    provider: { type: 'openai_compatible', base_url: provider.baseUrl, model: 'm' },
    concurrency: 1,
    // the first request waits until the last run has begun
    timeout_ms: 300_000,
  };
  const ids: string[] = [];
  while (ids.length < 50) {
    const { status, body } = await service.post('/runs', { dataset_id, config });
    expect(status, JSON.stringify(body)).toBe(202);
    ids.push(body.id);
  }
  await until(provider.waiting, (waiting) => waiting === 50);
  const working = (await service.get('/runs?status=running&limit=100')).body.meta.total_items;
  expect(working).toBe(50);

  service.metrics.resetForTesting();
  const startedAt = performance.now();
  await until(
    () => service.sample('runs_cancel_poll_count'),
    (count) => count >= 8,
  );
  // in this order: a check may end between the two
  const queries = await service.sample('runs_cancel_poll_db_queries_total');
  const checks = await service.sample('runs_cancel_poll_count');
  const intervals = (performance.now() - startedAt) / 250;
  expect(checks).toBeLessThanOrEqual(Math.ceil(intervals) + 1);
  expect(queries).toBeLessThanOrEqual(checks + 1);

  const id = ids[17] as string;
  await service.post(`/runs/${id}/cancel`);
  await runEnded(service, id);
  await until(provider.waiting, (waiting) => waiting === 49);
  expect((await service.get('/runs?status=running&limit=100')).body.meta.total_items).toBe(49);
});

describe('the interval of the checks', () => {
  it('changes without a restart', async () => {
    const service = await serve({ blockNotifications: true });
    await setInterval(service, 5_000);
    await startHangingRun(service);
    await setInterval(service, 250);
    await until(
      () => service.sample('runs_cancel_poll_count'),
      (count) => count >= 2,
    );
    service.metrics.resetForTesting();
    // nine checks at the old interval take longer than this waits
    await until(
      () => service.sample('runs_cancel_poll_count'),
      (count) => count >= 9,
      40_000,
    );
    expect((await service.get('/settings')).body.cancellation_check_interval_ms).toBe(250);
  });

  it('is between 250 and 60,000 milliseconds, a whole number', async () => {
    const service = await serve();
    for (const value of [249, 60_001, 0, -1, 250.5, '1000', null]) {
      const answer = await service.patch('/settings', { cancellation_check_interval_ms: value });
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
      expect((await service.get('/settings')).body.cancellation_check_interval_ms).toBe(2000);
    }
    for (const value of [250, 60_000]) {
      const answer = await service.patch('/settings', { cancellation_check_interval_ms: value });
      expect(answer).toMatchObject({ status: 200, body: { cancellation_check_interval_ms: value } });
    }
  });
});
