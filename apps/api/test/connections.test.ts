import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makePackage, uploadForm } from './make-package.ts';
import { openConnection } from './raw-connection.ts';
import { startTestApi, type TestApi } from './start-test-api.ts';

let api: TestApi;
/** a dataset whose export is larger than what the sockets in between hold */
let large: string;
beforeAll(async () => {
  api = await startTestApi({ SVC_DATABASE_POOL_SIZE: '8' });
  const line = (index: number): string =>
    `{"id":${index},"inputs":{"prompt":"${randomBytes(6000).toString('base64')}"}}`;
  const archive = await makePackage({
    'sections/a.jsonl': Array.from({ length: 2000 }, (_, index) => line(index)).join('\n'),
  });
  const response = await fetch(`${api.url}/datasets/upload`, { method: 'POST', body: uploadForm(archive) });
  expect(response.status).toBe(201);
  large = ((await response.json()) as { id: string }).id;
});
afterAll(() => api[Symbol.asyncDispose]());

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

/** Sum of the gauge over all methods and paths. */
async function inProgress(of: TestApi = api): Promise<number> {
  const text = await of.metrics.render();
  const samples = text.match(/^svc_http_requests_in_progress\{.*\} \d+$/gm) ?? [];
  return samples.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

describe('pipelined requests', () => {
  it('get their responses in order, errors among them', async () => {
    using connection = await openConnection(api.url);
    const paths = Array.from({ length: 50 }, (_, index) =>
      index % 2 === 0 ? '/healthz' : `/nothing/${index}`,
    );
    connection.send(paths.map(get).join(''));
    const statuses = (): string[] => connection.answer().match(/(?<=HTTP\/1\.1 )\d+/g) ?? [];
    await expect.poll(statuses).toEqual(paths.map((path) => (path === '/healthz' ? '200' : '404')));
    expect(connection.answer().match(/(?<="instance":")[^"]+/g)).toEqual(
      paths.filter((path) => path !== '/healthz'),
    );
    await expect.poll(() => inProgress()).toBe(0);
  });

  it('hold nothing after their client has gone, also those whose turn had not come', async () => {
    // more requests than the pool has connections
    for (let round = 0; round < 2; round++) {
      using connection = await openConnection(api.url);
      connection.send(get(`/datasets/${large}/items.jsonl`).repeat(6));
      await connection.until(/HTTP\/1\.1 200/);
      connection.socket.pause();
      await expect.poll(() => inProgress()).toBe(6);
      connection.socket.destroy();
      await expect.poll(() => inProgress()).toBe(0);
    }
    await expect.poll(() => api.log().filter((line) => line['status_code'] === 499)).toHaveLength(12);
    // a permit that is still held would make this wait until it is rejected
    const response = await fetch(`${api.url}/datasets/${large}/items.jsonl`);
    expect((await response.text()).split('\n')).toHaveLength(2001);
  });
});

describe('a drain', () => {
  it('closes connections after their last response, whatever their clients do', async () => {
    await using draining = await startTestApi();
    using connection = await openConnection(draining.url);
    const body = '{"name":"x"}';
    connection.send(
      'PATCH /datasets/00000000-0000-4000-8000-000000000000 HTTP/1.1\r\nHost: x\r\n' +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n{`,
    );
    await expect.poll(() => inProgress(draining)).toBe(1);
    // Node itself would wait five seconds for another request
    const deadline = AbortSignal.timeout(4000);
    const stopped = draining.stop(deadline);
    connection.send(body.slice(1));
    await connection.until(/"code":"dataset_not_found"/);
    await stopped;
    expect(deadline.aborted).toBe(false);
  });

  it('is not ready and still serves for SVC_DRAIN_DELAY_MS, and lets no client keep its connection', async () => {
    await using leaving = await startTestApi({ SVC_DRAIN_DELAY_MS: '60000' });
    const ending = new AbortController();
    const stopped = leaving.stop(ending.signal);
    const ready = await fetch(`${leaving.url}/readyz`);
    expect([ready.status, await ready.json()]).toMatchObject([
      503,
      { checks: { database: { ok: true }, accepting: { ok: false, reason: 'draining' } } },
    ]);
    const list = await fetch(`${leaving.url}/datasets`);
    expect([list.status, list.headers.get('connection')]).toEqual([200, 'close']);
    ending.abort();
    await stopped;
    await expect(fetch(`${leaving.url}/datasets`)).rejects.toThrow();
  });

  it('does not wait for connections without a first byte', async () => {
    await using draining = await startTestApi();
    using silent = await openConnection(draining.url);
    using late = await openConnection(draining.url);
    const timeout = AbortSignal.timeout(60_000);
    const stopped = draining.stop(timeout);
    late.send(get('/healthz'));
    // a request in time gets a response
    expect(await late.ended).toMatch(/^HTTP\/1\.1 200 /);
    expect(await silent.ended).toBe('');
    await stopped;
    expect(timeout.aborted).toBe(false);
  });
});
