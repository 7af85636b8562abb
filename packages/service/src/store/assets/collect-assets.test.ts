import { createHash, randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { splitLines } from '@svc/jsonl-v23/lines';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LINES, linesOf, metaOf } from '../../../test/store/import-items.ts';
import { queryDatabase } from '../../../test/store/query-database.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/store/template-db.ts';
import { createStore, type Store } from '../create-store.ts';

let database: TestDatabase;
let store: Store;
beforeAll(async () => {
  database = await createTestDatabase();
  store = createStore({ url: database.url, poolSize: 32, importWaitMs: 60_000 });
});
afterAll(async () => {
  await store.close();
  await database.drop();
});
const query = (sql: string) => queryDatabase(database.url, sql);

/** Contents that all imports choose from: two of them are large enough to be staged in the database. */
const CONTENTS = Array.from({ length: 12 }, (_, index) => randomBytes(index < 2 ? 4_200_000 : 500 + index));

/** Imports items that embed these contents, in this order. */
async function importContents(indexes: readonly number[]): Promise<string> {
  const read = ({ path }: { readonly path: string }) =>
    Promise.resolve(CONTENTS[Number(path.slice(7))] as Uint8Array);
  const lines = indexes.map((index) => JSON.stringify({ assets: [`assets/${index}`] }));
  await using draft = await store.datasets.begin();
  await draft.section('s').writeLines(splitLines(linesOf(lines)), {
    ...LINES,
    files: { problems: async (references) => references.map(() => null), read },
  });
  return (await draft.commit({ dataset: metaOf() })).dataset.id;
}

it('removes no asset that a dataset refers to, and leaves no other, while 50 imports and deletions share them', async () => {
  const isOver = new AbortController();
  const collecting = Array.from({ length: 2 }, async () => {
    while (!isOver.signal.aborted) {
      await store.assets.collect();
      await nextTurn();
    }
  });
  const kept = new Map<string, readonly number[]>();
  await Promise.all(
    Array.from({ length: 50 }, async (_, number) => {
      // Every import has its own order, so that two of them meet the same contents from both ends.
      const wanted = CONTENTS.map((__, index) => index).filter((index) => index > 1 || number % 10 === 0);
      const indexes = wanted.map(
        (___, at) => wanted[(at * (number % 2 === 0 ? 1 : 11) + number) % wanted.length] as number,
      );
      const some = [...new Set(indexes)].slice(0, number % 10 === 0 ? wanted.length : 1 + (number % 7));
      const id = await importContents(some);
      if (number % 3 === 0) kept.set(id, some);
      else await store.datasets.delete(id);
    }),
  );
  isOver.abort();
  await Promise.all(collecting);

  for (const [id, indexes] of kept) {
    for (const index of indexes) {
      const content = CONTENTS[index] as Buffer;
      const sha256 = createHash('sha256').update(content).digest('hex');
      expect(await store.assets.find(id, sha256)).toMatchObject({ byteLength: content.byteLength });
      const pieces: Uint8Array[] = [];
      for await (const piece of store.assets.read(sha256)) pieces.push(piece);
      expect(Buffer.concat(pieces).equals(content)).toBe(true);
    }
  }
  await store.assets.collect();
  const unreferenced =
    'SELECT FROM assets a WHERE NOT EXISTS (SELECT FROM dataset_assets d WHERE d.sha256 = a.sha256)';
  expect(await query(unreferenced)).toEqual([]);
  for (const id of kept.keys()) await store.datasets.delete(id);
  await store.assets.collect();
  expect(await query('SELECT FROM assets')).toEqual([]);
  expect(await query('SELECT FROM released_assets')).toEqual([]);
});

it('keeps what files for clients of the hub refer to until they are gone', async () => {
  const id = await importContents([2, 3]);
  const sha256 = createHash('sha256')
    .update(CONTENTS[2] as Buffer)
    .digest('hex');
  await query(`INSERT INTO hub_contents (sha256, byte_length) VALUES (decode('${sha256}', 'hex'), 502)`);
  await store.datasets.delete(id);
  expect(await store.assets.collect()).toBe(1);
  expect(await query("SELECT encode(sha256, 'hex') AS sha256 FROM assets")).toEqual([{ sha256 }]);
  await query('DELETE FROM hub_contents');
  expect(await store.assets.collect()).toBe(1);
});
