import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makePackage, uploadForm } from '../../apps/api/test/make-package.ts';
import { LEFTOVERS, NO_LEFTOVERS } from '../../apps/standalone/test/faults/stored-datasets.ts';
import { startFakeProvider } from '../../apps/worker/test/fake-provider.ts';
import { createEmptyDatabase } from '../../packages/service/test/store/empty-database.ts';
import { lockTable } from '../../packages/service/test/store/lock-table.ts';
import { queryDatabase } from '../../packages/service/test/store/query-database.ts';
import { until } from '../../tools/vitest/until.ts';
import { type DeployedApp, runDeployedCli, startDeployedApp } from './deployed-app.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

/** The folders of the apps, outside of the repository. */
let trees: { readonly api: string; readonly worker: string; readonly cli: string };
const treesCleanUp = new AsyncDisposableStack();
beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-deploy-'));
  treesCleanUp.defer(() => rm(folder, { recursive: true, force: true }));
  trees = { api: join(folder, 'api'), worker: join(folder, 'worker'), cli: join(folder, 'cli') };
  for (const [app, target] of Object.entries(trees)) {
    await run(process.execPath, [join(ROOT, 'tools/deploy.mjs'), app, target]);
  }
}, 180_000);
afterAll(() => treesCleanUp.disposeAsync());

it('the folders of the apps hold no machine code, and fit any platform', async () => {
  for (const folder of Object.values(trees)) {
    const { stdout } = await run('find', [
      folder,
      '-type',
      'f',
      '(',
      '-name',
      '*.node',
      '-o',
      '-name',
      '*.so*',
      ')',
    ]);
    expect(stdout).toBe('');
  }
});

it('standalone brings its database and the console', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-standalone-'));
  await using cleanUp = new AsyncDisposableStack();
  cleanUp.defer(() => rm(folder, { recursive: true, force: true }));
  const app = join(folder, 'app');
  await run(process.execPath, [join(ROOT, 'tools/deploy.mjs'), 'standalone', app]);
  const started = cleanUp.use(await startDeployedApp(app, { SVC_DATA_DIR: join(folder, 'data') }));
  expect(
    (await fetch(started.url, { headers: { accept: 'text/html' } })).headers.get('content-type'),
  ).toContain('text/html');
  expect(await started.ask('/datasets')).toMatchObject({ data: [] });
});

it('the apps find all they need in their folders', async () => {
  expect(await runDeployedCli(trees.cli, ['--version'])).toMatchObject({ code: 0, stderr: '' });
  for (const app of [trees.api, trees.worker]) {
    const started = run(process.execPath, [join(app, 'dist/main.js')], { env: {} });
    await expect(started).rejects.toThrow(/DATABASE_URL is missing/);
  }
});

let cleanUp: AsyncDisposableStack;
beforeEach(() => {
  cleanUp = new AsyncDisposableStack();
});
afterEach(() => cleanUp.disposeAsync());

const startAll = async (folder: string, env: Record<string, string>): Promise<DeployedApp[]> => {
  const both = await Promise.all([startDeployedApp(folder, env), startDeployedApp(folder, env)]);
  for (const app of both) cleanUp.use(app);
  return both;
};

const items = Array.from({ length: 40 }, (_, index) => ({
  id: `q${index}`,
  type: 'exact',
  inputs: { prompt: String(index) },
  answer: index % 2 === 0 ? String(index) : 12345678901234567890n,
}));
const lines = items
  .map((item) => JSON.stringify(item, (_, value) => (typeof value === 'bigint' ? `#${value}#` : value)))
  .join('\n')
  .replaceAll(/"#(\d+)#"/g, '$1');

describe('two api and two worker processes', () => {
  it('work as one service, whichever of them dies at any moment', { timeout: 300_000 }, async () => {
    const DATABASE_URL = cleanUp.use(await createEmptyDatabase()).url;

    // two migrate at once, one of them does it
    const migrated = await Promise.all(
      [1, 2].map(() => runDeployedCli(trees.cli, ['migrate', '--json'], { DATABASE_URL })),
    );
    expect(migrated.map(({ code, stderr }) => [code, stderr])).toEqual([
      [0, ''],
      [0, ''],
    ]);
    const applied = migrated.map(({ stdout }) => JSON.parse(stdout).applied as string[]);
    expect(applied.filter((names) => names.length > 0)).toHaveLength(1);

    const [first, second] = (await startAll(trees.api, { DATABASE_URL })) as [DeployedApp, DeployedApp];
    const workers = await startAll(trees.worker, { DATABASE_URL });
    for (const app of [first, second, ...workers])
      expect(await app.ask('/readyz')).toMatchObject({ status: 'ok' });

    // uploaded on one, read on the other
    const archive = await makePackage({ 'sections/a.jsonl': lines });
    const dataset = await first.ask('/datasets/upload', uploadForm(archive, { name: 'Deployed' }));
    expect(dataset).toMatchObject({ name: 'Deployed', item_count: 40 });
    const read = (await second.ask(`/datasets/${dataset.id}/items.jsonl`)) as Buffer;
    expect(read.toString('utf8').match(/"answer":12345678901234567890,/g)).toHaveLength(20);

    // begun through one, cancelled through the other
    let hold = true;
    const provider = cleanUp.use(
      await startFakeProvider((prompt) =>
        hold && Number(prompt) >= 10 ? 'hang' : { text: prompt, delayMs: 5 },
      ),
    );
    const config = { provider: { type: 'openai_compatible', base_url: provider.baseUrl, model: 'm' } };
    const begin = (): Promise<{ id: string }> => first.ask('/runs', { dataset_id: dataset.id, config });
    const runOf = (app: DeployedApp, id: string) => app.ask(`/runs/${id}`);
    const cancelled = await begin();
    await until(
      () => runOf(second, cancelled.id),
      ({ counts }) => counts.done === 10,
    );
    await second.ask(`/runs/${cancelled.id}/cancel`, {});
    await until(
      () => runOf(first, cancelled.id),
      ({ status }) => status === 'cancelled',
    );
    expect((await runOf(first, cancelled.id)).counts).toMatchObject({ total: 40, done: 10 });

    // a worker dies in the middle of a run
    const interrupted = await begin();
    await until(
      () => runOf(second, interrupted.id),
      ({ counts }) => counts.done === 10,
    );
    const busy = workers.find(({ log }) =>
      log.some((line) => line['event'] === 'worker.run.start' && line['run_id'] === interrupted.id),
    ) as DeployedApp;
    await busy.end('SIGKILL');
    hold = false;
    const ended = await until(
      () => runOf(second, interrupted.id),
      ({ finished_at }) => finished_at !== null,
      90_000,
    );
    expect(ended).toMatchObject({ status: 'completed', counts: { total: 40, done: 40, ok: 40 } });
    expect(ended.scores).toMatchObject({ passed: 20 });

    // an api dies in the middle of an import, and the other goes on
    const large = Array.from({ length: 60_000 }, (_, index) => `{"inputs":{"prompt":"${index}"}}`);
    const slow = await makePackage({ 'sections/a.jsonl': large.join('\n') });
    const locked = await lockTable(DATABASE_URL, 'datasets', 'SHARE');
    const lost = first.ask('/datasets/upload', uploadForm(slow, { name: 'Lost' })).catch(() => 'lost');
    await until(
      () => first.log,
      (log) =>
        log.some((line) => line['event'] === 'dataset.import.start' && Number(line['bytes']) > 100_000),
    );
    await first.end('SIGKILL');
    expect(await lost).toBe('lost');
    await locked[Symbol.asyncDispose]();
    const { data } = await second.ask('/datasets');
    expect(data.map((found: { name: string }) => found.name)).toEqual(['Deployed']);

    // another takes its place; exports are the same bytes wherever they come from
    const third = cleanUp.use(await startDeployedApp(trees.api, { DATABASE_URL }));
    const path = `/datasets/${dataset.id}/export?run_id=${interrupted.id}`;
    const exported = (await third.ask(path)) as Buffer;
    expect(exported.equals((await second.ask(path)) as Buffer)).toBe(true);
    const folder = await mkdtemp(join(tmpdir(), 'svc-deployed-'));
    cleanUp.defer(() => rm(folder, { recursive: true, force: true }));
    const file = join(folder, 'exported.pkg.zip');
    await writeFile(file, exported);
    const hash = await runDeployedCli(trees.cli, ['hash', file]);
    expect(hash).toMatchObject({ code: 0, stdout: expect.stringContaining(dataset.version_hash) });
    const again = await runDeployedCli(trees.cli, ['upload', file, '--name', 'Again', '--json'], {
      SVC_API_URL: second.url,
    });
    expect(JSON.parse(again.stdout)).toMatchObject({ version_hash: dataset.version_hash });
    const target = join(folder, 'stored.pkg.zip');
    const fromDatabase = ['export', 'Deployed', '--output', target, '--database-url', DATABASE_URL];
    expect(await runDeployedCli(trees.cli, fromDatabase)).toMatchObject({ code: 0 });
    const { stdout: hashes } = await runDeployedCli(trees.cli, ['hash', target]);
    expect(hashes).toBe(hash.stdout);

    // confirmed work is kept and started work is finished when any process is killed at any moment
    const apis = [second, third];
    const pair = await Promise.all(
      workers.map(async (worker) =>
        worker === busy ? cleanUp.use(await startDeployedApp(trees.worker, { DATABASE_URL })) : worker,
      ),
    );
    await killAtAnyMoment(apis, pair, DATABASE_URL, dataset.id);

    // who is left stops as told
    for (const app of [...apis, ...pair]) {
      expect(await app.end('SIGTERM')).toBe(0);
      expect(app.log.at(-1)).toMatchObject({ event: 'server.stop', exit_code: 0 });
      expect(app.log.filter(({ level }) => level === 'error')).toEqual([]);
    }
  });
});

/** Kills a process in each round, an API and a worker in turn, and looks at what was confirmed and begun meanwhile. */
async function killAtAnyMoment(
  apis: DeployedApp[],
  workers: DeployedApp[],
  DATABASE_URL: string,
  baseId: string,
): Promise<void> {
  const provider = cleanUp.use(await startFakeProvider((prompt) => ({ text: prompt, delayMs: 40 })));
  const config = {
    provider: { type: 'openai_compatible', base_url: provider.baseUrl, model: 'm' },
    concurrency: 2,
  };
  const rounds = 8;
  const rows = 20_000;

  /** Sends an upload; its confirmation, or undefined where the process died over it. */
  const upload = async (app: DeployedApp | undefined, name: string, isAsync: boolean) => {
    const headers: Record<string, string> = isAsync ? { prefer: 'respond-async' } : {};
    const body = uploadForm(large, { name });
    try {
      const response = await fetch(`${app?.url}/datasets/upload`, { method: 'POST', body, headers });
      return (await response.json()) as { readonly id: string; readonly version_hash?: string };
    } catch {
      return undefined;
    }
  };
  const items = Array.from({ length: rows }, (_, index) => `{"inputs":{"prompt":"${index}"}}`);
  const large = await makePackage({ 'sections/a.jsonl': items.join('\n') });
  const stored: { readonly id: string; readonly version_hash?: string }[] = [];
  const jobs: { readonly id: string }[] = [];
  const runs: { readonly id: string }[] = [];
  for (let round = 0; round < rounds; round++) {
    const [group, tree] = round % 2 === 0 ? [apis, trees.api] : [workers, trees.worker];
    const victim = (round >> 1) % 2;
    const other = apis[1 - victim];
    const uploads = apis.map((app, index) => upload(app, `Waited ${round} ${index}`, false));
    const job = upload(other, `Asked ${round}`, true);
    runs.push(await other?.ask('/runs', { dataset_id: baseId, config }));
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 700));
    await group[victim]?.end('SIGKILL');
    group[victim] = cleanUp.use(await startDeployedApp(tree, { DATABASE_URL }));
    stored.push(...(await Promise.all(uploads)).filter((answer) => answer !== undefined));
    jobs.push(...[await job].filter((answer) => answer !== undefined));
  }

  const [api] = apis as [DeployedApp];
  for (const { id } of runs) {
    const ended = await until(
      () => api.ask(`/runs/${id}`),
      ({ finished_at }) => finished_at !== null,
      90_000,
    );
    expect(ended).toMatchObject({ status: 'completed', counts: { total: 40, done: 40, ok: 40 } });
  }
  for (const { id } of jobs) {
    const ended = await until(
      () => api.ask(`/jobs/${id}`),
      ({ finished_at }) => finished_at !== null,
      90_000,
    );
    expect(ended).toMatchObject({ status: 'succeeded', progress: { rows_done: rows } });
    stored.push({ id: ended.dataset_id });
  }
  expect(jobs).toHaveLength(rounds);
  const hashes = new Set(stored.flatMap(({ version_hash }) => version_hash ?? []));
  expect(hashes.size).toBe(1);
  for (const { id } of stored) {
    const { item_count, version_hash } = await api.ask(`/datasets/${id}`);
    expect({ item_count, version_hash }).toEqual({ item_count: rows, version_hash: [...hashes][0] });
  }
  // and of what was not confirmed, whole datasets or nothing
  expect(await queryDatabase(DATABASE_URL, LEFTOVERS)).toEqual(NO_LEFTOVERS);
  expect(await queryDatabase(DATABASE_URL, 'SELECT FROM job_chunks')).toEqual([]);
}
