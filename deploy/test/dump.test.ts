import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, inject, it, type TestContext } from 'vitest';
import { makePackage, uploadForm } from '../../apps/api/test/make-package.ts';
import { type RunningStandalone, runStandalone } from '../../apps/standalone/test/run-standalone.ts';
import { queryDatabase } from '../../prisma/test/query-database.ts';
import { type DeployedApp, startDeployedApp, until } from './deployed-app.ts';
import { createEmbeddedDatabase } from './embedded-database.ts';
import { findPostgres, startExternalPostgres } from './external-postgres.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const API = join(ROOT, 'apps/api');
const CLI = join(ROOT, 'apps/cli');
const run = promisify(execFile);

let cleanUp: AsyncDisposableStack;
let folder: string;
beforeEach(async () => {
  cleanUp = new AsyncDisposableStack();
  folder = await mkdtemp(join(tmpdir(), 'svc-dump-'));
  cleanUp.defer(() => rm(folder, { recursive: true, force: true }));
});
afterEach(() => cleanUp.disposeAsync());

/** `npm start` with a dataset, a run of it and a changed setting in its database. */
async function startedWithData(): Promise<{ service: RunningStandalone; url: string }> {
  const service = await runStandalone(join(folder, 'data'));
  cleanUp.defer(async () => {
    if (service.child.exitCode === null) await service.end('SIGTERM');
  });
  const lines = [
    '{"id":"a\\tb\\\\","type":"exact","inputs":{"prompt":"\\u0000 \\ud800 \u2028 é"},"answer":0.12345678901234567890123}',
    '{"id":12345678901234567890,"answer":"x","type":"exact","assets":{"i":{"mime_type":"image/png","encoding":"base64","data":"iVBORw0KGgo="}}}',
  ];
  const archive = await makePackage({ 'sections/a.jsonl': lines.join('\n'), 'sections/empty.jsonl': '' });
  const post = (path: string, body: object | FormData, method = 'POST'): Promise<Response> =>
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
  return { service, url: await embeddedUrl(join(folder, 'data/postgres')) };
}

async function embeddedUrl(postgres: string): Promise<string> {
  const password = (await readFile(join(postgres, 'password'), 'utf8')).trim();
  const port = (await readFile(join(postgres, 'data/postmaster.pid'), 'utf8')).split('\n')[3];
  return `postgresql://postgres:${password}@127.0.0.1:${port}/svc`;
}

/** The block of docs/deployment.md that moves a database, as a program of bash. */
async function documentedMove(): Promise<string> {
  const page = await readFile(join(ROOT, 'docs/deployment.md'), 'utf8');
  const [, block = ''] = /<!-- a test runs this block -->\n\n```sh\n([\s\S]*?)```/.exec(page) ?? [];
  expect(block).toContain('dump-data.sql');
  return block.replace('/opt/svc/cli', CLI);
}

/** Everything that the service shows of its data, in a form that does not depend on where it stands. */
async function shown(url: string): Promise<unknown[]> {
  const get = async (path: string): Promise<Buffer> =>
    Buffer.from(await (await fetch(`${url}${path}`)).arrayBuffer());
  const json = async (path: string): Promise<Record<string, never>> =>
    JSON.parse((await get(path)).toString('utf8'));
  const { data: datasets } = (await json('/datasets')) as unknown as { data: { id: string }[] };
  const { data: runs } = (await json('/runs')) as unknown as { data: { id: string }[] };
  const pages = await Promise.all([
    ...datasets.map(({ id }) => get(`/datasets/${id}/items.jsonl`)),
    ...datasets.flatMap(({ id }) => runs.map((one) => get(`/datasets/${id}/export?run_id=${one.id}`))),
    ...runs.map(({ id }) => get(`/runs/${id}/results`)),
  ]);
  return [datasets, runs, await json('/settings'), ...pages.map((page) => page.toString('base64'))];
}

/** An installed PostgreSQL, or none: then the test is skipped. */
function installed(context: TestContext): string {
  return findPostgres() ?? context.skip('no PostgreSQL is installed (apt-get install postgresql)');
}

it('the database of npm start moves to any other PostgreSQL', { timeout: 120_000 }, async (context) => {
  const bin = installed(context);
  const { service } = await startedWithData();
  const before = await shown(service.url);
  const move = await documentedMove();
  await symlink(join(ROOT, 'deploy'), join(folder, 'deploy'));
  const bash = (script: string, to: string): ReturnType<typeof run> =>
    run('bash', ['-euo', 'pipefail', '-c', script], {
      cwd: folder,
      env: { PATH: [bin, dirname(process.execPath), process.env['PATH']].join(delimiter), to },
    });

  const older = cleanUp.use(await startExternalPostgres(bin));
  const same = cleanUp.use(await createEmbeddedDatabase());
  for (const { url } of [older, same]) {
    const withoutTables = move.replace(/^.*migrate.*\n/m, '');
    await expect(bash(withoutTables, url)).rejects.toThrow(/_prisma_migrations.*does not exist/);
    await bash(move, url);
    const api: DeployedApp = cleanUp.use(await startDeployedApp(API, { DATABASE_URL: url }));
    expect(await shown(api.url)).toEqual(before);

    // a second time it changes nothing
    await expect(bash(move, url)).rejects.toThrow(/duplicate key/);
    expect(await shown(api.url)).toEqual(before);
  }
});

it('work that has not ended is not left behind unnoticed', { timeout: 60_000 }, async (context) => {
  const psql = join(installed(context), 'psql');
  const { url } = await startedWithData();
  await queryDatabase(url, "UPDATE runs SET status = 'running', finished_at = NULL");
  await expect(run(psql, ['-XqAt', '-f', join(ROOT, 'deploy/dump-data.sql'), url])).rejects.toThrow(
    /some runs or jobs have not ended/,
  );
});

it('pg_dump and pg_restore move it to the same version', { timeout: 120_000 }, async (context) => {
  const bin = installed(context);
  const version = /(\d+)/.exec(execFileSync(join(bin, 'pg_dump'), ['--version'], { encoding: 'utf8' }))?.[1];
  const [{ server_version }] = await queryDatabase(inject('postgresUrl'), 'SHOW server_version');
  if (Number(version) < Number.parseInt(server_version, 10)) {
    context.skip(`pg_dump ${version} does not read PostgreSQL ${server_version}`);
  }
  const { service, url } = await startedWithData();
  const file = join(folder, 'whole.dump');
  await run(join(bin, 'pg_dump'), ['--format=custom', '--no-owner', '--file', file, url]);
  const before = await shown(service.url);
  const target = cleanUp.use(await startExternalPostgres(bin)).url;
  await run(join(bin, 'pg_restore'), ['--no-owner', '--exit-on-error', '--dbname', target, file]);
  const api = cleanUp.use(await startDeployedApp(API, { DATABASE_URL: target }));
  expect(await shown(api.url)).toEqual(before);
});
