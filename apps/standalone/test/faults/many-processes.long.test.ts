import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Cluster,
  NO_CLUSTER,
  startCluster,
} from '../../../../packages/service/test/store/postgres-cluster.ts';
import { type FakeProvider, startFakeProvider } from '../../../worker/test/fake-provider.ts';
import { report } from './report.ts';
import { runService, type ServiceProcess } from './run-service.ts';
import { numberedPackage, uploadForm } from './sample-packages.ts';
import { ask, listDatasets, type ServiceResponse } from './stored-datasets.ts';

/** Number of APIs, and of workers. */
const PROCESSES = 4;
const UPLOADS = 400;
const READS = 6_000;
const RUNS = 24;
const ITEMS = 40;
const REPETITIONS = 5;
const POLL = { timeout: 120_000, interval: 100 };

describe.runIf(NO_CLUSTER === undefined)('many processes', () => {
  let cleanUp: AsyncDisposableStack;
  let cluster: Cluster;
  let provider: FakeProvider;
  let apis: ServiceProcess[];
  let workers: ServiceProcess[];
  let env: Readonly<Record<string, string>>;

  beforeAll(async () => {
    cleanUp = new AsyncDisposableStack();
    cluster = cleanUp.use(await startCluster());
    provider = cleanUp.use(await startFakeProvider((prompt) => ({ text: prompt, delayMs: 5 })));
    env = {
      DATABASE_URL: cluster.primary.url,
      SVC_DATABASE_POOL_SIZE: '8',
      SVC_JOB_KEY: 'deployment secret of the tests',
    };
    const all = Array.from({ length: PROCESSES });
    [apis, workers] = await Promise.all([Promise.all(all.map(startApi)), Promise.all(all.map(startWorker))]);
  }, 180_000);
  afterAll(() => cleanUp.disposeAsync());

  const startWorker = async (): Promise<ServiceProcess> =>
    cleanUp.use(await runService({ app: 'worker', dataDir: await newFolder(), env }));
  const startApi = async (): Promise<ServiceProcess> =>
    cleanUp.use(await runService({ app: 'api', dataDir: await newFolder(), env }));
  async function newFolder(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'svc-many-'));
    cleanUp.defer(() => rm(folder, { recursive: true, force: true }));
    return folder;
  }

  /** Sends a request to one API after another until one responds, as a client behind a balancer does. */
  async function send(path: string, init: () => RequestInit = () => ({})): Promise<ServiceResponse> {
    for (let attempt = 0; ; attempt += 1) {
      const api = apis[Math.floor(Math.random() * apis.length)] as ServiceProcess;
      const found = await ask(`${api.url}${path}`, init());
      if (found.status !== 0 && found.status !== 503) return found;
      if (attempt === 2_000) throw new Error(`${path}: ${found.status} ${found.code}`);
      await delay(20);
    }
  }
  const upload = async (number: number): Promise<string> => {
    const archive = numberedPackage(ITEMS, number);
    const headers = { 'idempotency-key': randomUUID() };
    const found = await send('/datasets/upload', () => ({
      method: 'POST',
      headers,
      body: uploadForm(archive, `upload ${number}`),
    }));
    expect(found.status).toBe(201);
    return found.body.id;
  };
  const startRun = async (dataset_id: string): Promise<string> => {
    const body = JSON.stringify({
      dataset_id,
      config: {
        provider: { type: 'openai_compatible', base_url: provider.baseUrl, model: 'm' },
        repetitions: REPETITIONS,
      },
    });
    const headers = { 'content-type': 'application/json', 'idempotency-key': randomUUID() };
    const found = await send('/runs', () => ({ method: 'POST', headers, body }));
    expect(found.status).toBe(202);
    return found.body.id;
  };

  it('serve a mixed load, and lose nothing when any of them is killed', {
    timeout: 600_000,
  }, async (context) => {
    const stored = [await upload(0)];
    const expected = (await send(`/datasets/${stored[0]}/items.jsonl`)).text;
    expect(expected.split('\n')).toHaveLength(ITEMS + 1);
    const readOnce = async (number: number): Promise<void> => {
      const id = stored[0];
      const paths = ['/datasets?limit=10', `/datasets/${id}/items?limit=20`, `/datasets/${id}/items.jsonl`];
      const path = paths[number % paths.length] as string;
      const found = await send(path);
      expect([path, found.status]).toEqual([path, 200]);
      if (path.endsWith('jsonl')) expect(found.text).toBe(expected);
      const newest = stored.at(-1);
      // What a client has written, it reads through any other API.
      expect((await send(`/datasets/${newest}`)).status).toBe(200);
    };
    const runs: string[] = [];
    let reads = 0;
    let uploads = 1;
    const load = Promise.all([
      ...Array.from({ length: 6 }, async () => {
        while (reads < READS) {
          reads += 1;
          await readOnce(reads);
        }
      }),
      ...Array.from({ length: 2 }, async () => {
        while (uploads < UPLOADS) {
          uploads += 1;
          stored.push(await upload(uploads));
        }
      }),
      (async () => {
        for (let number = 0; number < RUNS; number += 1) runs.push(await startRun(stored[0] as string));
      })(),
    ]);
    load.catch(() => undefined);

    const until = async (share: number): Promise<void> => {
      while (reads < READS * share || uploads < UPLOADS * share) await delay(10);
    };
    await until(0.3);
    await (apis[0] as ServiceProcess).end('SIGKILL');
    await (workers[0] as ServiceProcess).end('SIGKILL');
    await until(0.5);
    apis[0] = await startApi();
    await until(0.7);
    await cluster.primary.kill();
    await cluster.primary.start();
    await load;

    for (const id of runs) {
      const total = ITEMS * REPETITIONS;
      await expect.poll(async () => (await send(`/runs/${id}`)).body.status, POLL).toBe('completed');
      expect((await send(`/runs/${id}`)).body.counts).toMatchObject({ total, done: total, failed: 0 });
      const results = await send(`/runs/${id}/results?limit=1`);
      expect(results.body.meta.total_items).toBe(total);
    }
    const alive = apis.find((api) => !api.hasEnded()) as ServiceProcess;
    const list = await listDatasets(alive.url);
    expect(list.map(({ id }) => id).sort()).toEqual(stored.toSorted());
    expect(new Set(list.map(({ item_count }) => item_count))).toEqual(new Set([ITEMS]));
    const [items] = await cluster.primary.query('SELECT count(*)::int AS count FROM items');
    expect(items.count).toBe(stored.length * ITEMS);
    report(context, {
      area: 'Several instances',
      scenario:
        'an API, a worker or the database is killed while several APIs and workers serve uploads, reads and runs',
      expected: 'no dataset, item or result is lost or doubled; every read is served',
      runs: 1,
      observed: { 'nothing lost': 1 },
    });
  });
});

it.runIf(NO_CLUSTER !== undefined)('needs an installed PostgreSQL', ({ skip }) => skip(NO_CLUSTER));
