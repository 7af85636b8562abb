import { migrate } from '@svc/service/store';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createEmptyDatabase } from '../../../packages/service/test/store/empty-database.ts';
import { queryDatabase } from '../../../packages/service/test/store/query-database.ts';
import { until } from '../../../tools/vitest/until.ts';
import { startFakeProvider } from './fake-provider.ts';
import { runEnded, startTestService, type TestService } from './start-test-service.ts';

let service: TestService;
beforeEach(async () => {
  service = await startTestService({ worker: false });
});
afterEach(() => service[Symbol.asyncDispose]());

it('fails a run and a job whose third worker died', async () => {
  const dataset_id = await service.importItems([{ inputs: { prompt: 'p' } }]);
  const { body: run } = await service.post('/runs', {
    dataset_id,
    config: { provider: 'echo', allow_unscored: true },
  });
  const { body: job } = await service.post(
    '/datasets/hub/import',
    { name: 'n', config: { path: 'o/d', token: 'hf_planted' }, mapping: { prompt_column: 'question' } },
    { prefer: 'respond-async' },
  );
  for (const table of ['runs', 'jobs']) {
    await queryDatabase(
      service.databaseUrl,
      `UPDATE ${table} SET attempt = 3, failed_attempts = 2, status = 'running', lease_expires_at = now()`,
    );
  }
  await using another = await startTestService({ databaseUrl: service.databaseUrl });

  expect(await runEnded(service, run.id)).toMatchObject({
    status: 'failed',
    error: { code: 'worker_lost' },
  });
  const { body: ended } = await until(
    () => service.get(`/jobs/${job.id}`),
    ({ body }) => body.finished_at !== null,
  );
  expect(ended).toMatchObject({ status: 'failed', error: { code: 'worker_lost', status: 500 } });
  const [row] = await queryDatabase(service.databaseUrl, 'SELECT sealed_token FROM jobs');
  expect(row.sealed_token).toBeNull();
  const failures = await until(
    () => another.workerLog().filter(({ event }) => event === 'job.fail'),
    ({ length }) => length === 2,
  );
  expect(failures).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ kind: 'run', job_id: run.id, attempt: 3, code: 'worker_lost' }),
      expect.objectContaining({ kind: 'import', job_id: job.id, attempt: 3, code: 'worker_lost' }),
    ]),
  );
});

it('waits for a database that is not migrated yet, and works once it is', async () => {
  await using database = await createEmptyDatabase();
  {
    await using early = await startTestService({ databaseUrl: database.url });
    const probe = (path: string): Promise<Response> => fetch(`${early.worker.url}${path}`);
    expect((await probe('/healthz')).status).toBe(200);
    const unready = await probe('/readyz');
    expect(unready.status).toBe(503);
    expect(await unready.json()).toMatchObject({
      checks: {
        database: { ok: false, reason: 'not_migrated' },
        queue: { ok: false },
        accepting: { ok: true },
      },
    });
    await expect
      .poll(() => early.workerLog().filter(({ event }) => event === 'queue.error'))
      .toMatchObject([
        { error: { message: expect.stringMatching(/relation "(runs|jobs)" does not exist/) } },
      ]);

    await migrate(database.url);
    await until(
      () => probe('/readyz'),
      ({ status }) => status === 200,
    );
    const dataset_id = await early.importItems([{ inputs: { prompt: 'p' } }]);
    const { body: run } = await early.post('/runs', {
      dataset_id,
      config: { provider: 'echo', allow_unscored: true },
    });
    expect(await runEnded(early, run.id)).toMatchObject({ status: 'completed', counts: { done: 1 } });
  }
});

it('shows in the metrics what waits and works', async () => {
  const dataset_id = await service.importItems([{ inputs: { prompt: 'p' } }]);
  await service.post('/runs', { dataset_id, config: { provider: 'echo', allow_unscored: true } });
  const { body } = await service.get('/metrics');
  expect(body).toContain('svc_queue_jobs{state="queued"} 1');
  expect(body).toContain('runs_cancel_poll_count 0');
});

it('loses a run that another worker claims, and its later results do not count', async () => {
  await using provider = await startFakeProvider((prompt) =>
    Number(prompt) < 3 ? { text: prompt } : 'hang',
  );
  await using worker = await startTestService({ databaseUrl: service.databaseUrl });
  const items = Array.from({ length: 12 }, (_, index) => ({
    type: 'exact',
    inputs: { prompt: String(index) },
    answer: String(index),
  }));
  const { body: run } = await service.post('/runs', {
    dataset_id: await service.importItems(items),
    config: {
      provider: { type: 'openai_compatible', base_url: provider.baseUrl, model: 'm' },
      concurrency: 4,
    },
  });
  await until(provider.waiting, (waiting) => waiting === 4);
  // another worker claims the run, which this one still works on, and releases it
  await queryDatabase(
    service.databaseUrl,
    "UPDATE runs SET attempt = attempt + 1, lease_expires_at = NULL; SELECT pg_notify('svc_task', 'run')",
  );
  const starts = (event: string): number =>
    worker.workerLog().filter((line) => line['event'] === event).length;
  await until(
    () => starts('worker.run.start'),
    (count) => count === 2,
  );
  await until(provider.aborted, (aborted) => aborted === 4);
  provider.release();
  const ended = await runEnded(service, run.id);
  expect(ended).toMatchObject({ status: 'completed', counts: { done: 12, ok: 12 } });
  const [stored] = await queryDatabase(
    service.databaseUrl,
    'SELECT count(*)::int AS results FROM run_results',
  );
  expect(stored).toEqual({ results: 12 });
  expect(starts('worker.run.finish')).toBe(1);
});
