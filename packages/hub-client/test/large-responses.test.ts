import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createHubClient, type HubClient, type RequestEvent } from '../src/index.ts';

const COMMIT = '0123456789012345678901234567890123456789';
const CHUNK = 64 * 1024;

const about = { id: 'o/d', sha: COMMIT, private: false, gated: false };
const listing = (count: number): Buffer =>
  Buffer.from(
    JSON.stringify(
      Array.from({ length: count }, (_, n) => ({
        type: 'file',
        path: `d${n % 1000}/train-${n}.csv`,
        size: 5,
      })),
    ),
  );

/** Works with a hub that gives these bodies, and returns what was asked of it. */
async function withHub(
  bodies: { info: Buffer; tree?: Buffer },
  work: (client: HubClient) => Promise<unknown>,
): Promise<RequestEvent[]> {
  await using hub = createServer((request, response) => {
    const path = request.url ?? '';
    const body = path.includes('/tree/') ? bodies.tree : bodies.info;
    pipeline(Readable.from(cut(body ?? Buffer.from('[]')), { objectMode: false }), response, () => {});
  });
  await new Promise<void>((resolve) => hub.listen(0, '127.0.0.1', resolve));
  const events: RequestEvent[] = [];
  await using client = createHubClient({
    endpoint: `http://127.0.0.1:${(hub.address() as AddressInfo).port}`,
    retry: { maxRetries: 0 },
    onRequest: (event) => events.push(event),
  });
  try {
    await work(client);
    return events;
  } finally {
    hub.closeAllConnections();
  }
}

function* cut(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; at += CHUNK) yield body.subarray(at, at + CHUNK);
}

const members = (count: number): string => Array.from({ length: count }, (_, n) => `"k${n}":{}`).join(',');

describe('a response that costs more than it is worth', () => {
  it.each([
    ['brackets', Buffer.alloc(30_000_000, '[')],
    ['brackets in the card', Buffer.from(`{"cardData":${'['.repeat(30_000_000)}`)],
    ['brackets in a member without use', Buffer.from(`{"x":${'['.repeat(30_000_000)}`)],
    ['members without use', Buffer.from(`{${members(2_000_000)}}`)],
  ])('of %s is refused before its end', async (_name, info) => {
    const events = await withHub({ info }, async (client) => {
      await expect(client.openDataset({ path: 'o/d' })).rejects.toMatchObject({ code: 'hub_bad_response' });
    });
    expect(events[0]?.bytes).toBeLessThan(10_000_000);
  });

  it('with a card of 60,000 members is read', async () => {
    const card = `"cardData":{"configs":[{"config_name":"c"}],"x":{${members(60_000)}}}`;
    const text = `{${JSON.stringify(about).slice(1, -1)},${card}}`;
    const tree = listing(1);
    await withHub({ info: Buffer.from(text), tree }, async (client) => {
      expect((await client.openDataset({ path: 'o/d' })).splits).toMatchObject([{ split: 'train' }]);
    });
  });

  it.each([
    ['by their names', 20_000, {}],
    ['by a pattern', 20_000, { configs: [{ config_name: 'c', data_files: 'd*/*.csv' }] }],
  ])('with many files, chosen %s, is read', async (_name, count, cardData) => {
    const info = Buffer.from(JSON.stringify({ ...about, cardData }));
    await withHub({ info, tree: listing(count) }, async (client) => {
      const dataset = await client.openDataset({ path: 'o/d' });
      expect(dataset.splits).toMatchObject([{ split: 'train' }]);
      // The hub sends no such file.
      await expect(dataset.select()).rejects.toMatchObject({ code: 'hub_bad_response' });
    });
  });
});
