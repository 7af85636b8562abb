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

it('finds datasets by name, those that their token may see', async () => {
  hub.add({ id: 'o/secret', access: 'private', readers: ['hf_reader_token'], files: {} });
  hub.tokens.add('hf_reader_token');
  await using client = createHubClient({ endpoint: hub.endpoint });
  expect((await client.findDatasets('O/')).map(({ id }) => id)).toEqual(['o/d']);
  const seen = await client.findDatasets('o/', { token: 'hf_reader_token', limit: 5 });
  expect(seen.map(({ id }) => id)).toEqual(['o/d', 'o/secret']);
  hub.forget();
  for (const query of [' ', 'x'.repeat(201)])
    await expect(client.findDatasets(query)).rejects.toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    );
  await expect(client.findDatasets('o', { limit: 51 })).rejects.toThrow(RangeError);
  expect(hub.requests).toEqual([]);
});
