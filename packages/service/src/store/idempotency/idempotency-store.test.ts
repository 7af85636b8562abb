import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { importItems } from '../../../test/store/import-items.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/store/template-db.ts';
import { createStore, type Store } from '../create-store.ts';
import type { IdempotencyClaim, StoredResponse } from './idempotency-store.ts';

let database: TestDatabase;
let store: Store;
let plain: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  store = createStore({ url: database.url, poolSize: 10 });
  plain = new pg.Pool({ connectionString: database.url });
});
afterAll(async () => {
  await store.close();
  await plain.end();
  await database.drop();
});

const hashOf = (request: string): Uint8Array => createHash('sha256').update(request).digest();
const answer: StoredResponse = {
  status: 201,
  headers: { Location: '/datasets/1' },
  body: '{"id":"é\\u0000"}',
};

async function claimOf(
  key: string,
  request = 'r',
): Promise<{ claim: IdempotencyClaim; release(): Promise<void> }> {
  const outcome = await store.idempotency.begin({ key, requestHash: hashOf(request) });
  if (outcome.replay !== null) throw new Error('there is an answer already');
  return outcome;
}

it('gives the first answer again', async () => {
  const key = randomUUID();
  const { claim, release } = await claimOf(key);
  await store.idempotency.complete(claim, answer);
  await release();
  for (let round = 0; round < 2; round++) {
    expect(await store.idempotency.begin({ key, requestHash: hashOf('r') })).toEqual({ replay: answer });
  }
});

it('refuses the key for another request, done or not', async () => {
  const key = randomUUID();
  const { claim, release } = await claimOf(key);
  const other = { key, requestHash: hashOf('other') };
  await expect(store.idempotency.begin(other)).rejects.toMatchObject({ code: 'idempotency_key_reused' });
  await store.idempotency.complete(claim, answer);
  await expect(store.idempotency.begin(other)).rejects.toMatchObject({ code: 'idempotency_key_reused' });
  await release();
});

it('runs simultaneous requests once', async () => {
  const key = randomUUID();
  let runs = 0;
  const responses = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const outcome = await store.idempotency.begin({ key, requestHash: hashOf('r') });
      if (outcome.replay !== null) return outcome.replay;
      runs++;
      await delay(150);
      await store.idempotency.complete(outcome.claim, answer);
      await outcome.release();
      return answer;
    }),
  );
  expect(runs).toBe(1);
  expect(responses).toEqual(Array.from({ length: 8 }, () => answer));
});

it('lets the next request do it when the first one failed', async () => {
  const key = randomUUID();
  const first = await claimOf(key);
  const second = claimOf(key);
  await delay(20);
  await first.release();
  const { claim, release } = await second;
  await expect(store.idempotency.complete(first.claim, answer)).rejects.toMatchObject({ code: 'superseded' });
  await store.idempotency.complete(claim, answer);
  await release();
  // a request that failed may be corrected
  const third = await claimOf(randomUUID());
  await third.release();
  await (await claimOf(third.claim.key, 'corrected')).release();
});

it('takes over from a process that died', async () => {
  const key = randomUUID();
  const dead = await claimOf(key);
  await plain.query("UPDATE idempotency_keys SET claimed_till = now() - interval '1 second' WHERE key = $1", [
    key,
  ]);
  const { claim, release } = await claimOf(key);
  await expect(store.idempotency.complete(dead.claim, answer)).rejects.toMatchObject({ code: 'superseded' });
  await store.idempotency.complete(claim, answer);
  await Promise.all([release(), dead.release()]);
  expect(await store.idempotency.begin({ key, requestHash: hashOf('r') })).toEqual({ replay: answer });
});

it('stores the answer with the dataset, or neither', async () => {
  const key = randomUUID();
  const dead = await claimOf(key);
  await plain.query("UPDATE idempotency_keys SET claimed_till = now() - interval '1 second' WHERE key = $1", [
    key,
  ]);
  const { claim, release } = await claimOf(key);
  const withClaim = (held: IdempotencyClaim) =>
    importItems(
      store.datasets,
      { s: ['{}'] },
      {},
      { idempotent: { claim: held, of: ({ id }) => ({ status: 201, headers: {}, body: id }) } },
    );
  await expect(withClaim(dead.claim)).rejects.toMatchObject({ code: 'superseded' });
  expect((await store.datasets.list({ limit: 1 })).totalItems).toBe(0);
  const dataset = await withClaim(claim);
  await Promise.all([release(), dead.release()]);
  expect(await store.idempotency.begin({ key, requestHash: hashOf('r') })).toEqual({
    replay: { status: 201, headers: {}, body: dataset.id },
  });
  expect((await store.datasets.list({ limit: 1 })).totalItems).toBe(1);
});

it('forgets an answer after 24 hours', async () => {
  const key = randomUUID();
  const { claim, release } = await claimOf(key);
  await store.idempotency.complete(claim, answer);
  await release();
  const { rows } = await plain.query<{ hours: number }>(
    'SELECT round(extract(epoch FROM expires_at - now()) / 3600)::int AS hours FROM idempotency_keys WHERE key = $1',
    [key],
  );
  expect(rows).toEqual([{ hours: 24 }]);
  await plain.query("UPDATE idempotency_keys SET expires_at = now() - interval '1 second' WHERE key = $1", [
    key,
  ]);
  const again = await claimOf(key, 'something else');
  await again.release();
  // The column rounds to milliseconds, so that now may be in the future.
  await plain.query("UPDATE idempotency_keys SET expires_at = now() - interval '1 second'");
  expect(await store.idempotency.purgeExpired()).toBeGreaterThan(0);
  expect(await store.idempotency.purgeExpired()).toBe(0);
});

it('ends the wait when it is aborted', async () => {
  const key = randomUUID();
  const { release } = await claimOf(key);
  const abort = new AbortController();
  const waiting = store.idempotency.begin({ key, requestHash: hashOf('r'), signal: abort.signal });
  await delay(20);
  abort.abort(new Error('gone'));
  await expect(waiting).rejects.toThrow('gone');
  await release();
});
