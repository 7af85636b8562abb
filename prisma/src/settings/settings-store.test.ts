import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/template-db.ts';
import { createStore, type Store } from '../create-store.ts';
import { DEFAULT_SETTINGS } from './settings-store.ts';

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
  expect(await store.settings.get()).toEqual(DEFAULT_SETTINGS);
  expect(await store.settings.update({ onboardingTelemetryEnabled: true })).toEqual({
    ...DEFAULT_SETTINGS,
    onboardingTelemetryEnabled: true,
  });
  await store.settings.update({ cancellationCheckIntervalMs: 60_000, onboardingTelemetryEnabled: false });
  expect(await store.settings.update({})).toEqual({
    cancellationCheckIntervalMs: 60_000,
    onboardingTelemetryEnabled: false,
  });
});

it('is shared by every process on the database', async () => {
  await using other = createStore({ url: database.url, poolSize: 1 });
  await Promise.all([
    other.settings.update({ cancellationCheckIntervalMs: 1_000 }),
    store.settings.update({ onboardingTelemetryEnabled: true }),
  ]);
  expect(await store.settings.get()).toEqual(await other.settings.get());
});
