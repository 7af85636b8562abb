import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildZip } from '../../../../packages/pkg-format/test/build-zip.ts';
import {
  type ClusterNode,
  clusterNodes,
  superuserUrl,
} from '../../../../packages/service/test/store/cluster-nodes.ts';
import { queryDatabase } from '../../../../packages/service/test/store/query-database.ts';
import { createTestDatabase } from '../../../../packages/service/test/store/template-db.ts';
import { report, tally } from './report.ts';
import { runService, type ServiceProcess } from './run-service.ts';
import {
  ask,
  listDatasets,
  outcomeOf,
  type ServiceResponse,
  upload,
  verifyDataset,
} from './stored-datasets.ts';

const AREA = 'Nodes of a cluster';
const url = process.env['TEST_CITUS_URL'] ?? '';

/** What may happen to a worker node. */
interface NodeControl {
  /** Ends every session of the service on it, as its sudden end does. */
  kill(): Promise<void>;
  /** Accepts no sessions until it is started again. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

describe.skipIf(url === '')(
  'a Citus cluster (needs TEST_CITUS_URL, and the role postgres on its nodes)',
  () => {
    let cleanUp: AsyncDisposableStack;
    let service: ServiceProcess;
    const nodes = new Map<number, NodeControl>();

    beforeAll(async () => {
      cleanUp = new AsyncDisposableStack();
      await createTestDatabase();
      for (const node of await clusterNodes(url)) nodes.set(node.port, controlOf(node));
      const dataDir = await mkdtemp(join(tmpdir(), 'svc-citus-'));
      cleanUp.defer(() => rm(dataDir, { recursive: true, force: true }));
      const env = { DATABASE_URL: url, SVC_DISTRIBUTED: 'citus' };
      service = cleanUp.use(await runService({ app: 'standalone', dataDir, env }));
    });
    afterAll(() => cleanUp.disposeAsync());

    function controlOf(node: ClusterNode): NodeControl {
      const database = new URL(url).pathname.slice(1);
      const run = (sql: string): Promise<unknown> => queryDatabase(superuserUrl(node, 'postgres'), sql);
      const kill = async (): Promise<void> => {
        await run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}'`);
      };
      const start = async (): Promise<void> => {
        await run(`ALTER DATABASE "${database}" ALLOW_CONNECTIONS true`);
      };
      cleanUp.defer(start);
      return {
        kill,
        start,
        async stop() {
          await run(`ALTER DATABASE "${database}" ALLOW_CONNECTIONS false`);
          await kill();
        },
      };
    }

    const archiveOf = (sections: number, count: number): Uint8Array<ArrayBuffer> => {
      const lines = (section: number): string =>
        Array.from(
          { length: count },
          (_, id) => `{"id":${id},"inputs":{"prompt":"${section} ${id}"}}\n`,
        ).join('');
      const entries = Array.from({ length: sections }, (_, section) => ({
        name: `sections/s${section}.jsonl`,
        content: lines(section),
      }));
      return buildZip({ entries }) as Uint8Array<ArrayBuffer>;
    };

    /** The port of the node that has the items of a dataset of one part. */
    async function nodeOf(datasetId: string): Promise<number> {
      const [row]: { readonly port: number }[] = await queryDatabase(
        url,
        `SELECT nodeport AS port FROM citus_shards WHERE shardid = (
         SELECT get_shard_id_for_distribution_column('items', id) FROM parts WHERE dataset_id = '${datasetId}')`,
      );
      return row?.port ?? 0;
    }

    it('stores an import whole or not at all when a node is lost in the middle of it', async (context) => {
      const archive = archiveOf(8, 4_000);
      const runs = 20;
      const answers: ServiceResponse[] = [];
      for (let round = 0; round < runs; round += 1) {
        const uploading = upload(service, `round ${round}`, archive);
        const [node] = [...nodes.values()].slice(round % nodes.size);
        await expect
          .poll(
            async () => {
              const copies = await queryDatabase(
                url,
                "SELECT FROM pg_stat_activity WHERE query LIKE 'COPY items%' AND state = 'active'",
              );
              return copies.length;
            },
            { interval: 5 },
          )
          .toBeGreaterThan(0);
        await node?.kill();
        const answer = await uploading;
        if (answer.status === 503) expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
        answers.push(answer);
      }
      const outcomes = tally(answers.map(outcomeOf));
      expect(
        Object.keys(outcomes).filter((outcome) => outcome !== '201' && outcome !== '503 unavailable'),
      ).toEqual([]);
      const stored = await listDatasets(service.url);
      expect(stored).toHaveLength(answers.filter(({ status }) => status === 201).length);
      for (const dataset of stored) expect(await verifyDataset(service.url, dataset)).toEqual([]);
      const [counts] = await queryDatabase(
        url,
        'SELECT (SELECT count(*)::int FROM items) AS items, (SELECT coalesce(sum(item_count), 0)::int FROM sections) AS listed',
      );
      expect(counts.items).toBe(counts.listed);
      report(context, {
        area: AREA,
        scenario: 'the sessions of one node end while an import copies items',
        expected: '201 or 503 `unavailable`; the dataset is stored whole or not at all',
        runs,
        observed: outcomes,
      });
    });

    async function startRun(datasetId: string | undefined): Promise<string> {
      const config = { provider: { type: 'echo' }, allow_unscored: true };
      const { body } = await ask(`${service.url}/runs`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ dataset_id: datasetId, config }),
      });
      return body?.id ?? '';
    }

    // A commit that a node has prepared waits for Citus, which looks for such commits once a minute.
    const timeout = 1_200_000;
    it('completes a run with each result once when a node is lost in the middle of it', {
      timeout,
    }, async (context) => {
      const items = 4_000;
      const { body: dataset } = await upload(service, 'of runs', archiveOf(4, items / 4));
      const runs = 20;
      const outcomes: string[] = [];
      for (let round = 0; round < runs; round += 1) {
        const id = await startRun(dataset.id);
        const runOf = async (): Promise<ServiceResponse['body']> =>
          (await ask(`${service.url}/runs/${id}`)).body;
        await expect.poll(async () => (await runOf()).counts.done, { interval: 5 }).toBeGreaterThan(0);
        const [node] = [...nodes.values()].slice(round % nodes.size);
        await node?.kill();
        const { status } = await runOf();
        await expect
          .poll(async () => (await runOf()).status, { timeout: 150_000, interval: 200 })
          .toBe('completed');
        expect((await runOf()).counts).toMatchObject({ total: items, done: items, failed: 0 });
        const [stored] = await queryDatabase(
          url,
          'SELECT count(*)::int AS rows FROM run_results WHERE run_id = $1',
          [id],
        );
        expect(stored.rows).toBe(items);
        expect((await ask(`${service.url}/runs/${id}`)).body.scores.results).toBe(items);
        outcomes.push(status === 'completed' ? 'completed before the node was lost' : 'completed');
      }
      expect(outcomes).toContain('completed');
      report(context, {
        area: AREA,
        scenario: 'the sessions of one node end while a run of 4,000 items stores results',
        expected: 'the run completes, and has each result once',
        runs,
        observed: tally(outcomes),
      });
    });

    it('serves what lies on other nodes while one is stopped, and the rest when it is back; a run waits for it', async (context) => {
      const archive = archiveOf(1, 40);
      const datasetAt = new Map<number, string>();
      for (let attempt = 0; datasetAt.size < nodes.size && attempt < 40; attempt += 1) {
        const { body } = await upload(service, `small ${attempt}`, archive);
        datasetAt.set(await nodeOf(body.id), body.id);
      }
      expect([...datasetAt.keys()].sort()).toEqual([...nodes.keys()].sort());
      const [stopped = 0, ...others] = [...nodes.keys()];
      const page = (port: number): Promise<ServiceResponse> =>
        ask(`${service.url}/datasets/${datasetAt.get(port)}/items?limit=5`);
      const runId = await startRun(datasetAt.get(stopped));
      await nodes.get(stopped)?.stop();
      const outcomes: string[] = [];
      for (const port of others) {
        // A session of Citus that has lost a node may fail once for another one.
        await expect.poll(async () => (await page(port)).status, { timeout: 10_000 }).toBe(200);
        outcomes.push(`elsewhere: ${outcomeOf(await page(port))}`);
      }
      outcomes.push(`there: ${outcomeOf(await page(stopped))}`);
      expect(tally(outcomes)).toEqual({ 'elsewhere: 200': others.length, 'there: 503 unavailable': 1 });
      expect((await ask(`${service.url}/readyz`)).status).toBe(200);
      await nodes.get(stopped)?.start();
      await expect.poll(async () => (await page(stopped)).status, { timeout: 60_000 }).toBe(200);
      const runOf = async (): Promise<string> => (await ask(`${service.url}/runs/${runId}`)).body.status;
      await expect.poll(runOf, { timeout: 180_000, interval: 500 }).toBe('completed');
      const { body: results } = await ask(`${service.url}/runs/${runId}/results?limit=100`);
      expect(results.meta.total_items).toBe(40);
      report(context, {
        area: AREA,
        scenario: 'a node accepts no sessions for a while',
        expected:
          'datasets on other nodes are served, those on it get 503 `unavailable`; runs complete when it is back',
        runs: 1,
        observed: tally(outcomes),
      });
    });
  },
);
