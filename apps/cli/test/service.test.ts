import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Outcome, svcPkg } from '../../../packages/svc-pkg/test/run-svc-pkg.ts';
import { temporaryFolder, writeArchive } from '../../../packages/svc-pkg/test/temporary-folder.ts';
import { startTestService, type TestService } from '../../worker/test/start-test-service.ts';

const KEY = 'a-key-of-an-editor';

const cleanUp = new AsyncDisposableStack();
let service: TestService;
let env: Record<string, string>;
beforeAll(async () => {
  const keys = `admin:${KEY},viewer:a-key-of-a-viewer`;
  service = cleanUp.use(await startTestService({ env: { SVC_API_KEYS: keys } }));
  env = {
    SVC_API_URL: service.url,
    SVC_API_KEY: KEY,
    XDG_CONFIG_HOME: await temporaryFolder((remove) => cleanUp.defer(remove)),
  };
});
afterAll(() => cleanUp.disposeAsync());

/** Runs a command that succeeds; returns its document. */
async function done<T = Record<string, unknown>>(...argv: readonly string[]): Promise<T> {
  const outcome = await svcPkg(['--json', ...argv], { env });
  expect(outcome, outcome.stderr).toMatchObject({ exitCode: 0, stderr: '' });
  return outcome.document<T>();
}

const text = (argv: readonly string[]): Promise<Outcome> => svcPkg(argv, { env });

const LINES =
  '{"answer":"a","id":1,"inputs":{"prompt":"a"}}\n{"answer":"x","id":2,"inputs":{"prompt":"b"}}\n';

async function upload(name: string, lines = LINES): Promise<string> {
  const path = await writeArchive({ 'sections/test.jsonl': lines });
  return (await done<{ id: string }>('upload', path, '--name', name)).id;
}

describe('datasets', () => {
  it('are listed with every digit', async () => {
    const path = await writeArchive({
      'meta.json': '{"extra":[12345678901234567890]}',
      'sections/a.jsonl': LINES,
    });
    await done('upload', path, '--name', 'digits');
    const { stdout } = await text(['list', '--json', '--search', 'digits']);
    expect(stdout).toContain('"extra":[12345678901234567890]');
    await done('delete', 'digits', '--yes');
  });

  it('are uploaded as a job, listed, shown, written, compared, exported and deleted', async () => {
    const id = await upload('first');
    const other = await upload('second', `${LINES}{"id":3}\n`);
    expect((await done<{ data: { id: string }[] }>('list', '--limit', '1')).data).toMatchObject([
      { id: other },
    ]);
    expect((await text(['list'])).stdout).toMatch(
      /^id +name +handle +items +created\n[-0-9a-f]{36} +second +3 /,
    );
    expect(await done('show', 'first')).toMatchObject({ id, name: 'first', item_count: 2 });
    expect((await text(['items', 'first'])).stdout).toBe(LINES);

    const folder = await temporaryFolder();
    const written = async (name: string, ...options: string[]): Promise<string> => {
      await text(['items', id, '-o', join(folder, name), ...options]);
      return await readFile(join(folder, name), 'latin1');
    };
    expect(await written('items.csv')).toMatch(/^section,order_index,/);
    expect(await written('items.PARQUET')).toMatch(/^PAR1/);
    expect(await written('items.txt')).toBe(LINES);
    expect(await written('lines.csv', '--format', 'jsonl')).toBe(LINES);
    const again = await text(['items', id, '-o', join(folder, 'items.csv')]);
    expect(again).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('output_exists') });

    expect((await text(['diff', 'first', 'second'])).stdout).toMatch(
      /^1 added, 0 removed, 0 changed\n(?:.*\n)*.*test:2/,
    );
    const exported = await text(['export', id, '-o', join(folder, 'x.pkg.zip')]);
    expect(exported).toMatchObject({ exitCode: 0 });
    const hash = (await text(['hash', join(folder, 'x.pkg.zip')])).stdout.trim();
    expect((await done('show', id))['version_hash']).toBe(hash);

    expect(await text(['delete', 'first'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/--yes/),
    });
    const answer = (line: string) => ({ env, isInteractive: true, stdin: Readable.from([line]) });
    const wrong = await svcPkg(['delete', 'first'], answer('second\n'));
    expect(wrong).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('not_confirmed') });
    expect(await svcPkg(['delete', 'first'], answer('first\n'))).toMatchObject({ exitCode: 0 });
    const gone = await text(['show', 'first']);
    expect(gone).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('svc-pkg list') });
  });

  it('come from standard input, and from a legacy archive with a hint', async () => {
    const path = await writeArchive({ 'sections/a.jsonl': LINES });
    const stdin = Readable.from([await readFile(path)]);
    const stored = await svcPkg(['--json', 'upload', '-', '--name', 'from stdin'], { env, stdin });
    expect(stored.document()).toMatchObject({ name: 'from stdin', item_count: 2 });
    const legacy = await writeArchive({ 'data.jsonl': LINES }, {}, 'old.zip');
    const refused = await text(['check', legacy]);
    expect(refused.stdout + refused.stderr).toContain(`svc-pkg convert ${legacy}`);
  });
});

describe('runs', () => {
  it('are started, followed, listed, and give their results', async () => {
    await upload('to run');
    const folder = await temporaryFolder();
    await writeFile(
      join(folder, 'run.json'),
      '{"provider":{"type":"echo"},"repetitions":1,"allow_unscored":true}',
    );
    const argv = ['run', 'to run', '--config', join(folder, 'run.json'), '--set', 'checker.type=exact_match'];
    const run = await svcPkg(['--json', ...argv.slice(0, 4), '--name', 'trial'], { env });
    expect(run, run.stderr).toMatchObject({ exitCode: 0 });
    const { id } = run.document<{ id: string }>();
    expect(run.document()).toMatchObject({
      name: 'trial',
      status: 'completed',
      counts: { total: 2, done: 2 },
    });
    const { data } = await done<{ data: object[] }>('runs', '--dataset', 'to run');
    expect(data).toMatchObject([{ id, status: 'completed' }]);
    expect((await text(['runs'])).stdout).toContain('2/2');
    const results = (await text(['results', id])).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(results.map(({ output }) => output)).toEqual(['a', 'b']);
    expect((await text(['results', id, '--format', 'csv'])).stdout).toMatch(/^section,/);
    expect((await text(['open', '--print', '--run', id])).stdout).toBe(`${service.url}/console/runs/${id}\n`);
  });
});

describe('login', () => {
  it('stores a checked key that only its owner can read', async () => {
    const own = { XDG_CONFIG_HOME: await temporaryFolder() };
    const login = (key: string, context = {}) =>
      svcPkg(['login', '--api-url', service.url], {
        env: own,
        stdin: Readable.from([`${key}\n`]),
        ...context,
      });
    expect(await login('a-key-of-no-role')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('unauthenticated'),
    });
    const path = join(own.XDG_CONFIG_HOME, 'svc-pkg/credentials.json');
    await expect(stat(path)).rejects.toThrow('ENOENT');

    const typed = Object.assign(Readable.from([KEY.slice(0, 5), `x\u007f${KEY.slice(5)}\r`]), {
      setRawMode: (isRaw: boolean) => modes.push(isRaw),
    });
    const modes: boolean[] = [];
    const stored = await login('', { isInteractive: true, stdin: typed });
    expect(stored, stored.stderr).toMatchObject({ exitCode: 0 });
    expect(stored.stdout + stored.stderr).not.toContain(KEY);
    expect(modes).toEqual([true, false]);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    // Neither URL nor key is named.
    expect(await svcPkg(['list'], { env: own })).toMatchObject({ exitCode: 0 });
  });
});
