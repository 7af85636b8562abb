import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createHubClient } from '../src/index.ts';
import { VERSION } from '../src/version.ts';
import { type FakeHub, startFakeHub } from './fake-hub.ts';

let hub: FakeHub;
const text = Array.from({ length: 40_000 }, (_, n) => `{"n":${n},"text":"${'x'.repeat(200)}"}\n`).join('');

beforeEach(async () => {
  hub = await startFakeHub({ id: 'o/d', files: { 'train.jsonl': text } });
});
afterEach(() => hub.close());

it('names itself and its version to the hub, or what you name', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  expect(VERSION).toBe(version);
  for (const [userAgent, sent] of [
    [undefined, `svc-hub-client/${version}`],
    ['mine/2', 'mine/2'],
  ]) {
    await using client = createHubClient({ endpoint: hub.endpoint, userAgent });
    hub.forget();
    await client.openDataset({ path: 'o/d' });
    expect(new Set(hub.requests.map(({ headers }) => headers['user-agent']))).toEqual(new Set([sent]));
  }
});

it('refuses unknown options before any request', async () => {
  // as a caller without types would
  const make = createHubClient as (options?: unknown) => ReturnType<typeof createHubClient>;
  const cases: [unknown, string][] = [
    [{ endpont: hub.endpoint }, '"endpont" is not an option of createHubClient: these are endpoint, token, '],
    [{ timeouts: { connect: 1 } }, '"connect" is not an option of timeouts: '],
    [{ retry: { max: 1 } }, '"max" is not an option of retry: '],
    ['https://hub.test', 'Options of createHubClient must be an object, got string.'],
  ];
  for (const [options, message] of cases) {
    expect(() => make(options)).toThrow(new RegExp(`^${message}`));
    expect(() => make(options)).toThrow(TypeError);
  }
  await using client = createHubClient({ endpoint: hub.endpoint });
  const open = client.openDataset as (options: unknown) => ReturnType<typeof client.openDataset>;
  await expect(open({ path: 'o/d', revison: 'x' })).rejects.toThrow(
    /^"revison" is not an option of openDataset/,
  );
  await expect(open({ path: 'o/d', retry: { max: 1 } })).rejects.toThrow(TypeError);
  expect(hub.requests).toEqual([]);
  const dataset = await client.openDataset({ path: 'o/d' });
  const select = dataset.select as (options: unknown) => ReturnType<typeof dataset.select>;
  await expect(select({ spilt: 'train' })).rejects.toThrow(/^"spilt" is not an option of select/);
  const selection = await select({ split: 'train', subset: undefined });
  for (const method of ['rows', 'rowBatches', 'cellBatches'] as const) {
    const read = selection[method] as (options: unknown) => AsyncGenerator;
    await expect(read({ colums: ['n'] }).next()).rejects.toThrow(/^"colums" is not an option of rows/);
  }
});

it('says that it is closed', async () => {
  for (const own of [undefined, fetch]) {
    const client = createHubClient({ endpoint: hub.endpoint, fetch: own });
    const dataset = await client.openDataset({ path: 'o/d' });
    const rows = (await dataset.select()).rows();
    await rows.next();
    await client.close();
    await client.close();
    const closed = { code: 'hub_unavailable', message: 'Cannot read from the hub: the client is closed.' };
    await expect(Array.fromAsync(rows)).rejects.toMatchObject(closed);
    await expect(dataset.select()).rejects.toMatchObject(closed);
    await expect(client.openDataset({ path: 'o/d' })).rejects.toMatchObject(closed);
  }
});
