import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate } from '../../../packages/service/src/store/migrate/migrate.ts';
import {
  type Cluster,
  NO_PGBOUNCER,
  startCluster,
} from '../../../packages/service/test/store/postgres-cluster.ts';
import { queryDatabase } from '../../../packages/service/test/store/query-database.ts';
import { sessionStates } from '../../../packages/service/test/store/session-states.ts';
import { until } from '../../../tools/vitest/until.ts';
import { makePackage, uploadForm } from '../../api/test/make-package.ts';
import { runEnded, startTestService, type TestService } from './start-test-service.ts';

/** Sessions of the server that every client shares. */
const SESSIONS = 6;

describe.runIf(NO_PGBOUNCER === undefined)('behind PgBouncer in transaction mode', () => {
  let cleanUp: AsyncDisposableStack;
  let cluster: Cluster;
  let url: string;
  let service: TestService;

  beforeAll(async () => {
    cleanUp = new AsyncDisposableStack();
    cluster = cleanUp.use(await startCluster());
    url = await cluster.startPooler(SESSIONS);
    service = await startService();
  });
  afterAll(() => cleanUp.disposeAsync());

  const startService = async (env: Readonly<Record<string, string>> = {}): Promise<TestService> =>
    cleanUp.use(await startTestService({ databaseUrl: url, env: { DATABASE_URL: url, ...env } }));

  it('migrates', async () => {
    await cluster.primary.query('CREATE DATABASE other OWNER svc');
    const other = url.replace(/svc$/, 'other');
    const outcomes = await Promise.all([migrate(other), migrate(other)]);
    expect(outcomes.map(({ applied }) => applied.length > 0).sort()).toEqual([false, true]);
    expect((await migrate(other)).applied).toEqual([]);
    // the sessions of the migrations take a moment to end
    await expect
      .poll(() => cluster.primary.query("SELECT FROM pg_locks WHERE locktype = 'advisory'"))
      .toEqual([]);
  });

  it('stores, lists, searches, exports, compares and deletes datasets', async () => {
    // So many files that an import needs a temporary table for them.
    const lines = Array.from({ length: 2_100 }, (_, id) => {
      const data = Buffer.from(`image ${id}`).toString('base64');
      const assets = { f: { data, encoding: 'base64', mime_type: 'image/png' } };
      return JSON.stringify({ assets, id, inputs: { prompt: `question ${id}` } });
    });
    const archive = await makePackage({ 'sections/s.jsonl': `${lines.join('\n')}\n` });
    const ids = await Promise.all(
      ['a', 'b', 'c'].map(async (name) => {
        const { status, body } = await service.post('/datasets/upload', uploadForm(archive, { name }));
        expect(status).toBe(201);
        return body.id as string;
      }),
    );
    const [id, other] = ids;
    const responses = await Promise.all([
      ...Array.from({ length: 5 }, () => service.get('/datasets')),
      ...Array.from({ length: 5 }, () => service.get(`/datasets/${id}/items?q=question%201&limit=3`)),
      service.get(`/datasets/${id}/items.jsonl`),
      service.get(`/datasets/${id}/diff/${other}`),
      service.patch(`/datasets/${id}`, { name: 'renamed' }),
      service.patch('/settings', { cancellation_check_interval_ms: 300 }),
    ]);
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
    expect(responses[10]?.body === `${lines.join('\n')}\n`).toBe(true);
    const exported = await fetch(`${service.url}/datasets/${id}/export`);
    expect((await exported.arrayBuffer()).byteLength).toBeGreaterThan(1_000);
    expect((await service.delete(`/datasets/${other}`)).status).toBe(204);
  });

  it('imports in the background, runs, cancels, and repeats a response', async () => {
    const archive = await makePackage({ 'sections/s.jsonl': '{"answer":"a","id":1,"type":"exact"}\n' });
    const { body: job } = await service.post('/datasets/upload', uploadForm(archive, { name: 'job' }), {
      prefer: 'respond-async',
    });
    const { body: ended } = await until(
      () => service.get(`/jobs/${job.id}`),
      ({ body }) => body.finished_at !== null,
    );
    expect(ended.status).toBe('succeeded');
    const body = {
      dataset_id: ended.dataset_id,
      config: { provider: { type: 'item_field', pointer: '/answer' } },
    };
    const key = { 'idempotency-key': randomUUID() };
    const started = await Promise.all([service.post('/runs', body, key), service.post('/runs', body, key)]);
    expect(started[0]?.body).toEqual(started[1]?.body);
    const first = await runEnded(service, started[0]?.body.id);
    expect(first).toMatchObject({ status: 'completed', counts: { ok: 1 } });
    const second = await runEnded(service, (await service.post('/runs', body)).body.id);
    expect((await service.get(`/runs/${first.id}/compare/${second.id}`)).status).toBe(200);

    const silent = { type: 'openai_compatible', base_url: 'http://127.0.0.1:9', model: 'm' };
    const { body: run } = await service.post('/runs', { ...body, config: { provider: silent } });
    await service.post(`/runs/${run.id}/cancel`);
    expect(await runEnded(service, run.id)).toMatchObject({ finished_at: expect.any(String) });
  });

  it('wakes for tasks immediately with a direct address', async () => {
    await startService({ DATABASE_DIRECT_URL: cluster.primary.url });
    const rows = await until(
      () =>
        cluster.primary.query(
          "SELECT query FROM pg_stat_activity WHERE application_name = 'svc-listen' AND query LIKE 'LISTEN%'",
        ),
      (found) => found.length > 0,
    );
    expect(rows).toHaveLength(1);
  });

  it('limits the time of statements, and leaves nothing in a session', async () => {
    const states = await sessionStates(url, SESSIONS);
    expect(new Set(states.map(({ pid }) => pid)).size).toBe(SESSIONS);
    for (const state of states)
      expect(state).toMatchObject({ timeout: '0', channels: 0, statements: 0, tables: 0 });

    await queryDatabase(url, 'ALTER TABLE sections RENAME TO slow_sections');
    await queryDatabase(
      url,
      'CREATE VIEW sections AS SELECT s.* FROM slow_sections s, (SELECT pg_sleep(60) OFFSET 0) AS late',
    );
    const slow = cleanUp.use(
      await startTestService({ databaseUrl: url, statementTimeoutMs: 2000, worker: false }),
    );
    expect(await slow.get('/datasets')).toMatchObject({ status: 503, body: { code: 'unavailable' } });
  });
});

it.runIf(NO_PGBOUNCER !== undefined)('needs PgBouncer', ({ skip }) => skip(NO_PGBOUNCER));
