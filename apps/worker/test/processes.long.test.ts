import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { queryDatabase } from '../../../packages/service/test/store/query-database.ts';
import { startTcpProxy } from '../../../packages/service/test/store/tcp-proxy.ts';
import { until } from '../../../tools/vitest/until.ts';
import { makePackage, uploadForm } from '../../api/test/make-package.ts';
import { runService, type ServiceProcess } from '../../standalone/test/faults/run-service.ts';
import { expireLeases } from './expire-leases.ts';
import { startFakeProvider } from './fake-provider.ts';
import { type Body, runEnded, startTestService, type TestService } from './start-test-service.ts';

let cleanUp: AsyncDisposableStack;
let service: TestService;
beforeEach(async () => {
  cleanUp = new AsyncDisposableStack();
  service = cleanUp.use(await startTestService({ worker: false }));
});
afterEach(() => cleanUp.disposeAsync());

async function start(env: Readonly<Record<string, string>> = {}): Promise<ServiceProcess> {
  return cleanUp.use(await runService({ app: 'worker', env: { DATABASE_URL: service.databaseUrl, ...env } }));
}
const has =
  (event: string) =>
  ({ log }: ServiceProcess): boolean =>
    log().some((line) => line['event'] === event);

/** A worker that died is noticed, and its work has begun elsewhere, within this. */
const RECOVERY_MS = 60_000;

const items = Array.from({ length: 300 }, (_, index) => ({
  id: index,
  type: 'exact',
  inputs: { prompt: String(index) },
  answer: String(index),
}));

describe('two worker processes', () => {
  it('finish a run whose worker is killed, each result once', async () => {
    // half of the items get no answer before the worker is killed
    const provider = cleanUp.use(
      await startFakeProvider((prompt) => (Number(prompt) < 150 ? { text: prompt, delayMs: 5 } : 'hang')),
    );
    const workers = [await start(), await start()];
    const { body: run } = await service.post('/runs', {
      dataset_id: await service.importItems(items),
      config: {
        provider: { type: 'openai_compatible', base_url: provider.baseUrl, model: 'm' },
        concurrency: 4,
      },
    });
    await until(
      () => service.get(`/runs/${run.id}`),
      ({ body }) => body.counts.done >= 60,
    );
    const first = workers.find(has('worker.run.start')) as ServiceProcess;
    await first.end('SIGKILL');
    await expireLeases(service.databaseUrl);
    provider.release();
    const { body: left } = await service.get(`/runs/${run.id}`);
    expect(left.counts.done).toBeLessThan(300);
    const kept = await queryDatabase(service.databaseUrl, 'SELECT order_index FROM run_results');

    const ended = await runEnded(service, run.id, 2 * RECOVERY_MS);
    expect(ended).toMatchObject({
      status: 'completed',
      counts: { total: 300, done: 300, ok: 300 },
      scores: { mean: 1, passed: 300 },
    });
    const stored = await queryDatabase(
      service.databaseUrl,
      'SELECT count(*)::int AS results, count(DISTINCT order_index)::int AS items FROM run_results',
    );
    expect(stored).toEqual([{ results: 300, items: 300 }]);
    // what was stored at the kill was not asked again
    for (const { order_index } of kept) expect(provider.asked.get(String(order_index))).toBe(1);
    const second = workers.find((worker) => worker !== first) as ServiceProcess;
    expect(second.log().find((line) => line['event'] === 'worker.run.start')).toMatchObject({
      run_id: run.id,
      request_id: expect.any(String),
      attempt: 2,
    });
    expect(has('job.recover')(second)).toBe(true);
  });

  // Leases and pauses take real time; retry-run.test.ts of the store has the short form.
  it('retry and rescore a run, each result once, although worker, database and provider fail', {
    timeout: 240_000,
  }, async () => {
    const some = items.slice(0, 120);
    let isUp = false;
    const provider = cleanUp.use(
      await startFakeProvider((prompt, attempt) => {
        // The judge's questions have their parts between marks.
        if (prompt.includes('<<<')) return { text: '{"score": 0.5}', delayMs: 20 };
        const number = Number(prompt);
        if (isUp) return number % 30 === 1 && attempt === 2 ? 'break' : { text: prompt, delayMs: 20 };
        return number % 2 === 0 ? { text: prompt } : { status: 400 };
      }),
    );
    const line = cleanUp.use(await startTcpProxy(null));
    const revive = (): void => {
      line.target = provider.baseUrl.replace('http:', 'postgresql:');
    };
    revive();
    const model = { base_url: `http://127.0.0.1:${line.port}/v1`, model: 'm' };
    const workers = [await start(), await start()];
    const { body: run } = await service.post('/runs', {
      dataset_id: await service.importItems(some),
      config: {
        ...{ provider: { type: 'openai_compatible', ...model }, concurrency: 4 },
        ...{ max_consecutive_failures: 1_000, max_retries: 20 },
      },
    });
    const current = async (id: string): Promise<Body> => (await service.get(`/runs/${id}`)).body;
    /** When a worker took the run last. */
    const takenAt = (id: string, { log }: ServiceProcess): string =>
      String(
        log().findLast((line) => line['event'] === 'worker.run.start' && line['run_id'] === id)?.[
          'timestamp'
        ] ?? '',
      );
    /** Kills the provider, the worker of the run, then the connections of the database, while the run works. */
    const endWithFaults = async (id: string, isHalf: (run: Body) => boolean): Promise<Body> => {
      await until(() => current(id), isHalf);
      line.target = null;
      line.cut();
      const [first] = workers.toSorted((one, other) => (takenAt(id, one) < takenAt(id, other) ? 1 : -1)) as [
        ServiceProcess,
      ];
      await first.end('SIGKILL');
      workers.splice(workers.indexOf(first), 1);
      await expireLeases(service.databaseUrl);
      await until(
        () => workers,
        (left) => left.some(has('job.recover')),
        RECOVERY_MS,
      );
      const killed = await current(id);
      expect(killed).toMatchObject({ finished_at: null });
      await queryDatabase(
        service.databaseUrl,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()`,
      );
      const unavailable = async (): Promise<boolean> => {
        const pages = await Promise.all(
          workers.map(async ({ url }) => (await fetch(`${url}/metrics`)).text()),
        );
        return pages.some((page) => /svc_provider_requests_total\{outcome="unavailable"\} [1-9]/.test(page));
      };
      await until(unavailable, Boolean);
      revive();
      await until(
        async () =>
          (await queryDatabase(service.databaseUrl, 'SELECT finished_at FROM runs WHERE id = $1', [id]))[0],
        (row) => row?.['finished_at'] !== null,
        RECOVERY_MS,
      );
      return await current(id);
    };
    const positions = async (id: string): Promise<unknown[]> =>
      await queryDatabase(
        service.databaseUrl,
        'SELECT count(*)::int AS results, count(DISTINCT order_index)::int AS items FROM run_results WHERE run_id = $1',
        [id],
      );

    expect(await runEnded(service, run.id)).toMatchObject({ counts: { ok: 60, failed: 60 } });
    isUp = true;
    await service.post(`/runs/${run.id}/retry`, { only: 'failed' });
    const retried = await endWithFaults(run.id, ({ counts }) => counts.failed <= 40);
    expect(retried).toMatchObject({
      status: 'completed',
      counts: { total: 120, done: 120, ok: 120, failed: 0 },
      scores: { mean: 1, passed: 120 },
    });
    expect(await positions(run.id)).toEqual([{ results: 120, items: 120 }]);
    // what had passed before is not asked again
    for (let index = 0; index < 120; index += 2) expect(provider.asked.get(String(index))).toBe(1);

    workers.push(await start());
    const { body: rescored } = await service.post(`/runs/${run.id}/rescore`, {
      checker: 'judge',
      judge: model,
    });
    const scored = await endWithFaults(rescored.id, ({ counts }) => counts.done >= 30);
    expect(scored).toMatchObject({
      status: 'completed',
      counts: { total: 120, done: 120, ok: 120 },
      scores: { mean: 0.5 },
    });
    expect(await positions(rescored.id)).toEqual([{ results: 120, items: 120 }]);
  });

  it('import very many rows although the first worker dies, with progress that only grows', {
    timeout: 240_000,
  }, async () => {
    const workers = [await start(), await start()];
    const rows = 1_000_000;
    const lines = Array.from({ length: rows }, (_, index) => `{"inputs":{"prompt":"${index}"}}`);
    const archive = await makePackage({ 'sections/a.jsonl': lines.join('\n') });
    const { body: accepted } = await service.post('/datasets/upload', uploadForm(archive), {
      prefer: 'respond-async',
    });
    const seen: Body[] = [];
    const job = async (): Promise<Body> => {
      const { body } = await service.get(`/jobs/${accepted.id}`);
      seen.push(body);
      return body;
    };
    await until(job, ({ progress }) => progress.rows_done > rows / 10, 60_000);
    const first = workers.find(has('dataset.import.start')) as ServiceProcess;
    await first.end('SIGKILL');
    await expireLeases(service.databaseUrl);
    const second = workers.find((worker) => worker !== first) as ServiceProcess;
    await until(() => second, has('dataset.import.start'), RECOVERY_MS);

    const ended = await until(job, ({ finished_at }) => finished_at !== null, 120_000);
    expect(ended).toMatchObject({
      status: 'succeeded',
      progress: { rows_done: rows, rows_total: rows },
    });
    for (const part of ['rows_done', 'bytes_done']) {
      const values = seen.map(({ progress }) => progress[part]);
      expect(values).toEqual(values.toSorted((a, b) => a - b));
    }
    const stored = await queryDatabase(
      service.databaseUrl,
      'SELECT (SELECT count(*)::int FROM datasets) AS datasets, (SELECT count(*)::int FROM items) AS items',
    );
    expect(stored).toEqual([{ datasets: 1, items: rows }]);
  });
});

describe('a worker process that stops', () => {
  it('releases its run, which does not count as an attempt', async () => {
    let hold = true;
    const provider = cleanUp.use(
      await startFakeProvider((prompt) => (hold && Number(prompt) >= 10 ? 'hang' : { text: prompt })),
    );
    const { body: run } = await service.post('/runs', {
      dataset_id: await service.importItems(items.slice(0, 30)),
      config: { provider: { type: 'openai_compatible', base_url: provider.baseUrl, model: 'm' } },
    });
    // in the long form more often than a task may fail
    for (let time = 1; time <= 4; time++) {
      const worker = await start();
      await until(provider.waiting, (waiting) => waiting === 8);
      expect(await worker.end('SIGTERM')).toBe(0);
      expect(worker.log().find((line) => line['event'] === 'job.hand_back')).toMatchObject({
        kind: 'run',
        attempt: 1,
        reason: 'stopping',
      });
      expect(worker.log().at(-1)).toMatchObject({ event: 'server.stop', exit_code: 0 });
      expect((await service.get(`/runs/${run.id}`)).body.status).toBe('running');
    }
    hold = false;
    await start();
    expect(await runEnded(service, run.id)).toMatchObject({
      status: 'completed',
      counts: { done: 30, ok: 30 },
    });
  });

  it('finishes the import that it has', async () => {
    const worker = await start();
    const lines = Array.from({ length: 30_000 }, (_, index) => `{"inputs":{"prompt":"${index}"}}`);
    const { body: accepted } = await service.post(
      '/datasets/upload',
      uploadForm(await makePackage({ 'sections/a.jsonl': lines.join('\n') })),
      { prefer: 'respond-async' },
    );
    await until(() => worker, has('dataset.import.start'));
    expect(await worker.end('SIGTERM')).toBe(0);
    expect((await service.get(`/jobs/${accepted.id}`)).body.status).toBe('succeeded');
  });
});

describe('a worker process', () => {
  it('explains why it cannot start', async () => {
    await expect(start({ DATABASE_URL: '' })).rejects.toThrow(/ended with 78 .*DATABASE_URL is missing/s);
    await expect(start({ SVC_WORKER_PORT: 'x' })).rejects.toThrow(/ended with 78 .*SVC_WORKER_PORT/s);
  });
});
