import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { makePackage, uploadForm } from './make-package.ts';
import { openConnection, type RawConnection } from './raw-connection.ts';
import { startTestApi, type TestApi } from './start-test-api.ts';

let cleanUp: AsyncDisposableStack;
let api: TestApi;
/** Waits hardly for headers: a busy machine delays those of others longer than that. */
let hasty: TestApi;
/** Waits longer for the next byte, which a busy machine delays. */
let patient: TestApi;
beforeAll(async () => {
  cleanUp = new AsyncDisposableStack();
  patient = cleanUp.use(
    await startTestApi({ SVC_IDLE_BODY_TIMEOUT_MS: '1500', SVC_SLOW_UPLOAD_TIMEOUT_MS: '3000' }),
  );
  hasty = cleanUp.use(await startTestApi({ SVC_HEADERS_TIMEOUT_MS: '1000' }));
  api = cleanUp.use(
    await startTestApi({
      SVC_IDLE_BODY_TIMEOUT_MS: '1000',
      SVC_JSON_REQUEST_TIMEOUT_MS: '3000',
      SVC_SLOW_UPLOAD_TIMEOUT_MS: '3000',
    }),
  );
  const body = uploadForm(await makePackage({ 'sections/a.jsonl': '{}' }), { handle: 'lines' });
  await fetch(`${api.url}/datasets/upload`, { method: 'POST', body });
});
afterAll(() => cleanUp.disposeAsync());

const UUID = '00000000-0000-4000-8000-000000000000';
const PATCH = `PATCH /datasets/${UUID} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n`;
const UPLOAD =
  'POST /datasets/upload HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\n';
const LINES = `POST /datasets/lines/items?mode=append HTTP/1.1\r\nHost: x\r\nContent-Type: application/jsonl\r\n`;
const FILE = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.zip"\r\n\r\n';

/** Sends a byte every now and then until the server ends the connection. */
async function dribble(connection: RawConnection, byte: string): Promise<string> {
  let over = false;
  void connection.ended.then(() => {
    over = true;
  });
  while (!over) {
    connection.send(byte);
    await delay(50);
  }
  return await connection.ended;
}

// They wait for what the service does when they do nothing: side by side.
describe.concurrent('a slow client', () => {
  it('that says nothing at all is let go', async ({ expect }) => {
    using connection = await openConnection(hasty.url);
    expect(await connection.ended).toMatch(/^(?:HTTP\/1\.1 408 |$)/);
  });

  it('whose headers dribble gets 408', async ({ expect }) => {
    using connection = await openConnection(hasty.url);
    connection.send('GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ');
    const answer = await dribble(connection, 'x');
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer).toContain('"code":"request_timeout"');
  });

  it('whose next headers dribble on a kept-alive connection gets 408', async ({ expect }) => {
    using connection = await openConnection(hasty.url);
    connection.send('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    await connection.until(/"status":"ok"/);
    connection.send('GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ');
    expect(await dribble(connection, 'x')).toMatch(/\}HTTP\/1\.1 408 /);
  });

  it.for<readonly [name: string, start: string]>([
    ['a JSON body', `${PATCH}{"name"`],
    ['an upload before its first part', `${UPLOAD}Content-Length: 1000\r\n\r\n`],
    ['an upload in the middle of its file', `${UPLOAD}Content-Length: 1000\r\n\r\n${FILE}xx`],
    ['an upload after its last part', `${UPLOAD}Content-Length: 1000\r\n\r\n${FILE}xx\r\n--b--\r\n`],
    ['the lines of items', `${LINES}Content-Length: 1000\r\n\r\n{"id":1}\n`],
    ['a chunked upload', `${UPLOAD}Transfer-Encoding: chunked\r\n\r\n5\r\n--b\r\n`],
  ])('that stops in %s gets 408, and leaves nothing', async ([_name, start], { expect }) => {
    using connection = await openConnection(api.url);
    connection.send(start);
    const answer = await connection.ended;
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer).toContain('Nothing of the body arrived for 1000 ms');
    await expect.poll(() => api.stagedFiles()).toEqual([]);
  });

  it('whose JSON body dribbles gets 408 when the whole takes too long', async ({ expect }) => {
    using connection = await openConnection(api.url);
    connection.send(PATCH);
    const answer = await dribble(connection, ' ');
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer).toContain('did not arrive within 3000 ms');
  });

  it.for<readonly [name: string, start: string]>([
    ['in the middle of its file', `${UPLOAD}Content-Length: 1000000\r\n\r\n${FILE}xx`],
    ['before its first part', `${UPLOAD}Content-Length: 1000000\r\n\r\n`],
    ['in the middle of a line', `${LINES}Content-Length: 1000000\r\n\r\n{"id":1}\n{`],
  ])('whose upload dribbles %s gets 408, and leaves nothing', async ([_name, start], { expect }) => {
    using connection = await openConnection(api.url);
    connection.send(start);
    const answer = await dribble(connection, 'x');
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer).toContain('Fewer than 65536 bytes of the body arrived in 3000 ms');
    await expect.poll(() => api.stagedFiles()).toEqual([]);
  });

  it('holds at most half of the permits for uploads, so that others get one', async ({ expect }) => {
    const keys = ['first-editor-key-of-the-tests', 'other-editor-key-of-the-tests'] as const;
    await using shared = await startTestApi({
      SVC_API_KEYS: keys.map((key) => `editor:${key}`).join(','),
      SVC_MAX_CONCURRENT_UPLOADS: '4',
      SVC_IMPORT_WAIT_MS: '300',
    });
    using slow = new DisposableStack();
    const upload = async (key: string): Promise<RawConnection> => {
      const connection = slow.use(await openConnection(shared.url));
      connection.send(
        `${UPLOAD}Authorization: Bearer ${key}\r\nContent-Length: 100000\r\n\r\n${FILE}${'x'.repeat(80_000)}`,
      );
      return connection;
    };
    for (let index = 0; index < 2; index++) await upload(keys[0]);
    await expect.poll(() => shared.stagedFiles()).toHaveLength(2);
    const third = await upload(keys[0]);
    await third.until(/^HTTP\/1\.1 503 [\s\S]*"code":"unavailable"/);
    const archive = await makePackage({ 'sections/a.jsonl': '{}' });
    const response = await fetch(`${shared.url}/datasets/upload`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${keys[1]}` },
      body: uploadForm(archive),
    });
    expect(response.status).toBe(201);
  });

  it('holds at most half of the permits for results, so that others get one', async ({ expect }) => {
    const keys = ['first-editor-key-of-the-tests', 'other-editor-key-of-the-tests'] as const;
    await using shared = await startTestApi({
      SVC_API_KEYS: keys.map((key) => `editor:${key}`).join(','),
      SVC_IMPORT_WAIT_MS: '300',
    });
    const authorization = (key: string): string => `Bearer ${key}`;
    const post = async (path: string, body: FormData | string, type?: string): Promise<Response> =>
      await fetch(`${shared.url}${path}`, {
        method: 'POST',
        headers: { Authorization: authorization(keys[1]), ...(type && { 'Content-Type': type }) },
        body,
      });
    const archive = await makePackage({ 'sections/a.jsonl': '{"id":"a"}' });
    const { id } = (await (await post('/datasets/upload', uploadForm(archive))).json()) as { id: string };
    const config = { provider: { type: 'external', label: 'x' } };
    const run = await post('/runs', JSON.stringify({ dataset_id: id, config }), 'application/json');
    const path = `/runs/${((await run.json()) as { id: string }).id}/results`;
    using slow = new DisposableStack();
    const push = async (): Promise<RawConnection> => {
      const connection = slow.use(await openConnection(shared.url));
      connection.send(
        `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization(keys[0])}\r\nContent-Type: application/jsonl\r\nContent-Length: 1000\r\n\r\n{`,
      );
      return connection;
    };
    const pushed = await Promise.all(Array.from({ length: 13 }, push));
    const refused = await Promise.race(pushed.map((connection) => connection.until(/"code":"unavailable"/)));
    expect(refused).toContain('at most 24, 12 per client');
    expect((await post(path, '{"item_id":"a","output":"x"}\n', 'application/jsonl')).status).toBe(200);
  });

  it('may take its time with an upload that keeps a pace', async () => {
    const section = `{"inputs":{"prompt":"${randomBytes(1_000_000).toString('hex')}"}}`;
    const archive = await makePackage({ 'sections/a.jsonl': section });
    const body = Buffer.concat([Buffer.from(FILE), archive, Buffer.from('\r\n--b--\r\n')]);
    using connection = await openConnection(patient.url);
    connection.send(`${UPLOAD}Content-Length: ${body.byteLength}\r\n\r\n`);
    // twice the time that 64 KiB have
    const step = Math.ceil(body.byteLength / 40);
    for (let at = 0; at < body.byteLength; at += step) {
      connection.send(body.subarray(at, at + step));
      await delay(150);
    }
    await connection.until(/^HTTP\/1\.1 201 /);
  });

  it('may take its time with an upload that keeps arriving', async () => {
    const archive = await makePackage({ 'sections/a.jsonl': '{}' });
    const body = Buffer.concat([Buffer.from(FILE), archive, Buffer.from('\r\n--b--\r\n')]);
    using connection = await openConnection(patient.url);
    connection.send(`${UPLOAD}Content-Length: ${body.byteLength}\r\n\r\n`);
    const step = Math.ceil(body.byteLength / 15);
    for (let at = 0; at < body.byteLength; at += step) {
      connection.send(body.subarray(at, at + step));
      await delay(150);
    }
    await connection.until(/^HTTP\/1\.1 201 /);
  });

  it('that announces an unwanted body gets a response, and is disconnected', async ({ expect }) => {
    using connection = await openConnection(api.url);
    connection.send('GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n');
    await connection.until(/"status":"ok"/);
    expect(await dribble(connection, 'x')).toMatch(/^HTTP\/1\.1 200 /);
  });

  it.for<readonly [name: string, start: string, status: number]>([
    ['after nonsense', 'NONSENSE\r\n\r\n', 400],
    ['after headers that are too large', `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['after headers that never ended', 'GET / HTTP/1.1\r\n', 408],
    ['after asking for a proxy', 'CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n', 405],
    ['after its last request', 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 200],
  ])('that does not close its side %s is cut off', async ([_name, start, status]) => {
    using connection = await openConnection((status === 408 ? hasty : api).url, { allowHalfOpen: true });
    connection.send(start);
    await connection.until(new RegExp(`^HTTP/1\\.1 ${status} `));
    await dribble(connection, 'x');
  });
});
