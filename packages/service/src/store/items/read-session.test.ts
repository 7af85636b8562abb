import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { importItems, writeSections } from '../../../test/store/import-items.ts';
import { streamItems } from '../../../test/store/stream-items.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/store/template-db.ts';
import { createStore, type Store } from '../create-store.ts';

let database: TestDatabase;
let store: Store;
beforeAll(async () => {
  database = await createTestDatabase();
  store = createStore({ url: database.url });
});
afterAll(async () => {
  await store.close();
  await database.drop();
});

const itemTexts = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `{"id":${from + index}}`);

it('reads sections of several statements in order, and no item twice', async () => {
  const sizes = { a: 3, b: 0, c: 9_000, d: 1, e: 4_095, f: 4_097 };
  let from = 0;
  const sections = Object.entries(sizes).map(([name, count]) => {
    from += count;
    return [name, itemTexts(from - count, count)] as const;
  });
  const { id } = await importItems(store.datasets, Object.fromEntries(sections));
  const read: string[] = [];
  for await (const items of streamItems(store.datasets, id)) {
    for (const { section, orderIndex, payload } of items) read.push(`${section} ${orderIndex} ${payload}`);
  }
  expect(read).toEqual(
    sections.flatMap(([name, texts]) => texts.map((text, index) => `${name} ${index} ${text}`)),
  );
});

it('ends with the reason of an abort that comes between two statements', async () => {
  const { id } = await importItems(store.datasets, { a: itemTexts(0, 5_000) });
  const abort = new AbortController();
  await using open = await store.datasets.open(id, { signal: abort.signal });
  const items = open.items();
  await items.next();
  await delay(200); // the first statement has ended
  abort.abort(new Error('gone'));
  await delay(50); // its connection is closed
  await expect(
    (async () => {
      while ((await items.next()).done !== true);
    })(),
  ).rejects.toThrow('gone');
});

it('ends with the reason of an abort that comes while it waits for a connection', async () => {
  const { id } = await importItems(store.datasets, { a: itemTexts(0, 1) });
  await using narrow = createStore({ url: database.url, poolSize: 1 });
  const draft = await narrow.datasets.begin();
  await writeSections(draft, { a: itemTexts(0, 1) });
  const abort = new AbortController();
  const opened = narrow.datasets.open(id, { signal: abort.signal });
  await expect.poll(() => narrow.pool().waiting).toBe(1);
  abort.abort(new Error('gone'));
  await draft[Symbol.asyncDispose]();
  await expect(opened).rejects.toThrow('gone');
});
