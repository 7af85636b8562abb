import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importItems, metaOf, writeSections } from '../../../packages/service/test/store/import-items.ts';
import { type Outcome, svcPkg } from '../../../packages/svc-pkg/test/run-svc-pkg.ts';
import { temporaryFolder } from '../../../packages/svc-pkg/test/temporary-folder.ts';
import { startTestService, type TestService } from '../../worker/test/start-test-service.ts';
import { createDatabase } from '../src/database/create-database.ts';

const KEY = 'a-key-of-an-admin';

const cleanUp = new AsyncDisposableStack();
let service: TestService;
let env: Record<string, string>;
beforeAll(async () => {
  service = cleanUp.use(await startTestService({ env: { SVC_API_KEYS: `admin:${KEY}` } }));
  env = {
    SVC_API_URL: service.url,
    SVC_API_KEY: KEY,
    XDG_CONFIG_HOME: await temporaryFolder((remove) => cleanUp.defer(remove)),
  };
});
afterAll(() => cleanUp.disposeAsync());

const run = (...argv: readonly string[]): Promise<Outcome> => svcPkg(argv, { env });

/** Runs a command that succeeds; returns its document. */
async function done<T = Record<string, unknown>>(...argv: readonly string[]): Promise<T> {
  const outcome = await run('--json', ...argv);
  expect(outcome, outcome.stderr).toMatchObject({ exitCode: 0, stderr: '' });
  return outcome.document<T>();
}

const item = (id: number): string => `{"id":${id},"inputs":{"prompt":"p ${id}"}}`;
const lines = (...ids: readonly number[]): string => ids.map((id) => `${item(id)}\n`).join('');

let datasets = 0;

/** A dataset with a version for each list of ids. */
async function dataset(first: readonly number[], ...others: readonly (readonly number[])[]) {
  const { datasets: store } = service.store;
  const { id } = await importItems(store, { default: first.map(item) });
  for (const ids of others) {
    const target = { kind: 'version', change: { datasetId: id, mode: 'replace' } } as const;
    await using draft = await store.begin({ target });
    await writeSections(draft, { default: ids.map(item) });
    await draft.commit({ dataset: metaOf() });
  }
  const handle = `set-${datasets++}`;
  await done('rename', id, `Name of ${handle}`, '--handle', handle);
  return { id, handle, name: `Name of ${handle}` };
}

interface Versions {
  readonly data: readonly { readonly version: number; readonly version_hash: string }[];
  readonly total: number;
}

describe('a version', () => {
  it('is read by id, handle or name, and by number or hash', async () => {
    const { id, handle, name } = await dataset([1], [1, 2]);
    const { data } = await done<Versions>('versions', handle);
    expect(data).toMatchObject([{ version: 2, change: { added: 1 } }, { version: 1 }]);
    const hash = data[1]!.version_hash;
    for (const named of [id, handle, handle.toUpperCase(), name]) {
      expect((await run('items', named)).stdout).toBe(lines(1, 2));
      for (const version of ['1', hash, hash.slice(0, 8)])
        expect((await run('items', `${named}@${version}`)).stdout).toBe(lines(1));
    }
    expect(await done('show', `${handle}@1`)).toMatchObject({ id, handle, version: 1, version_count: 2 });
    expect((await run('show', handle)).stdout).toMatch(/^handle +set-\d+\nversion +2$/m);
    expect((await run('versions', handle)).stdout).toMatch(/^version +hash.*\n2 .* 1 added .*\n1 /);
  });

  it('is exported, run and opened', async () => {
    const { id, handle } = await dataset([1], [1, 2]);
    const hash = (await done<{ version_hash: string }>('show', `${handle}@1`)).version_hash;
    const folder = await temporaryFolder();
    await done('export', `${handle}@1`, '-o', join(folder, 'old.pkg.zip'));
    expect((await run('hash', join(folder, 'old.pkg.zip'))).stdout.trim()).toBe(hash);
    const context = { database: createDatabase({}, '0.0.0-test') };
    for (const named of [`${handle}@1`, `${id}@${hash.slice(0, 8)}`]) {
      const argv = ['export', named, '--database-url', service.databaseUrl, '--output', folder, '--force'];
      const outcome = await svcPkg(['--json', ...argv], context);
      expect(outcome, outcome.stderr).toMatchObject({ exitCode: 0 });
      const { output } = outcome.document<{ output: string }>();
      expect((await run('hash', output)).stdout.trim()).toBe(hash);
    }
    const echo = ['--set', 'provider.type=echo', 'allow_unscored=true'];
    expect(await done('run', `${handle}@1`, ...echo)).toMatchObject({
      dataset_version: 1,
      counts: { total: 1 },
    });
    expect(await done('open', `${handle}@1`, '--print')).toEqual({
      url: `${service.url}/console/datasets/${id}?version=1`,
    });
  });

  it('is restored, with a message', async () => {
    const { handle } = await dataset([1], [1, 2]);
    const newest = (await done<Versions>('versions', handle)).data[0]!.version_hash;
    const stale = await run('restore', handle, '1', '--if-match', '0'.repeat(64));
    expect(stale).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('(version_changed)') });
    const restored = await run('restore', handle, '1', '-m', 'wíeder\n100 %', '--if-match', newest);
    expect(restored.stdout).toMatch(/^version +3\n(?:.*\n)*change +1 removed$/m);
    expect(await done('versions', handle, '--limit', '1')).toMatchObject({
      data: [{ version: 3, source: 'restore', message: 'wíeder\n100 %' }],
      total: 3,
    });
    const again = await run('restore', handle, '1');
    expect(again.stdout).toMatch(/^version +3, which has this content already$/m);
  });

  it('is deleted, alone or with its runs', async () => {
    const { id, handle, name } = await dataset([1], [1, 2], [1, 2, 3]);
    await done('run', `${handle}@1`, '--set', 'provider.type=echo', 'allow_unscored=true');
    expect(await run('delete', `${handle}@1`, '--yes')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('(version_has_runs)'),
    });
    const answer = (line: string) => ({ env, isInteractive: true, stdin: Readable.from([line]) });
    const wrong = await svcPkg(['delete', `${handle}@1`, '--runs'], answer(`${name}\n`));
    expect(wrong).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('not_confirmed') });
    const right = await svcPkg(['delete', `${handle}@1`, '--runs', '--json'], answer(`${name}@1\n`));
    expect(right.document()).toEqual({ id, name, version: 1, deleted: true });
    expect((await done<Versions>('versions', handle)).data.map(({ version }) => version)).toEqual([3, 2]);
    expect(await run('delete', `${handle}@3`, '--yes')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('(newest_version)'),
    });
    expect(await done('show', id)).toMatchObject({ version: 3 });
  });

  it('that is not there or not one is refused', async () => {
    const { handle } = await dataset([1]);
    expect(await run('show', `${handle}@9`)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/\(version_not_found\)\n.*svc-pkg versions/),
    });
    expect(await run('restore', handle, '0')).toMatchObject({ exitCode: 2 });
    expect(await run('restore', handle, '1', '--if-match', 'abc')).toMatchObject({ exitCode: 2 });
    for (const argv of [
      ['rename', `${handle}@1`, 'x'],
      ['versions', `${handle}@1`],
      ['runs', '--dataset', `${handle}@1`],
    ])
      expect(await run(...argv), argv[0]).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining('leave @1 out'),
      });
  });
});

it('a handle comes before a name, and is removed by an empty one', async () => {
  const one = await dataset([1]);
  const other = await dataset([2]);
  await done('rename', other.id, one.handle);
  expect(await done('show', one.handle)).toMatchObject({ id: one.id });
  expect(await done('rename', one.id, '--handle', '')).toMatchObject({ handle: null, name: one.name });
  expect(await done('show', one.handle)).toMatchObject({ id: other.id });
  expect(await run('rename', one.id, '--handle', other.handle)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('(handle_taken)'),
  });
});

describe('a change', () => {
  /** A file of these lines. */
  async function file(content: string, name = 'items.jsonl'): Promise<string> {
    const path = join(await temporaryFolder(), name);
    await writeFile(path, content);
    return path;
  }

  it('is made to what was uploaded with a handle', async () => {
    await done('upload', await file(lines(1, 2)), '--handle', 'mine');
    expect((await run('append', 'mine', await file(lines(3)), '-m', 'one more')).stdout).toMatch(
      /^version +2\n(?:.*\n)*change +1 added$/m,
    );
    expect((await run('items', 'mine')).stdout).toBe(lines(1, 2, 3));
    const corrected = '{"id":2,"inputs":{"prompt":"two"}}\n';
    const upserted = await done('upsert', 'mine', await file(corrected + lines(4)));
    expect(upserted).toMatchObject({ version: 3, change: { added: 1, changed: 1, removed: 0 } });
    expect((await run('items', 'mine')).stdout).toBe(lines(1) + corrected + lines(3, 4));
    expect(await done('versions', 'mine')).toMatchObject({
      data: [{ source: 'upsert' }, { source: 'append', message: 'one more' }, { source: 'upload' }],
    });
  });

  it('compares and stores nothing with --dry-run, and nothing when the version is another', async () => {
    const { id } = await dataset([1]);
    const more = await file(lines(2));
    expect(await done('append', id, more, '--dry-run')).toMatchObject({
      change: { added: 1 },
      errors_total: 0,
    });
    expect((await run('edit', id, '--id', '1', '--remove', '--dry-run')).stdout).toMatch(
      /^change +1 removed$/m,
    );
    const stale = ['--if-match', '0'.repeat(64)];
    for (const argv of [
      ['append', id, more],
      ['upsert', id, more],
      ['edit', id, '--id', '1', '--remove'],
    ])
      expect(await run(...argv, ...stale), argv[0]).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining('(version_changed)'),
      });
    expect(await done('show', id)).toMatchObject({ version: 1, item_count: 1 });
  });

  it('edits one item by its id, with every digit, or several by a file', async () => {
    const { id } = await dataset([1, 2, 3]);
    const set = ['--set', '/metadata={"n":12345678901234567890}', '/inputs/prompt=a/b=c'];
    expect(await done('edit', id, '--id', '2', ...set, '-m', 'better')).toMatchObject({
      change: { changed: 1 },
    });
    expect((await run('items', id)).stdout).toContain(
      '{"id":2,"inputs":{"prompt":"a/b=c"},"metadata":{"n":12345678901234567890}}\n',
    );
    const edits = [
      { item_id: 1, remove: true },
      { item_id: 3, item: { id: 3, inputs: { prompt: 'three' } } },
    ];
    const path = await file(JSON.stringify(edits), 'edits.json');
    expect(await done('edit', id, path)).toMatchObject({ item_count: 2, change: { removed: 1, changed: 1 } });
    expect(await run('edit', id, '--id', '"2"', '--remove')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('(item_not_found)'),
    });
    for (const argv of [
      [],
      ['--id', '2'],
      ['--id', '2', '--remove', '--set', '/a=1'],
      [path, '--remove'],
      [await file('x')],
    ])
      expect((await run('edit', id, ...argv)).exitCode, argv.join(' ')).toBe(2);
    for (const entry of ['answer=1', '/nothing/there=1', '/id'])
      expect((await run('edit', id, '--id', '2', '--set', entry)).exitCode, entry).toBe(2);
  });

  it('refuses an id that several items have', async () => {
    const { id } = await dataset([1, 1]);
    expect(await run('edit', id, '--id', '1', '--remove')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('(item_ambiguous)'),
    });
  });
});
