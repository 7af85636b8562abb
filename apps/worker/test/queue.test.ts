import { afterEach, beforeEach, expect, it } from 'vitest';
import { queryDatabase } from '../../../prisma/test/query-database.ts';
import { runEnded, startTestService, type TestService, until } from './start-test-service.ts';

let service: TestService;
beforeEach(async () => {
  service = await startTestService({ worker: false });
});
afterEach(() => service[Symbol.asyncDispose]());

it('ends what the last worker that took it died over', async () => {
  const dataset_id = await service.importItems([{ inputs: { prompt: 'p' } }]);
  const { body: run } = await service.post('/runs', { dataset_id, config: { provider: 'echo' } });
  const { body: job } = await service.post(
    '/datasets/hub/import',
    { name: 'n', config: { path: 'o/d', token: 'hf_planted' }, mapping: { prompt_column: 'question' } },
    { prefer: 'respond-async' },
  );
  // as the queue leaves a task whose third worker fell silent
  await queryDatabase(service.databaseUrl, `UPDATE pgboss.job SET state = 'failed', completed_on = now()`);
  await queryDatabase(service.databaseUrl, `UPDATE runs SET created_at = created_at - interval '2 minutes'`);
  await queryDatabase(service.databaseUrl, `UPDATE jobs SET created_at = created_at - interval '2 minutes'`);
  await using another = await startTestService({ databaseUrl: service.databaseUrl });

  expect(await runEnded(service, run.id)).toMatchObject({ status: 'failed', error: { code: 'worker_lost' } });
  const { body: ended } = await until(
    () => service.get(`/jobs/${job.id}`),
    ({ body }) => body.finished_at !== null,
  );
  expect(ended).toMatchObject({ status: 'failed', error: { code: 'worker_lost', status: 500 } });
  const [row] = await queryDatabase(service.databaseUrl, 'SELECT sealed_token FROM jobs');
  expect(row.sealed_token).toBeNull();
  const told = another.workerLog().filter(({ event }) => event === 'job.fail');
  expect(told).toMatchObject([
    { kind: 'run', job_id: run.id, code: 'worker_lost' },
    { kind: 'import', job_id: job.id, code: 'worker_lost' },
  ]);
});

it('cannot work on a database that was not migrated', async () => {
  const name = `svc_empty_${process.pid}`;
  await queryDatabase(service.databaseUrl, `CREATE DATABASE ${name}`);
  const url = new URL(service.databaseUrl);
  url.pathname = `/${name}`;
  await expect(startTestService({ databaseUrl: url.href })).rejects.toThrow(/pg-boss/);
  await queryDatabase(service.databaseUrl, `DROP DATABASE ${name} WITH (FORCE)`);
});

it('shows in the metrics what waits and works', async () => {
  const dataset_id = await service.importItems([{ inputs: { prompt: 'p' } }]);
  await service.post('/runs', { dataset_id, config: { provider: 'echo' } });
  const { body } = await service.get('/metrics');
  expect(body).toContain('svc_queue_jobs{state="queued"} 1');
  expect(body).toContain('runs_cancel_poll_count 0');
});
