import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { queryDatabase } from '../../../packages/service/test/store/query-database.ts';
import { until } from '../../../tools/vitest/until.ts';
import { makePackage, uploadForm } from '../../api/test/make-package.ts';
import { createFakeHub } from './fake-hub.ts';
import { type Body, startTestService, type TestResponse, type TestService } from './start-test-service.ts';

let service: TestService;
let broken = false;
/** Rows come when it is aborted. */
let held: AbortSignal | undefined;
beforeAll(async () => {
  const hub = createFakeHub({
    rows: 50,
    beforeBatch: async () => {
      if (broken) throw new Error('broken for once');
      if (held?.aborted === false) await once(held, 'abort');
      await new Promise((resolve) => setTimeout(resolve, 50));
    },
  });
  service = await startTestService({
    hub,
    env: { SVC_API_KEYS: 'admin:key-one-of-the-tests,editor:key-two-of-the-tests' },
  });
});
afterAll(() => service[Symbol.asyncDispose]());

const as = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });
const importBody = (name: string): object => ({
  name,
  config: { path: 'owner/name' },
  mapping: { prompt_column: 'question' },
});
const archive = makePackage({ 'sections/a.jsonl': '{"inputs":{"prompt":"p"}}\n' });

let dataset: string;
beforeAll(async () => {
  dataset = await service.importItems([{ inputs: { prompt: 'p' } }]);
});

interface Call {
  readonly send: (headers: Record<string, string>) => Promise<TestResponse>;
  readonly sendOther: (headers: Record<string, string>) => Promise<TestResponse>;
  readonly status: number;
  readonly count: () => Promise<number>;
}

const totalOf = async (path: string): Promise<number> => {
  const response = await fetch(`${service.url}${path}?limit=1`, { headers: as('key-one-of-the-tests') });
  return ((await response.json()) as Body).meta.total_items;
};
const datasets = (): Promise<number> => totalOf('/datasets');

const calls: Record<string, Call> = {
  'an import': {
    send: (headers) => service.post('/datasets/hub/import', importBody('n'), headers),
    sendOther: (headers) => service.post('/datasets/hub/import', importBody('other'), headers),
    status: 201,
    count: datasets,
  },
  'an upload': {
    send: async (headers) =>
      service.post('/datasets/upload', uploadForm(await archive, { name: 'n' }), headers),
    sendOther: async (headers) =>
      service.post(
        '/datasets/upload',
        uploadForm(await makePackage({ 'sections/a.jsonl': '{"inputs":{"prompt":"q"}}\n' }), { name: 'n' }),
        headers,
      ),
    status: 201,
    count: datasets,
  },
  'a run': {
    send: (headers) =>
      service.post(
        '/runs',
        { dataset_id: dataset, config: { provider: 'echo', allow_unscored: true } },
        headers,
      ),
    sendOther: (headers) =>
      service.post(
        '/runs',
        { dataset_id: dataset, config: { provider: 'echo', allow_unscored: true, repetitions: 2 } },
        headers,
      ),
    status: 202,
    count: () => totalOf('/runs'),
  },
  'an asynchronous import': {
    send: (headers) =>
      service.post('/datasets/hub/import', importBody('a'), { ...headers, prefer: 'respond-async' }),
    // the same body, to be waited for
    sendOther: (headers) => service.post('/datasets/hub/import', importBody('a'), headers),
    status: 202,
    count: async () => service.apiLog().filter(({ event }) => event === 'job.enqueue').length,
  },
  'an asynchronous upload': {
    send: async (headers) =>
      service.post('/datasets/upload', uploadForm(await archive), { ...headers, prefer: 'respond-async' }),
    // the same file under another name
    sendOther: async (headers) =>
      service.post('/datasets/upload', uploadForm(await archive, {}, 'another.pkg.zip'), {
        ...headers,
        prefer: 'respond-async',
      }),
    status: 202,
    count: async () => service.apiLog().filter(({ event }) => event === 'job.enqueue').length,
  },
};

describe.each(Object.entries(calls))('Idempotency-Key of %s', (name, { send, sendOther, status, count }) => {
  const key = (suffix: string): Record<string, string> => ({
    ...as('key-one-of-the-tests'),
    'idempotency-key': `${name} ${suffix}`,
  });

  it('gives a repeat the first answer', async () => {
    const before = await count();
    const first = await send(key('repeated'));
    expect(first.status).toBe(status);
    const second = await send(key('repeated'));
    expect(second.status).toBe(status);
    expect(second.body).toEqual(first.body);
    for (const header of ['location', 'preference-applied', 'content-type']) {
      expect(second.headers.get(header)).toBe(first.headers.get(header));
    }
    expect(first.headers.get('location')).not.toBeNull();
    expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
    expect(await count()).toBe(before + 1);
  });

  it('gives concurrent requests the same response', async () => {
    const before = await count();
    const responses = await Promise.all(Array.from({ length: 4 }, () => send(key('at once'))));
    expect(responses.map((response) => response.status)).toEqual(Array(4).fill(status));
    expect(new Set(responses.map((response) => response.body.id)).size).toBe(1);
    expect(await count()).toBe(before + 1);
  });

  it('is refused with another request', async () => {
    await send(key('reused'));
    const before = await count();
    const answer = await sendOther(key('reused'));
    expect(answer).toMatchObject({ status: 409, body: { code: 'idempotency_key_reused' } });
    expect(await count()).toBe(before);
  });

  it('does not meet the same key of another caller', async () => {
    const one = await send(key('of one'));
    const two = await send({ ...key('of one'), ...as('key-two-of-the-tests') });
    expect(two.status).toBe(status);
    expect(two.body.id).not.toBe(one.body.id);
  });
});

describe('Idempotency-Key', () => {
  it('is free again after a request that failed', async () => {
    const key = { ...as('key-one-of-the-tests'), 'idempotency-key': 'first failed' };
    broken = true;
    const failed = await service.post('/datasets/hub/import', importBody('f'), key);
    broken = false;
    expect(failed.status).toBe(500);
    const wrong = await service.post(
      '/datasets/hub/import',
      { ...importBody('f'), mapping: { prompt_column: 'x' } },
      key,
    );
    expect(wrong.status).toBe(400);
    const right = await service.post('/datasets/hub/import', importBody('f'), key);
    expect(right.status).toBe(201);
  });

  it('gives the first answer of a run also where its dataset has another handle now', async () => {
    const rename = (handle: string | null): Promise<Response> =>
      fetch(`${service.url}/datasets/${dataset}`, {
        method: 'PATCH',
        headers: { ...as('key-one-of-the-tests'), 'content-type': 'application/json' },
        body: JSON.stringify({ handle }),
      });
    expect((await rename('first-name')).status).toBe(200);
    const body = { dataset_id: 'first-name', config: { provider: 'echo', allow_unscored: true } };
    const key = { ...as('key-one-of-the-tests'), 'idempotency-key': 'renamed' };
    const first = await service.post('/runs', body, key);
    expect((await rename(null)).status).toBe(200);
    expect(await service.post('/runs', body, key)).toMatchObject({ status: 202, body: first.body });
  });

  it('is free again when the client disconnects', async () => {
    const headers = {
      ...as('key-one-of-the-tests'),
      'idempotency-key': 'gone',
      'content-type': 'application/json',
    };
    const aborted = new AbortController();
    held = aborted.signal;
    const begun = (): number =>
      service.apiLog().filter(({ event }) => event === 'dataset.import.start').length;
    const before = begun();
    const lost = fetch(`${service.url}/datasets/hub/import`, {
      method: 'POST',
      headers,
      body: JSON.stringify(importBody('gone')),
      signal: aborted.signal,
    }).catch(() => undefined);
    await until(begun, (count) => count > before);
    aborted.abort();
    await lost;
    const again = await service.post('/datasets/hub/import', importBody('gone'), headers);
    expect(again.status).toBe(201);
    const response = await fetch(`${service.url}/datasets?limit=100`, {
      headers: as('key-one-of-the-tests'),
    });
    const { data } = (await response.json()) as Body;
    const stored = data.filter(({ name }: { name: string }) => name === 'gone');
    expect(stored).toHaveLength(1);
  });

  it.each([
    ['empty', ''],
    ['longer than 255 characters', 'x'.repeat(256)],
  ])('is not %s', async (_name, value) => {
    const answer = await service.post('/datasets/hub/import', importBody('n'), {
      ...as('key-one-of-the-tests'),
      'idempotency-key': value,
    });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  });

  it('is kept for a day and swept afterwards', async () => {
    const query = (sql: string): Promise<Body[]> => queryDatabase(service.databaseUrl, sql);
    const rows = await query(
      `SELECT min(expires_at - now()) > interval '23 hours' AS kept, count(*)::int AS keys FROM idempotency_keys`,
    );
    expect(rows[0].kept).toBe(true);
    await query(`UPDATE idempotency_keys SET expires_at = now() - interval '1 second'`);
    expect(await service.store.idempotency.purgeExpired()).toBe(rows[0].keys);
  });
});
