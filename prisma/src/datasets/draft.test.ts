import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { importItems } from '../../test/import-items.ts';
import { throughLine } from '../../test/server-address.ts';
import { startTcpProxy, type TcpProxy } from '../../test/tcp-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../../test/template-db.ts';
import { createStore, type Store } from '../create-store.ts';

let database: TestDatabase;
let line: TcpProxy;
let store: Store;
beforeAll(async () => {
  database = await createTestDatabase();
  line = await startTcpProxy(database.url);
  store = createStore({ url: throughLine(database.url, line), poolSize: 4 });
});
beforeEach(() => {
  line.loseResponseTo = null;
});
afterAll(async () => {
  await store.close();
  await line[Symbol.asyncDispose]();
  await database.drop();
});

const names = async (): Promise<string[]> =>
  (await store.datasets.list({ limit: 100 })).data.map(({ name }) => name);

describe('a line that breaks at the end of an import', () => {
  it('after the commit: the dataset is there, and so is its answer', async () => {
    line.loseResponseTo = 'COMMIT';
    const dataset = await importItems(store.datasets, { a: ['{"id":1}'] }, { name: 'kept' });
    line.loseResponseTo = null;
    expect(await store.datasets.get(dataset.id)).toEqual(dataset);
    expect(await names()).toEqual(['kept']);
  });

  it('before the commit: neither is', async () => {
    line.loseResponseTo = 'INSERT INTO sections';
    const failed = importItems(store.datasets, { a: ['{"id":2}'] }, { name: 'lost' });
    await expect(failed).rejects.toMatchObject({ code: 'unavailable' });
    line.loseResponseTo = null;
    expect(await names()).toEqual(['kept']);
  });

  it('and stays broken: the import fails, after a short time', async () => {
    line.loseResponseTo = 'COMMIT';
    const { target } = line;
    const failed = importItems(store.datasets, { a: ['{"id":3}'] }, { name: 'unknown' });
    line.target = null;
    await expect(failed).rejects.toMatchObject({ code: 'unavailable' });
    line.target = target;
  });
});
