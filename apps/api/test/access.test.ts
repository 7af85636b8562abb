import { request as httpRequest, type IncomingHttpHeaders, type RequestOptions } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from './start-test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({
    SVC_API_KEYS: 'viewer:see-key-of-the-tests-1,editor:edit-key-of-the-tests-1,admin:all-key-of-the-tests-1',
    SVC_CORS_ORIGINS: 'https://pages.example',
  });
});
afterAll(() => api[Symbol.asyncDispose]());

const UUID = '00000000-0000-4000-8000-000000000000';

/** Any method and path, as they are. */
function request(
  url: string,
  options: RequestOptions,
): Promise<{ status: number | undefined; headers: IncomingHttpHeaders; body: string }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const path = url.slice(new URL(url).origin.length);
    httpRequest({ hostname, port, path, ...options }, (response) => {
      text(response).then(
        (body) => resolve({ status: response.statusCode, headers: response.headers, body }),
        reject,
      );
    })
      .on('error', reject)
      .end();
  });
}

type Document = { paths: Record<string, Record<string, { 'x-access': string }>> };
const as = (key: string): Record<string, string> => ({ Authorization: `Bearer ${key}` });

describe('access', () => {
  it('rejects requests without a key, except probes, whether a path exists or not', async () => {
    for (const path of ['/healthz', '/readyz', '/docs', '/docs/start.js', '/openapi.json'])
      expect([path, (await fetch(api.url + path)).status]).toEqual([path, 200]);
    const headers: Record<string, string>[] = [
      {},
      as('wrong'),
      { Authorization: 'Basic see-key-of-the-tests-1' },
    ];
    for (const path of ['/datasets', '/nothing', '/metrics']) {
      for (const header of headers) {
        const response = await fetch(api.url + path, { headers: header });
        expect([path, response.status]).toEqual([path, 401]);
        expect(response.headers.get('www-authenticate')).toContain('Bearer');
        const { detail } = (await response.json()) as { detail: string };
        // what takes credentials out of answers leaves this sentence whole
        expect(detail).toBe('This needs a valid key in the Authorization header (scheme Bearer).');
      }
    }
  });

  it('opens probes, sessions, documents and the console to everybody, and no change to viewers', async () => {
    const { paths } = (await (await fetch(`${api.url}/openapi.json`)).json()) as Document;
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, of]) => ({ path, method, access: of['x-access'] })),
    );
    const open = operations.filter(({ access }) => access === 'public' || access === 'anyone');
    expect(open.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'post /session',
      'get /session',
      'delete /session',
      'get /healthz',
      'get /readyz',
      'get /console/assets/{file}',
      'get /console',
      'get /console/{page}',
      'get /console/{page}/{id}',
      'get /',
      'get /openapi.json',
      'get /docs',
      'get /docs/{file}',
    ]);
    const byViewers = operations.filter(({ access, method }) => access === 'viewer' && method !== 'get');
    expect(byViewers.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([
      // The paths that a client asks for may be too long for an address.
      'post /api/datasets/svc/{repo}/paths-info/{revision}',
      // Telemetry belongs to the person at the browser, whatever the role.
      'post /telemetry/onboarding',
    ]);
  });

  it('answers pages of the allowed origins only', async () => {
    const preflight = (origin: string): Promise<Response> =>
      fetch(`${api.url}/datasets`, {
        method: 'OPTIONS',
        headers: { Origin: origin, 'Access-Control-Request-Method': 'GET' },
      });
    expect((await preflight('https://pages.example')).headers.get('access-control-allow-origin')).toBe(
      'https://pages.example',
    );
    expect((await preflight('https://other.example')).headers.get('access-control-allow-origin')).toBeNull();
    // only what a browser asks before it may send a key gets by without one
    const bare = await fetch(`${api.url}/datasets`, { method: 'OPTIONS' });
    expect(bare.status).toBe(401);
  });

  it('hides from clients without a key what exists', async () => {
    const seen = new Set<string>();
    for (const path of [
      '/datasets',
      '/nothing',
      `/datasets/${UUID}`,
      '/runs/x',
      '/metrics',
      '/docsx',
      '/%zz',
    ]) {
      for (const method of [
        'GET',
        'HEAD',
        'POST',
        'PUT',
        'PATCH',
        'DELETE',
        'OPTIONS',
        'PROPFIND',
        'TRACE',
      ]) {
        const { status, headers, body } = await request(api.url + path, { method });
        const { instance, request_id, ...rest } = body === '' ? {} : JSON.parse(body);
        expect([method, path, status]).toEqual([method, path, 401]);
        seen.add(JSON.stringify({ ...rest, allow: headers.allow, type: headers['content-type'] }));
      }
    }
    // with a body, and without one as an answer to HEAD
    expect(seen.size).toBe(2);
  });

  it('never logs a key', async () => {
    await fetch(`${api.url}/datasets?q=see-key-of-the-tests-1`, { headers: as('see-key-of-the-tests-1') });
    expect(JSON.stringify(api.log())).not.toContain('see-key-of-the-tests-1');
  });
});
