import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from './start-test-api.ts';

const VIEWER = 'see-key-of-the-tests-1';
const ADMIN = 'all-key-of-the-tests-1';
const METRICS = 'metrics-key-of-the-tests';
const EDITOR = 'edit-key-of-the-tests-1';
const KEYS = `viewer:${VIEWER},admin:${ADMIN},editor:${EDITOR}`;

const cleanUp = new AsyncDisposableStack();
let open: TestApi;
let api: TestApi;
/** Another instance, without the viewer's key. */
let other: TestApi;
beforeAll(async () => {
  const env = {
    SVC_METRICS_KEY: METRICS,
    SVC_TRUST_PROXY: 'true',
    SVC_CORS_ORIGINS: 'https://pages.example',
  };
  [open, api, other] = await Promise.all([
    startTestApi(),
    startTestApi({ ...env, SVC_API_KEYS: KEYS, SVC_FAILED_KEYS_PER_MINUTE: '5' }),
    startTestApi({ SVC_API_KEYS: `admin:${ADMIN}` }),
  ]);
  for (const one of [open, api, other]) cleanUp.use(one);
});
afterAll(() => cleanUp.disposeAsync());

const signIn = (key: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${api.url}/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ key }),
  });
const cookieOf = (response: Response): string => response.headers.get('set-cookie')?.split(';')[0] ?? '';
const statusOf = async (path: string, headers: Record<string, string>, init: RequestInit = {}, at = api) =>
  (await fetch(at.url + path, { ...init, headers })).status;

describe('sessions', () => {
  it('a service without keys needs none', async () => {
    const session = await fetch(`${open.url}/session`);
    expect(await session.json()).toEqual({
      role: 'admin',
      name: 'anonymous',
      anonymous: true,
      expires_at: null,
    });
    const signedIn = await fetch(`${open.url}/session`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"key":"x"}',
    });
    expect([signedIn.status, signedIn.headers.get('set-cookie')]).toEqual([204, null]);
  });

  it('keep the idempotency keys of one person apart from those of another', async () => {
    const cookies = await Promise.all([ADMIN, EDITOR].map(async (key) => cookieOf(await signIn(key))));
    const upload = async (headers: Record<string, string>): Promise<string> => {
      const form = new FormData();
      form.set('file', new Blob(['{"inputs":{"prompt":"x"}}\n']), 'items.jsonl');
      form.set('name', 'mine');
      const response = await fetch(`${api.url}/datasets/upload`, {
        method: 'POST',
        headers: { 'Idempotency-Key': 'first', ...headers },
        body: form,
      });
      expect(response.status).toBe(201);
      return ((await response.json()) as { id: string }).id;
    };
    const [admin, editor] = cookies.map((cookie) => ({ cookie }));
    const first = await upload({ ...admin });
    expect(await upload({ ...editor })).not.toBe(first);
    expect(await upload({ Authorization: `Bearer ${ADMIN}` })).toBe(first);
  });

  it('a key becomes a cookie with its role, until the key is removed or the session ended', async () => {
    expect(await statusOf('/session', {})).toBe(401);
    const response = await signIn(VIEWER);
    expect([response.status, await response.text()]).toEqual([204, '']);
    expect(response.headers.get('set-cookie')).toMatch(
      /^svc_session=v1\.[\w-]+; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    const https = await signIn(VIEWER, { 'X-Forwarded-Proto': 'https' });
    expect(https.headers.get('set-cookie')).toMatch(/; SameSite=Strict; Secure$/);

    const cookie = `other=1; ${cookieOf(response)}`;
    const session = await fetch(`${api.url}/session`, { headers: { cookie } });
    const { role, anonymous, expires_at } = (await session.json()) as Record<string, string>;
    expect({ role, anonymous }).toEqual({ role: 'viewer', anonymous: false });
    expect(Date.parse(expires_at ?? '') - Date.now()).toBeGreaterThan(11 * 3_600_000);
    const bearer = await fetch(`${api.url}/session`, { headers: { Authorization: `Bearer ${ADMIN}` } });
    expect(await bearer.json()).toEqual({ role: 'admin', name: 'key 2', anonymous: false, expires_at: null });

    const changes = { method: 'PATCH', body: '{"cancellation_check_interval_ms":500}' };
    const type = { 'Content-Type': 'application/json' };
    expect(await statusOf('/datasets', { cookie })).toBe(200);
    expect(await statusOf('/metrics', { cookie })).toBe(200);
    expect(await statusOf('/settings', { cookie, ...type }, changes)).toBe(403);
    const admin = cookieOf(await signIn(ADMIN));
    expect(await statusOf('/settings', { cookie: admin, ...type }, changes)).toBe(200);

    // another instance takes the session of a key that it has, and none of a key that it does not have
    expect(await statusOf('/datasets', { cookie: admin }, {}, other)).toBe(200);
    expect(await statusOf('/datasets', { cookie }, {}, other)).toBe(401);
    const ended = await fetch(`${api.url}/session`, { method: 'DELETE', headers: { cookie } });
    expect([ended.status, ended.headers.get('set-cookie')]).toEqual([
      204,
      'svc_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict',
    ]);
  });

  it('counts for pages of this origin alone, whatever other origins may do with a key', async () => {
    const cookie = cookieOf(await signIn(ADMIN));
    const { host } = new URL(api.url);
    const init = { method: 'PATCH', body: '{"cancellation_check_interval_ms":500}' };
    const send = (headers: Record<string, string>): Promise<number> =>
      statusOf('/settings', { cookie, 'Content-Type': 'application/json', ...headers }, init);
    expect(await send({ Origin: `http://${host}` })).toBe(200);
    expect(await send({ Origin: 'https://pages.example' })).toBe(401);
    expect(await send({ Origin: 'https://pages.example', Authorization: `Bearer ${ADMIN}` })).toBe(200);
    expect(await send({ Origin: 'http://127.0.0.1:1' })).toBe(403);
    expect(await statusOf('/datasets', { cookie, Origin: 'http://127.0.0.1:1' })).toBe(401);
  });

  it('wrong keys start none, count as guesses, and appear nowhere', async () => {
    for (const key of ['', 1, null, 'x'.repeat(513)]) expect((await signIn(key)).status).toBe(400);
    expect((await signIn(METRICS)).status).toBe(401);
    const statuses: number[] = [];
    for (let at = 0; at < 8; at += 1) statuses.push((await signIn(`guess-of-the-tests-${at}`)).status);
    expect(statuses.slice(0, 5)).toEqual([401, 401, 401, 401, 401]);
    expect(statuses.slice(5)).toEqual([429, 429, 429]);
    for (const secret of [VIEWER, ADMIN, METRICS, 'guess-of-the-tests', 'svc_session=v1'])
      expect(JSON.stringify(api.log())).not.toContain(secret);
  });
});
