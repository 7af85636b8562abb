import { request as httpRequest, type IncomingHttpHeaders, type RequestOptions } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { report } from '../../standalone/test/faults/report.ts';
import type { ServiceProcess } from '../../standalone/test/faults/run-service.ts';
import { type OwnService, startService } from '../../standalone/test/faults/start-service.ts';

let own: OwnService;
let api: ServiceProcess;
beforeAll(async () => {
  own = await startService({
    SVC_API_KEYS: 'viewer:see-key-of-the-tests-1,editor:edit-key-of-the-tests-1,admin:all-key-of-the-tests-1',
    SVC_CORS_ORIGINS: 'https://pages.example',
  });
  api = own.service;
});
afterAll(() => own[Symbol.asyncDispose]());

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
const RANK = ['viewer', 'editor', 'admin'];
const KEYS = {
  viewer: 'see-key-of-the-tests-1',
  editor: 'edit-key-of-the-tests-1',
  admin: 'all-key-of-the-tests-1',
};

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

  it('keeps every endpoint of the OpenAPI document to its role', async (context) => {
    const document = (await (
      await fetch(`${api.url}/openapi.json`, { headers: as('see-key-of-the-tests-1') })
    ).json()) as Document;
    let checked = 0;
    const open: string[] = [];
    for (const [path, operations] of Object.entries(document.paths)) {
      for (const [method, { 'x-access': access }] of Object.entries(operations)) {
        if (access === 'public' || access === 'anyone') {
          open.push(`${method} ${path}`);
          continue;
        }
        const url = api.url + path.replaceAll(/\{\w+\}/g, '00000000-0000-4000-8000-000000000000');
        const refused = await fetch(url, { method: method.toUpperCase() });
        expect([method, path, refused.status]).toEqual([method, path, 401]);
        expect(refused.headers.get('www-authenticate')).toContain('Bearer');
        for (const [role, key] of Object.entries(KEYS)) {
          const reaches = access === 'metrics' || RANK.indexOf(role) >= RANK.indexOf(access);
          const { status } = await fetch(url, { method: method.toUpperCase(), headers: as(key) });
          expect([method, path, role, status === 403]).toEqual([method, path, role, !reaches]);
          expect(status).not.toBe(401);
          if (method !== 'get') expect(RANK).toContain(access);
          // The paths that a client asks for may be too long for an address.
          const isRead = method === 'get' || path.endsWith('/paths-info/{revision}');
          // Telemetry belongs to the person at the browser, whatever the role.
          const isOwn = path === '/telemetry/onboarding';
          if (!isRead && !isOwn) expect(access).not.toBe('viewer');
        }
        checked += 1;
      }
    }
    expect(checked).toBeGreaterThan(8);
    expect(open).toEqual([
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
    const row = (runs: number) => ({ area: 'Access', runs, observed: { 'as expected': runs } });
    report(context, {
      ...row(checked),
      scenario: 'every endpoint of the OpenAPI document, without a key',
      expected:
        '401 with `WWW-Authenticate`; only the probes, sessions, the OpenAPI document and its page are public',
    });
    report(context, {
      ...row(checked * RANK.length),
      scenario: 'every endpoint of the OpenAPI document, with a key of each of the three roles',
      expected: '403 below the required role; a viewer’s key cannot change anything',
    });
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
