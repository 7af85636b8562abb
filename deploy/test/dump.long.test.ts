import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { mkdir, readFile, rm, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it, type TestContext } from 'vitest';
import { makePackage, uploadForm } from '../../apps/api/test/make-package.ts';
import { runService, type ServiceProcess } from '../../apps/standalone/test/faults/run-service.ts';
import { makeDataFolder } from '../../apps/standalone/test/make-data-folder.ts';
import { startFakeProvider } from '../../apps/worker/test/fake-provider.ts';
import { createEmptyDatabase } from '../../packages/service/test/store/empty-database.ts';
import {
  BINARIES,
  endOf,
  initServer,
  NO_CLUSTER,
  ownFolder,
  startServer,
} from '../../packages/service/test/store/postgres-cluster.ts';
import { queryDatabase } from '../../packages/service/test/store/query-database.ts';
import { until } from '../../tools/vitest/until.ts';
import { type DeployedApp, startDeployedApp } from './deployed-app.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const API = join(ROOT, 'apps/api');
const CLI = join(ROOT, 'apps/cli');
const run = promisify(execFile);

let cleanUp: AsyncDisposableStack;
let folder: string;
beforeEach(async () => {
  cleanUp = new AsyncDisposableStack();
  folder = await makeDataFolder('svc-dump-');
  cleanUp.defer(() => rm(folder, { recursive: true, force: true }));
});
afterEach(() => cleanUp.disposeAsync());

/** Starts an installed server in a temporary folder; as user postgres if this process is root. */
async function startExternalPostgres(): Promise<{ readonly url: string } & AsyncDisposable> {
  await using starting = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'svc-postgres-'));
  starting.defer(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o755);
  const own = ownFolder(join(folder, 'p'));
  initServer(own, 'svc');
  const port = await freePort();
  const server = await startServer(own, {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    fsync: 'off',
  });
  // a fast shutdown: sessions are ended and not waited for
  starting.defer(() => endOf(server, 'SIGINT'));
  const origin = `postgresql://svc@127.0.0.1:${port}`;
  await queryDatabase(`${origin}/postgres`, `CREATE DATABASE svc TEMPLATE template0 ENCODING 'UTF8'`);
  const running = starting.move();
  return { url: `${origin}/svc`, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

type Post = (path: string, body: object | FormData, method?: string) => Promise<Response>;

/** `npm start` with a dataset, a run of it and a changed setting in its database. */
async function startedWithData(
  env: Readonly<Record<string, string>> = {},
): Promise<{ service: ServiceProcess; datasetId: string; post: Post }> {
  const service = await runService({ app: 'standalone', dataDir: join(folder, 'data'), env });
  cleanUp.defer(async () => {
    if (!service.hasEnded()) await service.end('SIGTERM');
  });
  const lines = [
    '{"id":"a\\tb\\\\","type":"exact","tags":["é","\\ud800 \\u0000"],"inputs":{"prompt":"\\u0000 \\ud800 \u2028 é"},"answer":0.12345678901234567890123}',
    '{"id":12345678901234567890,"answer":"x","type":"exact","assets":{"i":{"mime_type":"image/png","encoding":"base64","data":"iVBORw0KGgo="}}}',
  ];
  const archive = await makePackage({ 'sections/a.jsonl': lines.join('\n'), 'sections/empty.jsonl': '' });
  const post: Post = (path, body, method = 'POST') =>
    fetch(`${service.url}${path}`, {
      method,
      body: body instanceof FormData ? body : JSON.stringify(body),
      headers: body instanceof FormData ? {} : { 'content-type': 'application/json' },
    });
  const { id } = (await (await post('/datasets/upload', uploadForm(archive, { name: 'Kept' }))).json()) as {
    id: string;
  };
  const config = { provider: { type: 'item_field', pointer: '/answer' } };
  const begun = (await (await post('/runs', { dataset_id: id, config })).json()) as { id: string };
  await until(
    async () => (await (await fetch(`${service.url}/runs/${begun.id}`)).json()) as { finished_at: unknown },
    ({ finished_at }) => finished_at !== null,
  );
  await post('/settings', { cancellation_check_interval_ms: 777 }, 'PATCH');
  return { service, datasetId: id, post };
}

async function embeddedUrl(postgres: string): Promise<string> {
  const password = (await readFile(join(postgres, 'service-password'), 'utf8')).trim();
  return `postgresql://svc:${password}@${encodeURIComponent(postgres)}:5432/svc`;
}

/** The blocks of a page that are said to be run here, as programs of bash. */
async function documentedBlocks(page: string): Promise<string[]> {
  const text = await readFile(join(ROOT, page), 'utf8');
  const blocks = text.matchAll(/<!-- a test runs this block -->\n\n```sh\n([\s\S]*?)```/g);
  return [...blocks].map(([, block = '']) => block.replace('/opt/svc/cli', CLI));
}

/** Runs a block in the folder of the test, with the programs of an installed PostgreSQL. */
function bash(script: string, env: Readonly<Record<string, string>>, bin = ''): ReturnType<typeof run> {
  return run('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: folder,
    env: { PATH: [bin, dirname(process.execPath), process.env['PATH']].join(delimiter), ...env },
  });
}

/** Everything that the service shows of its data, in a form that does not depend on its address. */
async function shown(url: string): Promise<unknown[]> {
  const get = async (path: string): Promise<Buffer> =>
    Buffer.from(await (await fetch(`${url}${path}`)).arrayBuffer());
  const json = async (path: string): Promise<Record<string, never>> =>
    JSON.parse((await get(path)).toString('utf8'));
  const { data: datasets } = (await json('/datasets')) as unknown as { data: { id: string }[] };
  const { data: runs } = (await json('/runs')) as unknown as { data: { id: string }[] };
  const pages = await Promise.all([
    ...datasets.map(({ id }) => get(`/datasets/${id}/items.jsonl`)),
    ...datasets.map(({ id }) => get(`/datasets/${id}/items?item_id=${encodeURIComponent('a\tb\\')}`)),
    ...datasets.map(({ id }) => get(`/datasets/${id}/items?tag=%C3%A9`)),
    ...datasets.flatMap(({ id }) =>
      runs.map((one) => get(`/datasets/${id}/export?run_id=${one.id}&allow_incomplete=true`)),
    ),
    ...runs.map(({ id }) => get(`/runs/${id}/results`)),
  ]);
  return [datasets, runs, await json('/settings'), ...pages.map((page) => page.toString('base64'))];
}

/** An installed PostgreSQL, or none: then the test is skipped. */
function installed(context: TestContext): string {
  return BINARIES ?? context.skip(NO_CLUSTER);
}

it('the database of npm start moves to any other PostgreSQL, but no work that has not ended', async (context) => {
  const bin = installed(context);
  const { service } = await startedWithData();
  const before = await shown(service.url);
  const [move = ''] = await documentedBlocks('docs/deployment.md');
  expect(move).toContain('dump-data.sql');
  await symlink(join(ROOT, 'deploy'), join(folder, 'deploy'));

  const older = cleanUp.use(await startExternalPostgres());
  const same = cleanUp.use(await createEmptyDatabase());
  const withoutTables = move.replace(/^.*migrate.*\n/m, '');
  for (const { url } of [older, same]) {
    await expect(bash(withoutTables, { to: url }, bin)).rejects.toThrow(/_prisma_migrations.*does not exist/);
    await bash(move, { to: url }, bin);
    const api: DeployedApp = cleanUp.use(await startDeployedApp(API, { DATABASE_URL: url }));
    expect(await shown(api.url)).toEqual(before);

    // a second time it changes nothing
    await expect(bash(move, { to: url }, bin)).rejects.toThrow(/duplicate key/);
    expect(await shown(api.url)).toEqual(before);
  }

  const source = await embeddedUrl(join(folder, 'data/postgres'));
  // held by a worker, or that of the service would end it again
  const held = "status = 'running', finished_at = NULL, lease_expires_at = now() + interval '1 hour'";
  await queryDatabase(source, `UPDATE runs SET ${held}`);
  const dump = run(join(bin, 'psql'), ['-XqAt', '-f', join(ROOT, 'deploy/dump-data.sql'), source]);
  await expect(dump).rejects.toThrow(/some runs or jobs have not ended/);
});

it('a copy of the folder of a stopped npm start is a backup', async () => {
  const { service } = await startedWithData();
  const before = await shown(service.url);
  expect(await service.end('SIGTERM')).toBe(0);
  const copy = (await documentedBlocks('docs/operations.md')).find((block) => block.startsWith('cp '));
  await bash(copy as string, {});
  await rm(join(folder, 'data'), { recursive: true });
  await mkdir(join(folder, 'data'));
  await bash('cp -a backup data/postgres', {});
  const restored = await runService({ app: 'standalone', dataDir: join(folder, 'data') });
  cleanUp.defer(async () => void (await restored.end('SIGTERM')));
  expect(await shown(restored.url)).toEqual(before);
});

it('a backup by pg_dump is restored with the work that had not ended', async (context) => {
  const bin = installed(context);
  const [dump = '', restore = ''] = await documentedBlocks('docs/operations.md');
  const source = cleanUp.use(await startExternalPostgres()).url;
  const { service, datasetId, post } = await startedWithData({ DATABASE_URL: source });
  const before = await shown(service.url);

  let hold = true;
  const provider = cleanUp.use(await startFakeProvider(() => (hold ? 'hang' : { text: 'x' })));
  const config = { provider: { type: 'openai_compatible', base_url: provider.baseUrl, model: 'm' } };
  const begun = (await (await post('/runs', { dataset_id: datasetId, config })).json()) as { id: string };
  await until(provider.waiting, (waiting) => waiting > 0);
  await bash(dump, { DATABASE_URL: source }, bin);
  expect(await service.end('SIGTERM')).toBe(0);

  hold = false;
  const target = cleanUp.use(await startExternalPostgres()).url;
  await bash(restore, { to: target }, bin);
  const restored = await runService({
    app: 'standalone',
    dataDir: join(folder, 'data'),
    env: { DATABASE_URL: target },
  });
  cleanUp.defer(async () => void (await restored.end('SIGTERM')));
  const ended = await until(
    async () => (await fetch(`${restored.url}/runs/${begun.id}`)).json() as Promise<Record<string, unknown>>,
    ({ finished_at }) => finished_at !== null,
    90_000,
  );
  expect(ended).toMatchObject({ status: 'completed', counts: { total: 2, done: 2 } });
  await queryDatabase(target, `DELETE FROM runs WHERE id = '${begun.id}'`);
  expect(await shown(restored.url)).toEqual(before);
});
