import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from './start-test-api.ts';

type RequestBody = NonNullable<RequestInit['body']>;

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({
    SVC_HEADERS_TIMEOUT_MS: '300',
    SVC_JSON_REQUEST_TIMEOUT_MS: '400',
    SVC_MAX_JSON_BODY_BYTES: '2000',
  });
});
afterAll(() => api[Symbol.asyncDispose]());

/** Sends bytes as they are and returns everything until the connection ends. */
function raw(text: string | Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(api.url);
    const socket = connect(Number(port), hostname);
    let answer = '';
    socket.setEncoding('latin1').on('data', (chunk) => {
      answer += chunk;
    });
    socket.on('close', () => resolve(answer)).on('error', reject);
    socket.write(text);
  });
}

const UUID = '00000000-0000-4000-8000-000000000000';

describe('every response', () => {
  it.each<[string, string, number]>([
    ['GET', '/healthz', 200],
    ['GET', '/readyz', 200],
    ['GET', '/metrics', 200],
    ['GET', '/openapi.json', 200],
    ['GET', '/docs', 200],
    ['GET', '/docs/swagger-ui.css', 200],
    ['GET', '/docs/..%2fpackage.json', 404],
    ['HEAD', '/healthz', 200],
    ['GET', '/datasets', 200],
    ['GET', '/nothing', 404],
    ['GET', '/datasets/%zz', 400],
    ['GET', `/datasets/${UUID}`, 404],
    ['GET', '/datasets/not-a-uuid', 404],
    ['GET', `/datasets/${UUID}/items.jsonl`, 404],
    ['PUT', '/datasets', 405],
    ['DELETE', '/healthz', 405],
    ['OPTIONS', '/datasets', 204],
    ['GET', '/datasets?limit=0', 400],
    ['GET', '/datasets?limit=101', 400],
    ['GET', '/datasets?limit=010', 200],
    // decimal digits alone are a number
    ...[
      'x',
      '',
      'Infinity',
      '9'.repeat(400),
      '0x10',
      '0b11',
      '1e1',
      '1.0',
      '+5',
      '%205',
      '5%20',
      '%2B5',
      '%D9%A1',
      'true',
    ].map((limit): [string, string, number] => ['GET', `/datasets?limit=${limit}`, 400]),
    ['GET', '/datasets?limit=1&limit=2', 400],
    ['GET', '/datasets?cursor=nonsense', 400],
    ['GET', '/datasets?nmae=x', 400],
    ['GET', '/datasets?source=elsewhere', 400],
    ['GET', '/audit?from=2026-02-31', 400],
    ['GET', '/datasets?q=%00', 200],
  ])('%s %s → %i, with the request id it was sent or a new one', async (method, path, status) => {
    const own = await fetch(api.url + path, { method, headers: { 'X-Request-ID': 'my id/1 é' } });
    expect(own.status).toBe(status);
    expect(own.headers.get('x-request-id')).toBe('my id/1 é');
    const made = await fetch(api.url + path, { method });
    expect(made.headers.get('x-request-id')).toMatch(/^[0-9a-f]{32}$/);
    if (status >= 400 && method !== 'HEAD') {
      const body = (await made.json()) as Record<string, unknown>;
      expect(made.headers.get('content-type')).toBe('application/json');
      expect(body).toMatchObject({ status, request_id: made.headers.get('x-request-id') });
      expect(Object.keys(body)).toEqual(
        expect.arrayContaining(['type', 'title', 'detail', 'instance', 'code']),
      );
    }
  });

  it.each<[string, Record<string, string>]>([
    ['from no page', {}],
    ['from a page', { Origin: 'https://page.example' }],
  ])('sends the same response to every form of a probe %s', async (_name, origin) => {
    await using api = await startTestApi({
      SVC_CORS_ORIGINS: 'https://page.example',
      SVC_LOG_LEVEL: 'debug',
    });
    // also with a media type, and with an empty query
    const asked = [
      await fetch(`${api.url}/healthz`, { headers: origin }),
      await fetch(`${api.url}/healthz`, { headers: { ...origin, Accept: 'application/json' } }),
      await fetch(`${api.url}/healthz?`, { headers: origin }),
    ];
    const seen = asked.map(({ status, headers }) => {
      const same = Object.fromEntries(headers);
      expect(same['x-request-id']).toMatch(/^[0-9a-f]{32}$/);
      return { status, ...same, date: '', 'x-request-id': '' };
    });
    expect(seen[1]).toEqual(seen[0]);
    expect(seen[2]).toEqual(seen[0]);
    expect(seen[0]).toMatchObject({ 'content-type': 'application/json', 'content-length': '15' });
    expect('access-control-allow-origin' in seen[0]!).toBe('Origin' in origin);
    expect(await Promise.all(asked.map((response) => response.text()))).toEqual(
      asked.map(() => '{"status":"ok"}'),
    );
    const routes = (): unknown[] =>
      api.log().flatMap((line) => (line.event === 'http.probe' ? [line['route']] : []));
    await expect.poll(routes).toEqual(['/healthz', '/healthz', '/healthz']);
  });

  it('answers /healthz with exactly one body, and logs it', async () => {
    const response = await fetch(`${api.url}/healthz`, { headers: { 'X-Request-ID': 'probe' } });
    expect(await response.text()).toBe('{"status":"ok"}');
    await expect
      .poll(() =>
        api
          .log()
          .filter((line) => line['request_id'] === 'probe')
          .map((line) => line['event']),
      )
      .toEqual(['healthz.check']);
  });

  it('says what is allowed, and what the answer would be', async () => {
    const put = await fetch(`${api.url}/datasets`, { method: 'PUT' });
    expect(put.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
    const picky = await fetch(`${api.url}/datasets`, { headers: { Accept: 'image/png' } });
    expect([picky.status, ((await picky.json()) as { code: string }).code]).toEqual([406, 'not_acceptable']);
  });

  it.each([
    ['/datasets', 'application/json; charset=utf-8', 200],
    ['/datasets', 'APPLICATION/JSON;version="1,2;q=0"', 200],
    ['/datasets', 'application/*;level=1;q=0.5', 200],
    ['/datasets', 'text/html;q=0.9, */*;q=0.1', 200],
    ['/metrics', 'text/plain;version=0.0.4', 200],
    ['/metrics', 'text/plain; version=0.0.4; charset=utf-8', 200],
    ['/datasets', 'application/json;charset=utf-8;q=0', 406],
    ['/datasets', 'application/json;q=0, application/problem+json;q=0, */*', 406],
    ['/datasets', 'image/png;q=1', 406],
  ])('of %s, accepts by type and subtype: %s', async (path, accept, status) => {
    expect((await fetch(`${api.url}${path}`, { headers: { Accept: accept } })).status).toBe(status);
  });

  it('sends errors as problem documents to clients that ask for them', async () => {
    const get = async (path: string): Promise<unknown[]> => {
      const headers = { Accept: 'application/problem+json' };
      const response = await fetch(`${api.url}${path}`, { headers });
      return [response.status, response.headers.get('content-type')];
    };
    expect(await get('/datasets')).toEqual([200, 'application/json']);
    expect(await get('/nowhere')).toEqual([404, 'application/problem+json']);
    expect((await fetch(`${api.url}/nowhere`)).headers.get('content-type')).toBe('application/json');
  });

  it('says at its root where the documentation is', async () => {
    const response = await fetch(`${api.url}/`);
    expect([response.status, await response.json()]).toEqual([
      200,
      { name: 'svc', version: '0.0.0-test', docs: '/docs', openapi: '/openapi.json' },
    ]);
  });
});

describe('JSON bodies', () => {
  const patch = (body: RequestBody, type = 'application/json'): Promise<Response> =>
    fetch(`${api.url}/datasets/${UUID}`, { method: 'PATCH', body, headers: { 'Content-Type': type } });

  it.each<[string, RequestBody, number, string, object?]>([
    ['no JSON', '{"name":', 400, 'invalid_json', { column: 9 }],
    ['a repeated key', '{"name":"a","name":"b"}', 400, 'invalid_json'],
    ['invalid UTF-8', new Uint8Array([0x7b, 0xff, 0x7d]), 400, 'invalid_json'],
    ['a hundred thousand brackets', '['.repeat(1999), 400, 'invalid_json'],
    ['a body beyond its limit', `{"name":"${'x'.repeat(3000)}"}`, 413, 'body_too_large'],
    ['no object', '[]', 400, 'invalid_request'],
    ['nothing to change', '{}', 400, 'invalid_request'],
    ['an unknown key', '{"nmae":"x"}', 400, 'invalid_request', { path: '/nmae' }],
    ['a blank name', '{"name":"  "}', 400, 'invalid_request', { path: '/name' }],
    ['a name with NUL', '{"name":"a\\u0000"}', 400, 'invalid_request', { path: '/name' }],
    ['a name with a line break', '{"name":"a\\nb"}', 400, 'invalid_request', { path: '/name' }],
    ['a name with C1 controls', '{"name":"a\\u0085"}', 400, 'invalid_request', { path: '/name' }],
    ['a name of other blanks', '{"name":"\\u3000\\u00a0"}', 400, 'invalid_request', { path: '/name' }],
    ['a name of half a character', '{"name":"\\ud800"}', 400, 'invalid_request', { path: '/name' }],
    ['a name of the wrong type', '{"name":null}', 400, 'invalid_request', { path: '/name' }],
  ])('refuses %s', async (_name, body, status, code, location) => {
    const response = await patch(body);
    const answer = (await response.json()) as { code: string; errors?: object[] };
    expect([response.status, answer.code]).toEqual([status, code]);
    if (location !== undefined) expect(answer.errors?.[0]).toMatchObject(location);
  });

  it('takes JSON only', async () => {
    expect((await patch('name=x', 'application/x-www-form-urlencoded')).status).toBe(415);
  });

  it('does not wait forever', async () => {
    const answer = await raw(
      `PATCH /datasets/${UUID} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"name"`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer).toContain('"code":"request_timeout"');
  });
});

describe('what is hardly HTTP', () => {
  it.each<[string, string | Buffer, RegExp]>([
    ['a malformed request line', 'NONSENSE\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['bytes', Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x0d, 0x0a]), /^HTTP\/1\.1 400 /],
    [
      'headers beyond 16 KiB',
      `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
      /^HTTP\/1\.1 431 /,
    ],
    ['headers that never end', 'GET / HTTP/1.1\r\nHost: x\r\n', /^HTTP\/1\.1 408 /],
    ['no host', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n', /^HTTP\/1\.1 400 /],
    [
      'an unknown expectation',
      'GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\nConnection: close\r\n\r\n',
      /^HTTP\/1\.1 200 /,
    ],
    ['a proxy request', 'CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n', /^HTTP\/1\.1 405 /],
    ['bare line feeds', 'GET /healthz HTTP/1.1\nHost: x\n\n', /^HTTP\/1\.1 400 /],
    [
      'two lengths',
      'POST /runs HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}',
      /^HTTP\/1\.1 400 /,
    ],
    [
      'a length and chunks',
      'POST /runs HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      /^HTTP\/1\.1 400 /,
    ],
    [
      'a chunk without a length',
      'POST /runs HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n',
      /^HTTP\/1\.1 400 /,
    ],
    [
      'another host',
      'GET /healthz HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n',
      /^HTTP\/1\.1 421 /,
    ],
  ])('answers %s with a request id', async (_name, text, status) => {
    const answer = await raw(text);
    expect(answer).toMatch(status);
    expect(answer).toMatch(/\r\nX-Request-ID: [0-9a-f]{32}\r\n/i);
  });

  it('keeps the bytes of a request id beyond ASCII, and joins two', async () => {
    const answer = await raw(
      Buffer.from(
        'GET /healthz HTTP/1.1\r\nHost: x\r\nX-Request-ID: a\xe9\r\nX-Request-ID: b\r\nConnection: close\r\n\r\n',
        'latin1',
      ),
    );
    expect(answer).toContain('\r\nX-Request-ID: a\xe9, b\r\n');
  });
});

describe('a change that a page asks for', () => {
  const remove = (headers: string): Promise<string> =>
    raw(
      `DELETE /datasets/${UUID} HTTP/1.1\r\nHost: ${new URL(api.url).host}\r\n${headers}\r\nConnection: close\r\n\r\n`,
    );

  it.each([
    'Origin: https://evil.example\r\nSec-Fetch-Site: cross-site',
    'Origin: https://evil.example',
    'Sec-Fetch-Site: cross-site',
    'Sec-Fetch-Site: same-site',
    'Origin: null',
    'Origin: ',
    'Origin: http://127.0.0.1:1',
  ])('of another origin is refused: %j', async (headers) => {
    expect(await remove(headers)).toMatch(/^HTTP\/1\.1 403 [\s\S]*"code":"cross_origin"/);
  });

  it('of this origin, or of a program, is not', async () => {
    const { origin } = new URL(api.url);
    for (const headers of [
      `Origin: ${origin}\r\nSec-Fetch-Site: same-origin`,
      'Sec-Fetch-Site: none',
      'X: y',
    ])
      expect(await remove(headers)).toMatch(/^HTTP\/1\.1 404 /);
  });
});

describe('a request id', () => {
  const probe = (ids: readonly string[]): Promise<string> =>
    raw(
      Buffer.from(
        `GET /healthz HTTP/1.1\r\nHost: x\r\n${ids.map((id) => `X-Request-ID: ${id}\r\n`).join('')}Connection: close\r\n\r\n`,
        'latin1',
      ),
    );

  it.each([[['y'.repeat(1_024)]], [['y'.repeat(1_000), 'z'.repeat(22)]]])(
    'of 1,024 characters is kept',
    async (ids) => {
      const answer = await probe(ids);
      expect(answer).toMatch(/^HTTP\/1\.1 200 /);
      expect(answer).toContain(`\r\nX-Request-ID: ${ids.join(', ')}\r\n`);
    },
  );

  it.each([[['y'.repeat(1_025)]], [['y'.repeat(1_000), 'z'.repeat(23)]]])(
    'that is longer is refused',
    async (ids) => {
      const answer = await probe(ids);
      expect(answer).toMatch(/^HTTP\/1\.1 431 /);
      const [, id] = /\r\nX-Request-ID: ([0-9a-f]{32})\r\n/.exec(answer) ?? [];
      expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({
        ...{ status: 431, code: 'request_id_too_long', request_id: id },
        detail: 'X-Request-ID must have at most 1024 characters, got 1025.',
      });
      expect(
        api
          .log()
          .filter(({ event }) => event === 'http.request')
          .at(-1),
      ).toMatchObject({
        ...{ status_code: 431, code: 'request_id_too_long', request_id: id },
      });
    },
  );
});

describe('/metrics', () => {
  it('counts requests under their route, and anything else under one name', async () => {
    await fetch(`${api.url}/datasets/${UUID}`);
    await fetch(`${api.url}/some/where/${UUID}`);
    const response = await fetch(`${api.url}/metrics`);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const text = await response.text();
    expect(text).toMatch(
      /svc_http_requests_total\{method="GET",path="\/datasets\/:id",status_code="404"\} \d+/,
    );
    expect(text).toMatch(
      /svc_http_requests_total\{method="GET",path="__unmatched__",status_code="404"\} \d+/,
    );
    expect(text).toContain('svc_build_info{version="0.0.0-test"} 1');
    expect(text).not.toContain('some/where');
  });
});

describe('the OpenAPI document', () => {
  it('names every endpoint with who may call it', async () => {
    const document = (await (await fetch(`${api.url}/openapi.json`)).json()) as {
      openapi: string;
      paths: Record<string, Record<string, { 'x-access': string }>>;
    };
    expect(document.openapi).toBe('3.1.0');
    expect(Object.keys(document.paths)).toEqual(
      expect.arrayContaining([
        '/datasets/upload',
        '/datasets',
        '/datasets/{id}',
        '/datasets/{id}/items.jsonl',
        '/healthz',
      ]),
    );
  });
});
