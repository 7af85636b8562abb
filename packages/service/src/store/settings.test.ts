import { afterAll, beforeAll, expect, it } from 'vitest';
import { queryDatabase } from '../../test/store/query-database.ts';
import { createTestDatabase, type TestDatabase } from '../../test/store/template-db.ts';
import { createStore, type Store } from './create-store.ts';

let database: TestDatabase;
let store: Store;

beforeAll(async () => {
  database = await createTestDatabase();
  store = createStore({ url: database.url, poolSize: 2 });
});
afterAll(async () => {
  await store.close();
  await database.drop();
});

it('begins with the defaults and changes what is given', async () => {
  expect(await store.settings.get()).toEqual({ cancellationCheckIntervalMs: 2_000 });
  const changed = { cancellationCheckIntervalMs: 60_000 };
  expect(await store.settings.update(changed)).toEqual(changed);
  expect(await store.settings.update({})).toEqual(changed);
});

it('is shared by every process on the database', async () => {
  await using other = createStore({ url: database.url, poolSize: 1 });
  await other.settings.update({ cancellationCheckIntervalMs: 1_000 });
  expect(await store.settings.get()).toEqual({ cancellationCheckIntervalMs: 1_000 });
});

it('passes over a row of a setting that is no more', async () => {
  const row = `INSERT INTO settings (key, value) VALUES ('onboarding_telemetry_enabled', 'true')`;
  await queryDatabase(database.url, row);
  expect(Object.keys(await store.settings.get())).toEqual(['cancellationCheckIntervalMs']);
});
