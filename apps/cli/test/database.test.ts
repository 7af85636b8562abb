import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { openPackageFile } from '@svc/pkg-format/node';
import { createThreadReader, importDataset, packageSource } from '@svc/service/flows';
import { createStore, ImportReport } from '@svc/service/store';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createEmptyDatabase } from '../../../packages/service/test/store/empty-database.ts';
import { createTestDatabase, type TestDatabase } from '../../../packages/service/test/store/template-db.ts';
import { svcPkg } from '../../../packages/svc-pkg/test/run-svc-pkg.ts';
import { temporaryFolder, writeArchive } from '../../../packages/svc-pkg/test/temporary-folder.ts';
import { IS_LONG } from '../../../tools/vitest/long.ts';
import { createDatabase, secretsOf } from '../src/database/create-database.ts';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** Stores a package as the service would; returns the id of the dataset. */
async function store(path: string, name: string): Promise<string> {
  const opened = createStore({ url: database.url, poolSize: 2 });
  try {
    await using pkg = await openPackageFile(path);
    await using reader = createThreadReader();
    const report = new ImportReport();
    await using draft = await opened.datasets.begin({ report });
    const request = { name, description: undefined, fileName: 'x' };
    const options = { maxLineBytes: 1024 * 1024, maxDepth: 100, reader };
    const source = packageSource({ bytes: 0, sha256: null }, () => Promise.resolve(pkg), request, options);
    const content = await importDataset(source, draft, report, new AbortController().signal);
    return (await draft.commit(content)).dataset.id;
  } finally {
    await opened.close();
  }
}

/** Stores a package with a run that was cancelled. */
async function storeIncomplete(name: string): Promise<{ readonly id: string; readonly run: string }> {
  const path = await writeArchive({
    'manifest.json': '{"format":"svc-pkg","run":{"status":"cancelled"}}',
    'sections/a.jsonl': '{"id":1}\n',
    'results.jsonl': '{"section":"a","order_index":0,"status":"ok","output":"x"}\n',
  });
  const id = await store(path, name);
  await using opened = createStore({ url: database.url, poolSize: 1 });
  const { data } = await opened.runs.list({ limit: 1, datasetId: id });
  return { id, run: data[0]?.id ?? '' };
}

it('names what is wrong with a database', async () => {
  const changed = (change: Partial<Pick<URL, 'username' | 'pathname'>>): string =>
    Object.assign(new URL(database.url), change).href;
  const cases = [
    ['database_refused', changed({ username: 'nobody_of_this_name' })],
    ['database_not_found', changed({ pathname: '/no_such_database' })],
    ['database_not_migrated', changed({ pathname: '/postgres' })],
  ] as const;
  for (const [code, url] of cases) {
    if (code !== 'database_not_migrated') {
      await expect(
        createDatabase({}, '0.0.0-test').migrate(url, { distributed: false }),
        url,
      ).rejects.toMatchObject({
        code,
      });
    }
    for (const dataset of [randomUUID(), 'a name']) {
      const { signal } = new AbortController();
      const options = { dataset, runId: undefined, allowIncomplete: false, signal };
      await expect(createDatabase({}, '0.0.0-test').openExport(url, options), code).rejects.toMatchObject({
        code,
      });
    }
  }
});

it('exports by id and by name, and leaves no connection', async () => {
  const path = await writeArchive({
    'sections/a.jsonl':
      '{"id":12345678901234567890,"inputs":{"prompt":"p"}}\n{"assets":{"x":"assets/x.txt"}}\n',
    'sections/b.jsonl': '{"id":1,"inputs":{"prompt":"p"}}\n',
    'assets/x.txt': 'hello',
  });
  const id = await store(path, 'only one');
  const folder = await temporaryFolder();
  const env = { DATABASE_URL: database.url };
  const context = { env, database: createDatabase(env, '0.0.0-test') };
  const byId = await svcPkg(['export', id, '--database', '--output', folder, '--json'], context);
  expect(byId).toMatchObject({ exitCode: 0, stderr: '' });
  expect(byId.document()).toMatchObject({ dataset_id: id, output: join(folder, 'only one.pkg.zip') });
  const byName = await svcPkg(
    ['export', 'only one', '--database-url', database.url, '--output', join(folder, 'b.zip')],
    context,
  );
  expect(byName).toMatchObject({ exitCode: 0, stderr: '' });
  expect(await readFile(join(folder, 'b.zip'))).toEqual(await readFile(join(folder, 'only one.pkg.zip')));
  expect((await svcPkg(['hash', join(folder, 'b.zip')])).stdout).toBe((await svcPkg(['hash', path])).stdout);
  expect(await svcPkg(['check', '--strict', join(folder, 'b.zip')])).toMatchObject({
    stdout: expect.stringContaining('found         0 errors, 1 style finding'),
  });
});

it('takes the location of assets from the variable of the service', async () => {
  const env = { DATABASE_URL: database.url, SVC_ASSET_STORE_URL: 'ftp://bucket' };
  const context = { env, database: createDatabase(env, '0.0.0-test') };
  expect(await svcPkg(['export', randomUUID(), '--database'], context)).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('SVC_ASSET_STORE_URL must be a URL such as s3://bucket/prefix'),
  });
});

it('says which dataset, run or database is missing', async () => {
  const path = await writeArchive({ 'sections/a.jsonl': '{"id":1}\n' });
  const id = await store(path, 'twice');
  await store(path, 'twice');
  const { id: withRun, run: incomplete } = await storeIncomplete('with a run');
  const context = { database: createDatabase({}, '0.0.0-test') };
  const folder = await temporaryFolder();
  const closedPort = new URL(database.url);
  closedPort.port = '1';
  for (const [argv, url, code] of [
    [['nothing'], database.url, 'dataset_not_found'],
    [[randomUUID()], database.url, 'dataset_not_found'],
    [['twice'], database.url, 'dataset_ambiguous'],
    [[id, '--run', randomUUID()], database.url, 'run_not_found'],
    [[withRun, '--run', incomplete], database.url, 'run_incomplete'],
    [[id], closedPort.href, 'unavailable'],
  ] as const) {
    const outcome = await svcPkg(
      ['export', ...argv, '--database-url', url, '--output', folder, '--json'],
      context,
    );
    expect(outcome.exitCode).toBe(1);
    expect(outcome.error()['code']).toBe(code);
    expect(outcome.stderr).not.toContain(closedPort.password || 'unreachable');
  }
  expect(await readdir(folder)).toEqual([]);
});

it('exports a run that is not completed only where that is allowed, and marks it', async () => {
  const { id, run } = await storeIncomplete('cancelled');
  const output = join(await temporaryFolder(), 'run.pkg.zip');
  const argv = ['export', id, '--run', run, '--database-url', database.url, '--output', output];
  const outcome = await svcPkg([...argv, '--allow-incomplete'], { database: createDatabase({}, '7.1.0') });
  expect(outcome).toMatchObject({ exitCode: 0, stderr: '' });
  await using pkg = await openPackageFile(output);
  expect(pkg.manifest).toMatchObject({
    ...{ generator: 'svc', generator_version: '7.1.0', format_version: '2.3' },
    run: { status: 'cancelled', incomplete: true },
  });
});

it('knows the secrets that an export must not contain', () => {
  const env = {
    SVC_API_KEYS: 'viewer:k1, admin:k2',
    SVC_API_KEY: 'k3',
    SVC_PROVIDER_X: 'k4',
    HUB_TOKEN: 'k5',
    SVC_HOST: 'localhost',
    HOME: '/root',
    SVC_METRICS_KEY: '',
    SVC_PROVIDER_X_ORIGINS: 'https://api.example.com',
    SVC_PROVIDER_ALLOWED_HOSTS: 'api.example.com',
    DATABASE_URL: 'postgresql://u:postgres@h/d',
  };
  expect(secretsOf(env)).toEqual(['k1', 'k2', 'k3', 'k4', 'k5']);
});

it.runIf(IS_LONG)('migrates a database, also in several processes concurrently', async () => {
  await using empty = await createEmptyDatabase();
  const outcomes = await Promise.all(
    ['one', 'two', 'three'].map(async () => {
      const env = { PATH: process.env['PATH'] ?? '', DATABASE_URL: empty.url };
      const child = spawn(process.execPath, [MAIN, 'migrate', '--json'], {
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const [[code], stdout, stderr] = await Promise.all([
        once(child, 'close'),
        text(child.stdout),
        text(child.stderr),
      ]);
      return { code, stderr, applied: JSON.parse(stdout).applied as string[] };
    }),
  );
  expect(outcomes.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
    Array(3).fill({ code: 0, stderr: '' }),
  );
  const applied = outcomes.flatMap((outcome) => outcome.applied);
  expect(applied.length).toBeGreaterThan(0);
  expect(new Set(applied).size).toBe(applied.length);
  const again = await svcPkg(['migrate', '--database-url', empty.url], {
    database: createDatabase({}, '0.0.0-test'),
  });
  expect(again).toMatchObject({ exitCode: 0, stdout: 'The database is up to date.\n', stderr: '' });
});
