import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Cluster,
  type ClusterServer,
  NO_CLUSTER,
  startCluster,
} from '../../../prisma/test/postgres-cluster.ts';
import { times } from '../../../tools/vitest/long.ts';
import { makePackage, uploadForm } from '../../api/test/make-package.ts';
import { runEnded, startTestService, type TestService, until } from './start-test-service.ts';

describe.runIf(NO_CLUSTER === undefined)('reads from a replica', () => {
  let cleanUp: AsyncDisposableStack;
  let cluster: Cluster;
  let replica: ClusterServer;
  /** Two APIs, each with its own store, as separate processes are. */
  let one: TestService;
  let other: TestService;

  beforeAll(async () => {
    cleanUp = new AsyncDisposableStack();
    cluster = cleanUp.use(await startCluster());
    const delay = '50ms';
    replica = await cluster.startReplica({
      max_standby_streaming_delay: delay,
      max_standby_archive_delay: delay,
    });
    one = await startService(replica.url);
    other = await startService(replica.url, false);
    for (const service of [one, other]) await until(service.apiLog, endsWith('replica.current'));
  });
  afterAll(() => cleanUp.disposeAsync());

  async function startService(readUrl: string, worker = true): Promise<TestService> {
    const { url } = cluster.primary;
    const env = { DATABASE_URL: url, DATABASE_READ_URL: readUrl };
    return cleanUp.use(await startTestService({ databaseUrl: url, env, worker }));
  }
  const endsWith =
    (event: string) =>
    (log: readonly Readonly<Record<string, unknown>>[]): boolean =>
      log.findLast((line) => String(line['event']).startsWith('replica.'))?.['event'] === event;
  const reads = async ({ apiMetrics }: TestService, outcome: string): Promise<number> =>
    Number(new RegExp(`reads_total\\{outcome="${outcome}"\\} (\\d+)`).exec(await apiMetrics.render())?.[1]);
  /** Reads until the replica serves a read. */
  const servedByReplica = async (): Promise<void> => {
    const before = await reads(other, 'replica');
    await until(
      () => other.get('/datasets?limit=1').then(() => reads(other, 'replica')),
      (now) => now > before,
    );
  };
  /** Waits until the replica has replayed what the primary has written. */
  const replayed = async (): Promise<void> => {
    const [written] = await cluster.primary.query('SELECT pg_current_wal_insert_lsn() AS lsn');
    await until(
      () => replica.query(`SELECT pg_last_wal_replay_lsn() >= '${written?.['lsn']}' AS is_so`),
      ([replay]) => replay?.['is_so'] === true,
    );
  };
  const upload = async (service: TestService, name: string): Promise<string> => {
    const form = uploadForm(await makePackage({ 'sections/s.jsonl': '{"id":1}\n{"id":2}\n' }), { name });
    return (await service.post('/datasets/upload', form)).body.id;
  };
  /** What the other API tells about a dataset. */
  const look = async (id: string): Promise<unknown[]> => {
    const [found, list, items, lines] = await Promise.all(
      [`/datasets/${id}`, '/datasets?limit=1', `/datasets/${id}/items`, `/datasets/${id}/items.jsonl`].map(
        (path) => other.get(path),
      ),
    );
    return [found?.body.name, list?.body.data[0]?.id === id, items?.body.meta?.total_items, lines?.body];
  };
  const LINES = '{"id":1}\n{"id":2}\n';

  it('shows every write that has ended, of every process', async () => {
    for (let round = 0; round < times(10, 3); round += 1) {
      const id = await upload(one, `first ${round}`);
      expect(await look(id)).toEqual([`first ${round}`, true, 2, LINES]);
      await one.patch(`/datasets/${id}`, { name: 'renamed' });
      expect((await look(id))[0]).toBe('renamed');
      await one.delete(`/datasets/${id}`);
      expect((await other.get(`/datasets/${id}`)).status).toBe(404);
      expect((await other.get(`/datasets/${id}/export`)).status).toBe(404);
      expect((await other.get('/datasets')).body.meta.total_items).toBe(0);
    }
    expect(await reads(other, 'replica')).toBeGreaterThan(0);
  });

  it('reads from the primary while the replica is behind, and stays ready', async () => {
    const kept = await upload(one, 'kept');
    await replica.query('SELECT pg_wal_replay_pause()');
    const id = await upload(one, 'new');
    expect(await look(id)).toEqual(['new', true, 2, LINES]);
    expect(other.apiLog().findLast(({ event }) => event === 'replica.lost')).toMatchObject({
      level: 'warn',
      reason: 'behind',
    });
    await one.delete(`/datasets/${kept}`);
    expect((await other.get(`/datasets/${kept}`)).status).toBe(404);
    expect((await other.get('/readyz')).status).toBe(200);
    expect(await reads(other, 'primary')).toBeGreaterThan(4);

    await replica.query('SELECT pg_wal_replay_resume()');
    await until(other.apiLog, endsWith('replica.current'));
    await servedByReplica();
    expect(await look(id)).toEqual(['new', true, 2, LINES]);
    await one.delete(`/datasets/${id}`);
  });

  it('shows the results of a run as far as its counts say', async () => {
    const items = Array.from({ length: 400 }, (_, id) => ({ id, type: 'exact', answer: 'a' }));
    const dataset_id = await one.importItems(items);
    const config = { provider: { type: 'item_field', pointer: '/answer' } };
    const { body: run } = await one.post('/runs', { dataset_id, config });
    for (let isFinished = false; !isFinished; ) {
      const { body } = await other.get(`/runs/${run.id}`);
      const results = await other.get(`/runs/${run.id}/results?limit=1`);
      expect(results.body.meta.total_items).toBeGreaterThanOrEqual(body.counts.done);
      isFinished = body.finished_at !== null;
    }
    expect(await runEnded(other, run.id)).toMatchObject({ status: 'completed', counts: { ok: 400 } });
    const table = await other.get(`/runs/${run.id}/results.jsonl`);
    expect(table.body.trim().split('\n')).toHaveLength(400);
    const { body: list } = await other.get(`/runs?dataset_id=${dataset_id}`);
    expect(list.data).toMatchObject([{ id: run.id, status: 'completed' }]);
  });

  it('ends a stream from the primary that the replica cancels, or does not survive', async () => {
    const filler = 'x'.repeat(2_000);
    const items = Array.from({ length: 10_000 }, (_, id) => ({ id, inputs: { prompt: `${filler}${id}` } }));
    const id = await one.importItems(items);
    const path = `${other.url}/datasets/${id}/items.jsonl`;
    const expected = await (await fetch(path)).text();
    expect(expected.length).toBeGreaterThan(20e6);

    for (const disturb of [
      async () => {
        // Rows that the stream's snapshot might see are removed: the replica cancels the stream to replay that.
        await one.delete(`/datasets/${await upload(one, 'removed')}`);
        await one.store.datasets.collect();
        await cluster.primary.query('VACUUM items');
        await replayed();
      },
      async () => {
        await replica.kill();
      },
    ]) {
      await servedByReplica();
      const before = [await reads(other, 'repeated'), await reads(other, 'replica')];
      const response = await fetch(path);
      await disturb();
      expect((await response.text()) === expected).toBe(true);
      // Once, though the replica served a part of it.
      const [repeated = 0, onReplica] = before;
      await until(
        () => reads(other, 'repeated'),
        (now) => now > repeated,
      );
      expect([await reads(other, 'repeated'), await reads(other, 'replica')]).toEqual([
        repeated + 1,
        onReplica,
      ]);
    }
    const { body } = await other.get('/datasets?limit=1');
    expect(body.data[0].id).toBe(id);
    expect(other.apiLog().findLast(({ event }) => event === 'replica.lost')?.['reason']).toBe('unreachable');
    expect((await other.get('/readyz')).status).toBe(200);
    await replica.start();
    await until(other.apiLog, endsWith('replica.current'));
  });

  it('does not read from a server that is not a replica', async () => {
    const service = await startService(cluster.primary.url, false);
    await until(service.apiLog, endsWith('replica.lost'));
    expect(service.apiLog().find(({ event }) => event === 'replica.lost')?.['reason']).toBe('not_a_replica');
    expect((await service.get('/datasets?limit=1')).status).toBe(200);
    expect(await reads(service, 'replica')).toBe(0);
  });
});

it.runIf(NO_CLUSTER !== undefined)('needs a replica', ({ skip }) => skip(NO_CLUSTER));
