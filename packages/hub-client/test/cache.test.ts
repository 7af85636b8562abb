import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeParquet } from '../../tabular/test/write-parquet.ts';
import { SYSTEM_CLOCK } from '../src/http/request.ts';
import { createHubClient, type HubClientOptions } from '../src/index.ts';
import { type FakeHub, startFakeHub } from './fake-hub.ts';

let hub: FakeHub;
let cacheDir: string;

beforeEach(async () => {
  hub = await startFakeHub();
  cacheDir = await mkdtemp(join(tmpdir(), 'hub-cache-'));
});
afterEach(async () => {
  await hub.close();
  await rm(cacheDir, { recursive: true, force: true });
});

const lines = (count: number, text = 'x'): string =>
  Array.from({ length: count }, (_, n) => `{"n":${n},"text":"${text.repeat(1_000)}"}\n`).join('');

/** Rows of a slice, read by a new client, and how many bytes of files were sent for it. */
async function read(
  path: string,
  options: HubClientOptions & { split?: string; revision?: string } = {},
): Promise<{ rows: unknown[]; sent: number }> {
  const { split = 'train', revision, ...clientOptions } = options;
  await using client = createHubClient({ endpoint: hub.endpoint, cacheDir, ...clientOptions });
  hub.forget();
  const selection = await (await client.openDataset({ path, revision })).select({ split });
  const rows: unknown[] = [];
  for await (const { row } of selection.rows()) rows.push(row['n']);
  const files = hub.requests.filter(({ path: asked }) => !asked.startsWith('/api/datasets/'));
  return { rows, sent: files.reduce((sum, { bytes }) => sum + bytes, 0) };
}

const entries = async (): Promise<string[]> =>
  (await readdir(cacheDir, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

describe('a cache folder', () => {
  it('serves another client, but asks the hub who may read', async () => {
    hub.add({ id: 'o/text', files: { 'train.jsonl': lines(3_000) } });
    hub.add({
      id: 'o/parquet',
      files: { 'train.parquet': writeParquet({ columns: [{ name: 'n', data: [3, 1, 2], type: 'INT32' }] }) },
    });
    for (const path of ['o/text', 'o/parquet']) {
      const first = await read(path);
      expect(first.sent).toBeGreaterThan(0);
      expect(await read(path)).toEqual({ rows: first.rows, sent: 0 });
      expect(hub.requests.map(({ path: asked }) => asked.split('?')[0])).toEqual([
        `/api/datasets/${path}/revision/main`,
      ]);
    }
    for (const path of await entries()) {
      expect((await stat(path)).mode & 0o777).toBe(0o600);
      expect(path).not.toMatch(/text|parquet|train|unfinished/);
    }
  });

  it('serves a public commit without the hub, and asks again on the next day', async () => {
    const repository = { id: 'o/text', files: { 'README.md': '---\na: 1\n---', 'train.jsonl': lines(3) } };
    hub.add(repository);
    const revision = hub.commitOf('o/text');
    const first = await read('o/text', { revision });
    expect(await read('o/text', { revision })).toEqual({ rows: first.rows, sent: 0 });
    expect(hub.requests).toEqual([]);
    hub.add({ ...repository, access: 'private' });
    const tomorrow = { ...SYSTEM_CLOCK, dateMs: () => Date.now() + 86_400_000 };
    await expect(read('o/text', { revision, clock: tomorrow })).rejects.toMatchObject({
      code: 'hub_dataset_not_found',
    });
  });

  it.each(['private', 'gated'] as const)('asks each time for a commit that is %s', async (access) => {
    hub.add({ id: 'o/text', access, readers: ['hf_reader'], files: { 'train.jsonl': lines(3) } });
    const revision = hub.commitOf('o/text');
    await read('o/text', { revision, token: 'hf_reader' });
    await read('o/text', { revision, token: 'hf_reader' });
    expect(hub.requests.filter(({ path }) => path.startsWith('/api/datasets/'))).toHaveLength(2);
    await expect(read('o/text', { revision })).rejects.toThrow();
  });

  it('keeps the beginning of a file that was not read to its end', async () => {
    hub.add({ id: 'o/text', files: { 'train.jsonl': lines(17_500) } });
    const first = await read('o/text', { split: 'train[:20]' });
    expect(first.sent).toBeGreaterThan(0);
    expect(await read('o/text', { split: 'train[:20]' })).toEqual({ rows: first.rows, sent: 0 });
    const whole = await read('o/text');
    expect(whole.rows).toEqual(Array.from({ length: 17_500 }, (_, n) => n));
    expect(whole.sent).toBeGreaterThan(0);
    expect((await read('o/text')).sent).toBe(0);
  });

  it('fetches damaged and short entries again', async () => {
    hub.add({ id: 'o/text', files: { 'train.jsonl': lines(1_500) } });
    const { rows } = await read('o/text');
    const damage: ((bytes: Buffer) => Buffer)[] = [
      (bytes) => bytes.subarray(0, bytes.length - 1),
      (bytes) => Buffer.concat([bytes, bytes.subarray(0, 9)]),
      () => Buffer.alloc(0),
      (bytes) =>
        Buffer.from(bytes).fill(0x41, Math.floor(bytes.length / 2), Math.floor(bytes.length / 2) + 1),
      (bytes) => Buffer.from(bytes).fill(0, bytes.length - 5),
    ];
    for (const change of damage) {
      for (const path of await entries()) await writeFile(path, change(await readFile(path)));
      const again = await read('o/text');
      expect(again.rows).toEqual(rows);
      expect(again.sent).toBeGreaterThan(0);
      await read('o/text');
      expect(await read('o/text')).toEqual({ rows, sent: 0 });
    }
  });

  it('never serves what one token may read to another', async () => {
    for (const access of ['private', 'gated'] as const) {
      const path = `o/${access}`;
      const token = `hf_reader_of_${access}`;
      hub.add({ id: path, access, readers: [token], files: { 'train.jsonl': lines(2) } });
      hub.tokens.add('hf_stranger');
      expect((await read(path, { token })).rows).toEqual([0, 1]);
      // One byte tells whether the hub still lets the reader have the files.
      expect(await read(path, { token })).toEqual({ rows: [0, 1], sent: 1 });
      for (const other of ['hf_stranger', undefined]) {
        await expect(read(path, { token: other })).rejects.toThrow(/./);
      }
      for (const file of await entries()) {
        expect(file).not.toContain(token);
        expect((await readFile(file)).includes(token)).toBe(false);
      }
    }
    hub.add({ id: 'o/open', files: { 'train.jsonl': lines(2) } });
    await read('o/open', { token: 'hf_stranger' });
    expect((await read('o/open')).sent).toBe(0);
  });

  it('serves nothing to a token that has lost its access', async () => {
    const parquet = writeParquet({ columns: [{ name: 'n', data: [3, 1], type: 'INT32' }] });
    const token = 'hf_reader';
    for (const [path, files] of Object.entries({
      'o/text': { 'train.jsonl': lines(2) },
      'o/parquet': { 'train.parquet': parquet },
    })) {
      const repository = { id: path, access: 'gated' as const, files };
      hub.add({ ...repository, readers: [token] });
      await read(path, { token });
      expect((await read(path, { token })).sent).toBeLessThan(50);
      hub.add({ ...repository, readers: [] });
      const refused = read(path, { token });
      await expect(refused).rejects.toMatchObject({ code: 'hub_gated' });
      hub.add({ ...repository, readers: [token] });
      expect((await read(path, { token })).sent).toBeLessThan(50);
      // Without the hub, the client cannot know.
      hub.forget();
      await using client = createHubClient({
        endpoint: hub.endpoint,
        cacheDir,
        token,
        retry: { maxRetries: 0 },
      });
      const dataset = await client.openDataset({ path });
      hub.fail({ match: /resolve|lfs/, fault: { kind: 'status', status: 503 } });
      const rows = async () => Array.fromAsync((await dataset.select({ split: 'train' })).rows());
      await expect(rows()).rejects.toMatchObject({ code: 'hub_unavailable' });
      hub.forget();
      expect(await rows()).toHaveLength(2);
    }
  });

  it('reads a new commit from the hub', async () => {
    hub.add({ id: 'o/text', files: { 'train.jsonl': lines(2) } });
    await read('o/text');
    hub.add({ id: 'o/text', files: { 'train.jsonl': lines(3) } });
    const { rows, sent } = await read('o/text');
    expect(rows).toEqual([0, 1, 2]);
    expect(sent).toBeGreaterThan(0);
  });

  it('removes what was not used for the longest time, and files of processes that died', async () => {
    const cacheMaxBytes = 400_000;
    const old = new Date(Date.now() - 86_400_000);
    for (let n = 0; n < 12; n += 1) {
      hub.add({ id: `o/d${n}`, files: { 'train.jsonl': lines(60, String(n % 10)) } });
    }
    await read('o/d0', { cacheMaxBytes });
    const dead = join(cacheDir, 'unfinished-x');
    await writeFile(dead, 'half');
    for (const path of await entries()) await utimes(path, old, old);
    for (let n = 1; n < 12; n += 1) {
      await read(`o/d${n}`, { cacheMaxBytes });
      const sizes = await Promise.all((await entries()).map(async (path) => (await stat(path)).size));
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(cacheMaxBytes);
    }
    expect(await entries()).not.toContain(dead);
    expect((await read('o/d11', { cacheMaxBytes })).sent).toBe(0);
    expect((await read('o/d0', { cacheMaxBytes })).sent).toBeGreaterThan(0);
    hub.add({ id: 'o/large', files: { 'train.jsonl': lines(400) } });
    expect((await read('o/large', { cacheMaxBytes })).rows).toHaveLength(400);
  });

  it('lets many clients fill and read it concurrently', async () => {
    hub.add({ id: 'o/text', files: { 'train.jsonl': lines(500), 'test.jsonl': lines(500, 'y') } });
    const all = await Promise.all(Array.from({ length: 8 }, () => read('o/text')));
    for (const { rows } of all) expect(rows).toEqual(Array.from({ length: 500 }, (_, n) => n));
    expect((await entries()).filter((path) => path.includes('unfinished'))).toEqual([]);
  });

  it('is left out where it cannot be written', async () => {
    hub.add({ id: 'o/text', files: { 'train.jsonl': lines(3) } });
    const file = join(cacheDir, 'file');
    await writeFile(file, '');
    expect((await read('o/text', { cacheDir: join(file, 'below') })).rows).toEqual([0, 1, 2]);
    expect(() => createHubClient({ cacheDir: '' })).toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    );
    expect(() => createHubClient({ cacheDir, cacheMaxBytes: 0 })).toThrow(RangeError);
  });
});
