import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildZip } from '../../../../packages/pkg-format/test/build-zip.ts';
import { report } from './report.ts';
import { uploadForm } from './sample-packages.ts';
import { type OwnService, startService } from './start-service.ts';
import { ask } from './stored-datasets.ts';

const MIB = 1024 * 1024;
const ASSET_BYTES = 20 * MIB;
/** One page, which has 2.8 GB with its files: eight times what the process may take. */
const ITEMS = 100;
const REFERENCES = 21;
/** Readers that take the head of a response and nothing more. */
const STALLED = 16;
/** One process does all of it, threads included; bench/ measures each use in a process with less. */
const MAX_PEAK_BYTES = 350e6;

let own: OwnService;
let url: string;
let model: Server;
let sentBytes = 0;
beforeAll(async () => {
  model = createServer(async (request, response) => {
    for await (const chunk of request) sentBytes += (chunk as Buffer).byteLength;
    response.setHeader('content-type', 'application/json');
    response.end('{"choices":[{"message":{"content":"x"}}]}');
  });
  await once(model.listen(0, '127.0.0.1'), 'listening');
});
beforeEach(async () => {
  // The one item would have 588 MB with its files.
  own = await startService(
    {
      SVC_MAX_LINE_BYTES: String(1024 * MIB),
      SVC_MAX_STREAMS_PER_CLIENT: String(STALLED),
    },
    'standalone',
  );
  url = own.service.url;
});
afterEach(() => own[Symbol.asyncDispose]());
afterAll(() => {
  model.closeAllConnections();
  model.close();
});

const asset = randomBytes(ASSET_BYTES);

async function upload(items: number, references: number, content = asset): Promise<string> {
  const assets = Array.from({ length: references }, () => 'assets/shared.png');
  const lines = Array.from({ length: items }, (_, id) => {
    return JSON.stringify({ id, type: 'exact', answer: 'x', inputs: { prompt: 'p' }, assets });
  });
  const archive = buildZip({
    entries: [
      { name: 'sections/default.jsonl', content: lines.join('\n'), method: 'deflated' },
      { name: 'assets/shared.png', content, method: 'stored' },
    ],
  }) as Uint8Array<ArrayBuffer>;
  const { status, body, text } = await ask(`${url}/datasets/upload`, {
    method: 'POST',
    body: uploadForm(archive, 'shared'),
  });
  expect(status, text).toBe(201);
  return body.id;
}

/** The length of a response, and its hash. */
async function read(path: string): Promise<{ bytes: number; sha256: string; end: string }> {
  const response = await fetch(url + path);
  expect(response.status, path).toBe(200);
  const hash = createHash('sha256');
  let bytes = 0;
  let end = Buffer.alloc(0);
  for await (const chunk of response.body as ReadableStream<Uint8Array>) {
    bytes += chunk.byteLength;
    hash.update(chunk);
    end = Buffer.concat([end, chunk]).subarray(-2_000);
  }
  return { bytes, sha256: hash.digest('hex'), end: end.toString() };
}

/** Bytes that the service's process has in memory, or had at most. */
async function memoryOf(field: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${own.service.child.pid}/status`, 'utf8').catch(() => '');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0) * 1024;
}

async function run(datasetId: string): Promise<string> {
  const port = (model.address() as AddressInfo).port;
  const provider = { type: 'openai_compatible', base_url: `http://127.0.0.1:${port}/v1`, model: 'm' };
  let { body } = await ask(`${url}/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ dataset_id: datasetId, config: { provider, concurrency: 4 } }),
  });
  while (!['completed', 'failed', 'cancelled'].includes(body.status)) {
    await delay(50);
    ({ body } = await ask(`${url}/runs/${body.id}`));
  }
  return `${body.status} ${body.counts.ok}`;
}

describe('an asset that is large and shared', () => {
  const base64Bytes = Math.ceil(ASSET_BYTES / 3) * 4;

  it.for([
    { items: 1, references: REFERENCES },
    { items: ITEMS, references: 1 },
  ])(
    '$items items with $references references',
    { timeout: 600_000 },
    async ({ items, references }, context) => {
      const size = async (): Promise<number> =>
        Number((await own.query(`SELECT pg_total_relation_size('assets') AS bytes`))[0].bytes);
      await own.query('DELETE FROM datasets');
      await own.query('TRUNCATE assets CASCADE');
      const before = await size();
      const id = await upload(items, references);
      const other = await upload(items, references);
      const growth = ((await size()) - before) / ASSET_BYTES;
      expect(growth).toBeLessThan(1.1);

      // All of it is as many bytes as its files have in base64, and little else.
      const lines = await read(`/datasets/${id}/items.jsonl`);
      expect(lines.bytes).toBeGreaterThan(items * references * base64Bytes);
      const first = await read(`/datasets/${id}/items?limit=100`);
      expect(first.bytes).toBeGreaterThan(references * base64Bytes);
      expect(first.end).toContain(`"total_items":${items}`);
      const links = await ask(`${url}/datasets/${id}/items?limit=100&assets=link`);
      expect(links.body.data[0].item.assets).toHaveLength(references);
      expect(await read(links.body.data[0].item.assets[0].url)).toMatchObject({
        bytes: ASSET_BYTES,
        sha256: createHash('sha256').update(asset).digest('hex'),
      });
      expect((await read(`/datasets/${id}/export`)).bytes).toBeLessThan(ASSET_BYTES * 1.1);
      const { body: diff } = await ask(`${url}/datasets/${id}/diff/${other}`);
      expect(diff.counts).toEqual({ added: 0, removed: 0, changed: 0, unchanged: items });
      sentBytes = 0;
      expect(await run(id)).toBe(`completed ${items}`);
      expect(sentBytes).toBeGreaterThan(items * references * base64Bytes);

      const peakBytes = await memoryOf('VmHWM');
      expect(own.service.hasEnded(), own.service.stderr()).toBe(false);
      expect(peakBytes).toBeLessThan(MAX_PEAK_BYTES);
      report(context, {
        area: 'Assets',
        scenario: `an asset of ${ASSET_BYTES / MIB} MiB with ${references === 1 ? 'one reference in each item' : `${references} references in one item`}: uploaded twice, listed, streamed, exported, compared and run`,
        expected: `stored once, under ${MAX_PEAK_BYTES / 1e6} MB of memory, every byte arrives`,
        runs: items,
        observed: { 'as expected': items },
      });
    },
  );

  it('waits for readers that stall, and holds neither its bytes nor a connection', async (context) => {
    const large = randomBytes(24 * MIB);
    const id = await upload(1, 1, large);
    const { body } = await ask(`${url}/datasets/${id}/items?assets=link`);
    const path = body.data[0].item.assets[0].url;
    const before = await memoryOf('VmRSS');
    const sockets = await Promise.all(
      Array.from({ length: STALLED }, async () => {
        const { hostname, port } = new URL(url);
        const socket = connect(Number(port), hostname);
        socket.on('error', () => undefined);
        socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
        const [head] = (await once(socket, 'data')) as [Buffer];
        socket.pause();
        return { socket, head: head.toString('latin1', 0, 15) };
      }),
    );
    expect(new Set(sockets.map(({ head }) => head))).toEqual(new Set(['HTTP/1.1 200 OK']));
    // Each connection of the pool comes back: the next bytes are asked for when they are needed.
    const busy = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
      AND backend_type = 'client backend' AND state <> 'idle'`;
    await expect.poll(() => own.query(busy)).toEqual([]);
    expect((await ask(`${url}/datasets`)).status).toBe(200);
    // 16 of 24 MiB would be 403 MB.
    expect((await memoryOf('VmRSS')) - before).toBeLessThan(128 * MIB);

    for (const { socket } of sockets) socket.destroy();
    const left = (): number =>
      own.service.log().filter(({ event, status_code }) => event === 'http.request' && status_code === 499)
        .length;
    await expect.poll(left).toBe(STALLED);
    expect(await read(path)).toMatchObject({ bytes: large.byteLength });
    report(context, {
      area: 'Assets',
      scenario: `${STALLED} clients that take the head of an asset of 24 MiB and stall, then leave`,
      expected: 'memory of some pieces, no connection of the database held, all streams end',
      runs: STALLED,
      observed: { 'as expected': STALLED },
    });
  });
});
