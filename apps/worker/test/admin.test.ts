import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openConnection } from '../../api/test/raw-connection.ts';
import { startTestService, type TestService } from './start-test-service.ts';

let service: TestService;
let url: string;
beforeAll(async () => {
  service = await startTestService({
    env: { SVC_METRICS_KEY: 'metrics-key-of-the-tests', SVC_API_KEYS: 'viewer:viewer-key-of-the-tests' },
  });
  url = service.worker.url as string;
});
afterAll(() => service[Symbol.asyncDispose]());

it.each([
  ['GET', '/healthz', 200],
  ['HEAD', '/healthz', 200],
  ['GET', '/readyz', 200],
  ['POST', '/healthz', 405],
  ['GET', '/metrics', 401],
  ['GET', '/nothing', 404],
])('answers %s %s with %i and a request id', async (method, path, status) => {
  const response = await fetch(`${url}${path}`, { method, headers: { 'x-request-id': 'mine' } });
  expect(response.status).toBe(status);
  expect(response.headers.get('x-request-id')).toBe('mine');
  const made = await fetch(`${url}${path}`, { method });
  expect(made.headers.get('x-request-id')).toMatch(/^[0-9a-f]{32}$/);
  if (status >= 400) {
    expect(await response.json()).toMatchObject({ status, instance: path, request_id: 'mine' });
  }
});

it('is alive and ready as the API is', async () => {
  expect(await (await fetch(`${url}/healthz`)).text()).toBe('{"status":"ok"}');
  expect(await (await fetch(`${url}/readyz`)).json()).toEqual({
    status: 'ok',
    checks: { database: { ok: true }, queue: { ok: true }, accepting: { ok: true } },
  });
  expect(service.workerLog().some(({ event }) => event === 'healthz.check')).toBe(true);
});

it.each([
  ['metrics-key-of-the-tests', 200],
  ['viewer-key-of-the-tests', 200],
  ['wrong', 401],
])('shows its metrics for the key %s: %i', async (key, status) => {
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${key}` } });
  expect(response.status).toBe(status);
  if (status === 401) return expect(response.headers.get('www-authenticate')).toBe('Bearer realm="svc"');
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const text = await response.text();
  expect(text).toContain('runs_cancel_poll_count 0');
  expect(text).toContain('svc_queue_jobs{state="queued"} 0');
  for (const check of ['database', 'queue', 'accepting'])
    expect(text).toContain(`svc_ready{check="${check}"} 1`);
  expect(text).toMatch(/svc_http_requests_total\{method="GET",path="\/healthz",status_code="200"\} \d+/);
  expect(text).not.toContain('/nothing');
  // What is measured when metrics are read; an empty database takes some megabytes.
  expect(text).toMatch(/^svc_database_pool_connections\{state="(?:used|idle)"\} [1-9]/m);
  expect(text).toContain('svc_database_pool_waiting 0');
  expect(text).toMatch(/^svc_database_size_bytes \d{7,}$/m);
  expect(text).toMatch(/^svc_disk_free_bytes\{volume="data"\} [1-9]/m);
  expect(text).toMatch(/^svc_http_route_duration_seconds_count\{method="GET",route="\/healthz"\} \d+$/m);
});

it.each(['/healthz', '/metrics', '/nothing'])('refuses an id that is too long at %s', async (path) => {
  const response = await fetch(`${url}${path}`, { headers: { 'x-request-id': 'x'.repeat(1_025) } });
  expect(response.status).toBe(431);
  expect(await response.json()).toMatchObject({ code: 'request_id_too_long' });
  expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f]{32}$/);
});

it('answers what is not HTTP, with an id', async () => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.end('nonsense\r\n\r\n');
  let text = '';
  for await (const chunk of socket.setEncoding('utf8')) text += chunk;
  expect(text).toMatch(/^HTTP\/1\.1 400 /);
  expect(text).toMatch(/X-Request-ID: [0-9a-f]{32}\r\n/);
});

it('refuses requests for another host, and slows down clients that guess keys', async () => {
  await using open = await startTestService();
  const own = open.worker.url as string;
  const { port } = new URL(own);
  const status = async (to: string, hosts: readonly string[], path = '/metrics'): Promise<string> => {
    using connection = await openConnection(to);
    const head = [`GET ${path} HTTP/1.1`, ...hosts.map((host) => `Host: ${host}`), 'Connection: close'];
    connection.send(`${head.join('\r\n')}\r\n\r\n`);
    const answer = await connection.ended;
    return `${answer.slice(9, 12)} ${/"code":"(\w+)"/.exec(answer)?.[1] ?? ''}`.trim();
  };
  for (const path of ['/metrics', '/healthz', '/readyz', '/nothing']) {
    expect(await status(own, [`evil.example:${port}`], path)).toBe('421 misdirected_request');
    expect(await status(own, ['a@b'], path)).toBe('400 invalid_request');
    expect(await status(own, [`127.0.0.1:${port}`, `127.0.0.1:${port}`], path)).toBe('400 invalid_request');
    expect(await status(own, [], path)).toBe('400 invalid_request');
  }
  expect(await status(own, [`localhost:${port}`])).toBe('200');
  // a forwarded port
  expect(await status(own, ['localhost:9000'])).toBe('200');
  using connection = await openConnection(own);
  const asBrowser = ['Host: data.example', 'Accept: text/html,*/*;q=0.8', 'Connection: close'];
  connection.send(`GET / HTTP/1.1\r\n${asBrowser.join('\r\n')}\r\n\r\n`);
  const page = await connection.ended;
  expect(page).toMatch(/^HTTP\/1\.1 421 [\s\S]+\r\nContent-Type: text\/html; charset=utf-8\r\n/i);
  expect(page).toContain('<code>SVC_ALLOWED_HOSTS=data.example</code>');
  // a key protects the metrics there, so Prometheus may use any name
  expect(await status(url, ['worker.example:9464'])).toBe('401 unauthenticated');

  const wrong: number[] = [];
  for (let index = 0; index < 12; index++) {
    const headers = { authorization: `Bearer a-wrong-key-of-the-tests-${index}` };
    wrong.push((await fetch(`${url}/metrics`, { headers })).status);
  }
  expect(wrong.slice(0, 5)).toEqual([401, 401, 401, 401, 401]);
  expect(wrong.at(-1)).toBe(429);
});
