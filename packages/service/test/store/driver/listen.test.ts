import { getEventListeners } from 'node:events';
import pg from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { listen } from '../../../src/store/postgres/listen.ts';
import { createTestDatabase, type TestDatabase } from '../template-db.ts';

let database: TestDatabase;
let plain: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  plain = new pg.Pool({ connectionString: database.url });
});
afterAll(async () => {
  await plain.end();
  await database.drop();
});

const listeners = async (): Promise<number> =>
  (
    await plain.query(
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'svc-listen'",
    )
  ).rowCount ?? 0;

it('hears what is sent, connects again when its connection breaks, and ends', async () => {
  const heard: string[] = [];
  let connections = 0;
  const listener = listen({
    url: database.url,
    channel: 'svc_cancel',
    onNotification: (payload) => heard.push(payload),
    onConnect: () => {
      connections++;
    },
  });
  await expect.poll(() => connections).toBe(1);
  await plain.query("SELECT pg_notify('svc_cancel', 'one'), pg_notify('other', 'no')");
  await expect.poll(() => heard).toEqual(['one']);

  await plain.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'svc-listen'",
  );
  await expect.poll(() => connections).toBe(2);
  await plain.query("SELECT pg_notify('svc_cancel', 'two')");
  await expect.poll(() => heard).toEqual(['one', 'two']);

  await listener.close();
  await expect.poll(listeners).toBe(0);
});

it('waits for an unavailable database, keeps nothing of its attempts, and can be closed while it waits', async () => {
  using added = vi.spyOn(AbortSignal.prototype, 'addEventListener');
  await using _ = listen({
    url: 'postgresql://user:x@127.0.0.1:1/none',
    channel: 'svc_cancel',
    onNotification: () => undefined,
  });
  const [closing] = added.mock.contexts as [AbortSignal];
  const ofClosing = () => added.mock.contexts.filter((signal) => signal === closing).length;
  // Each attempt listens, and the wait after it.
  await expect.poll(ofClosing, { timeout: 10_000 }).toBeGreaterThanOrEqual(8);
  expect(getEventListeners(closing, 'abort').length).toBeLessThanOrEqual(2);
});
