import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApi, type TestApi } from './start-test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({
    SVC_RATE_LIMIT_PER_MINUTE: '5',
    SVC_API_KEYS: 'viewer:see-key-of-the-tests-123,viewer:see-key-of-the-tests-456',
  });
});
afterAll(() => api[Symbol.asyncDispose]());

async function statuses(headers: () => Record<string, string>, times: number): Promise<number[]> {
  const found: number[] = [];
  for (let index = 0; index < times; index++) {
    found.push((await fetch(`${api.url}/datasets`, { headers: headers() })).status);
  }
  return found;
}

it('counts each key separately, and every wrong key for its address', async () => {
  expect(await statuses(() => ({ Authorization: 'Bearer see-key-of-the-tests-123' }), 6)).toEqual([
    200, 200, 200, 200, 200, 429,
  ]);
  let tried = 0;
  expect(await statuses(() => ({ Authorization: `Bearer guess-${tried++}` }), 4)).toEqual([
    401, 401, 401, 401,
  ]);
  expect(await statuses(() => ({}), 1)).toEqual([401]);
  expect(await statuses(() => ({ Authorization: `Bearer guess-${tried++}` }), 2)).toEqual([429, 429]);
  expect(await statuses(() => ({ Authorization: 'bearer   see-key-of-the-tests-123' }), 1)).toEqual([429]);
  expect(await statuses(() => ({ Authorization: 'Bearer see-key-of-the-tests-456' }), 1)).toEqual([200]);
});

it('says how much is left and how long to wait', async () => {
  const headers = { Authorization: 'Bearer see-key-of-the-tests-456' };
  const next = await fetch(`${api.url}/datasets`, { headers });
  expect(next.headers.get('ratelimit-policy')).toBe('"default";q=5;w=60');
  expect(next.headers.get('ratelimit')).toMatch(/^"default";r=3;t=\d+$/);
  await statuses(() => headers, 3);
  const refused = await fetch(`${api.url}/datasets`, { headers });
  expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([429, 'rate_limited']);
  expect(refused.headers.get('ratelimit')).toMatch(/^"default";r=0;t=\d+$/);
  const wait = Number(refused.headers.get('retry-after'));
  expect(wait).toBeGreaterThanOrEqual(1);
  expect(wait).toBeLessThanOrEqual(12);
});

it('leaves probes alone', async () => {
  for (let index = 0; index < 10; index++) expect((await fetch(`${api.url}/healthz`)).status).toBe(200);
});
