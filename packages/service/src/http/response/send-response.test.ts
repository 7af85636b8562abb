import { once } from 'node:events';
import { get, type IncomingMessage, type RequestOptions, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { createGunzip, gunzipSync, zstdDecompressSync } from 'node:zlib';
import express from 'express';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { json, type RouteResponse, stream, text } from './response.ts';
import { sendResponse, writeStream } from './send-response.ts';

const LARGE = json({ rows: Array.from({ length: 500 }, (_, n) => ({ n, text: 'the same text' })) });
const ETAG = { 'Content-Type': 'application/jsonl', ETag: '"one"', 'Content-Disposition': 'attachment' };
let closed = 0;

async function* lines(count: number): AsyncGenerator<Uint8Array> {
  try {
    for (let n = 0; n < count; n += 1) yield Buffer.from(`${`{"n":${n}}\n`.repeat(8_000)}`);
  } finally {
    closed += 1;
  }
}

const RESPONSES: Record<string, () => RouteResponse> = {
  large: () => LARGE,
  small: () => json({ ok: true }),
  html: () => text('<p>'.repeat(2_000), 'text/html; charset=utf-8'),
  image: () => stream(lines(1), { 'Content-Type': 'image/png' }),
  events: () => stream(lines(1), { 'Content-Type': 'text/event-stream' }),
  lines: () => stream(lines(20), ETAG),
  endless: () => stream(lines(Number.POSITIVE_INFINITY), ETAG),
};

const app = express().disable('etag');
app.use((request, response, next) => {
  if (request.headers.origin === 'https://known') response.setHeader('Access-Control-Allow-Origin', '*');
  next();
});
app.get('/:name', async (request, response) => {
  const left = new AbortController();
  response.once('close', () => left.abort());
  const result = RESPONSES[request.params.name]?.() ?? json(null);
  await sendResponse(request, response, result, () => left.signal, 60_000).catch(() => undefined);
});
const server = app.listen(0, '127.0.0.1');
beforeAll(async () => {
  if (!server.listening) await once(server, 'listening');
});
afterAll(() => void server.close());

async function open(path: string, headers: Record<string, string>, method = 'GET'): Promise<IncomingMessage> {
  const options: RequestOptions = { port: (server.address() as AddressInfo).port, path, headers, method };
  const [response] = await once(get(options).end(), 'response');
  return response as IncomingMessage;
}

async function read(path: string, headers: Record<string, string>, method = 'GET') {
  const response = await open(path, headers, method);
  const body = Buffer.concat(await response.toArray());
  return { status: response.statusCode, headers: response.headers, body };
}

it('chooses the coding by its quality, zstd among equals, and names the header that it depends on', async () => {
  const cases: [accepted: string | undefined, coding: string | undefined][] = [
    ['gzip, deflate, br, zstd', 'zstd'],
    ['gzip, br', 'gzip'],
    ['zstd;q=0.5, gzip', 'gzip'],
    ['*', 'zstd'],
    ['gzip;q=0, zstd;q=0', undefined],
    ['gzip;q=0.1, identity;q=0.5', undefined],
    ['br', undefined],
    ['', undefined],
    [undefined, undefined],
    ['gzip;q=x, ;;,=', undefined],
  ];
  for (const [accepted, coding] of cases) {
    const { headers, body } = await read(
      '/large',
      accepted === undefined ? {} : { 'accept-encoding': accepted },
    );
    expect([accepted, headers['content-encoding'], headers.vary]).toEqual([
      accepted,
      coding,
      'Accept-Encoding',
    ]);
    expect(headers['content-length']).toBe(String(body.byteLength));
    const plain = coding === 'zstd' ? zstdDecompressSync(body) : coding === 'gzip' ? gunzipSync(body) : body;
    expect(JSON.parse(plain.toString()).rows).toHaveLength(500);
  }
});

it('leaves short texts, events and what is compressed already', async () => {
  const gzip = { 'accept-encoding': 'gzip' };
  expect((await read('/small', gzip)).headers).toMatchObject({
    vary: 'Accept-Encoding',
    'content-length': '12',
  });
  expect((await read('/small', gzip)).headers).not.toHaveProperty('content-encoding');
  expect((await read('/small', { 'accept-encoding': 'gzip, identity;q=0' })).headers).toHaveProperty(
    'content-encoding',
    'gzip',
  );
  expect((await read('/html', gzip)).headers).toHaveProperty('content-encoding', 'gzip');
  for (const path of ['/image', '/events']) {
    const { headers } = await read(path, gzip);
    expect(headers).not.toHaveProperty('content-encoding');
    expect(headers).not.toHaveProperty('vary');
  }
});

it('does not compress for a page of an unknown site, which could learn lengths', async () => {
  const foreign = { 'accept-encoding': 'gzip', 'sec-fetch-site': 'cross-site' };
  expect((await read('/large', foreign)).headers).not.toHaveProperty('content-encoding');
  const known = { ...foreign, origin: 'https://known' };
  expect((await read('/large', known)).headers).toHaveProperty('content-encoding', 'gzip');
});

it('states a weak tag for compressed bytes, and answers 304 for either', async () => {
  const plain = await read('/lines', {});
  expect(plain.headers.etag).toBe('"one"');
  const packed = await read('/lines', { 'accept-encoding': 'gzip' });
  expect(packed.headers.etag).toBe('W/"one"');
  expect(gunzipSync(packed.body).equals(plain.body)).toBe(true);
  for (const tag of ['"one"', 'W/"one"', '"two", "one"', '*']) {
    const again = await read('/lines', { 'accept-encoding': 'gzip', 'if-none-match': tag });
    expect([again.status, again.body.byteLength]).toEqual([304, 0]);
    expect(again.headers).toMatchObject({ etag: 'W/"one"', vary: 'Accept-Encoding' });
    expect(again.headers).not.toHaveProperty('content-encoding');
  }
  expect((await read('/lines', { 'if-none-match': '"other"' })).status).toBe(200);
});

it('gives HEAD the headers of GET, and no length that it does not know', async () => {
  const head = await read('/large', { 'accept-encoding': 'zstd' }, 'HEAD');
  expect(head.headers).toMatchObject({ 'content-encoding': 'zstd', vary: 'Accept-Encoding' });
  expect(head.headers).not.toHaveProperty('content-length');
  expect(head.body.byteLength).toBe(0);
  expect((await read('/large', {}, 'HEAD')).headers).toHaveProperty('content-length');
});

it('sends rows before the source has ended, and closes it when the client leaves', async () => {
  const before = closed;
  const response = await open('/endless', { 'accept-encoding': 'gzip' });
  const [first] = await once(response.pipe(createGunzip()), 'data');
  expect(String(first)).toMatch(/^\{"n":0\}\n/);
  response.destroy();
  await expect.poll(() => closed).toBe(before + 1);
});

it('throws the reason of the signal while the reader takes nothing', async () => {
  const stalled = new Writable({ highWaterMark: 1, write: () => undefined }) as ServerResponse;
  const stopping = new AbortController();
  async function* chunks() {
    yield new Uint8Array(10);
  }
  const writing = writeStream(stalled, chunks(), 60_000, stopping.signal);
  const reason = new Error('The service is stopping.');
  setImmediate(() => stopping.abort(reason));
  await expect(writing).rejects.toBe(reason);
});
