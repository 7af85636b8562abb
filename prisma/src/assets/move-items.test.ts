import { randomBytes, randomUUID } from 'node:crypto';
import { createSectionHasher, encodeItem, type Item, parseItem, versionHash } from '@svc/jsonl-v23';
import type { LinkedParts } from '@svc/jsonl-v23/internal';
import { canonicalJson, type JsonValue } from '@svc/jsonl-v23/json';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/template-db.ts';
import { createStore, type Store } from '../create-store.ts';

let database: TestDatabase;
let store: Store;
let plain: pg.Pool;
beforeAll(async () => {
  database = await createTestDatabase();
  store = createStore({ url: database.url });
  plain = new pg.Pool({ connectionString: database.url, application_name: 'svc' });
  plain.on('error', () => undefined); // the database is dropped at the end
});
afterAll(async () => {
  await store.close();
  await plain.end();
  await database.drop();
});

const image = randomBytes(300_000).toString('base64');
const entry = (others: Record<string, JsonValue> = {}): JsonValue => ({
  mime_type: 'image/png',
  encoding: 'base64',
  data: image,
  ...others,
});
const ITEMS: readonly JsonValue[] = [
  { id: 1, assets: { a: entry({ path: 'assets/a.png' }), b: entry({ sha256: 'mine', byte_length: 1 }) } },
  { id: 2 },
  { id: 3, assets: [entry({ caption: '𝄞 "é"' }), { url: 'https://example.org/a.png' }], answer: null },
  { id: 4, assets: { link: { mime_type: 'image/png', sha256: 'ab'.repeat(32), byte_length: 3, url: 'x' } } },
  { id: 5, checker: { encoding: 'base64', data: 'cHJpbnQ=', path: 'checkers/a.py', type: 'code' } },
  ...Array.from({ length: 40 }, (_, id) => ({ id, assets: [entry({ n: id })] })),
];

/** A dataset of sections with these items, by the statements of the version before assets. */
async function importAsOlder(sections: readonly (readonly JsonValue[])[]): Promise<string> {
  const id = randomUUID();
  const encoded = sections.map((items) => items.map((item) => encodeItem(parseItem(item as Item))));
  const hashes = encoded.map((items, index) => {
    const hasher = createSectionHasher(`s${index}`);
    for (const { itemHash } of items) hasher.add(itemHash);
    return hasher.digest();
  });
  await plain.query(
    `INSERT INTO datasets (id, name, source, version_hash, schema, section_count, item_count, asset_count)
     VALUES ($1, 'older', 'pkg_zip', $2, '{"package":null,"source":"pkg_zip"}', $3, $4, $5)`,
    [
      id,
      versionHash(hashes),
      sections.length,
      encoded.flat().length,
      encoded.flat().reduce((sum, { assetCount }) => sum + assetCount, 0),
    ],
  );
  for (const [index, items] of encoded.entries()) {
    const section = randomUUID();
    await plain.query(
      `INSERT INTO sections (id, dataset_id, name, order_index, item_count, section_hash) VALUES ($1, $2, $3, $4, $5, $6)`,
      [section, id, `s${index}`, index, items.length, hashes[index]],
    );
    for (const [orderIndex, { itemHash, type, payload, answer, checker, assets }] of items.entries()) {
      await plain.query(
        `INSERT INTO items (section_id, order_index, item_hash, type, payload, answer, checker, assets)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
        [section, orderIndex, itemHash, type, payload, answer, checker, assets],
      );
    }
  }
  return id;
}

/** The items as every way of reading gives them, and the hashes that are stored of them. */
async function whatIsRead(id: string): Promise<{ texts: string[]; hashes: string[]; version: string }> {
  const { data } = await store.datasets.listItems(id, { limit: 100 });
  const textOf = async (item: LinkedParts): Promise<string> => {
    let text = '';
    for await (const piece of store.assets.itemText(item)) text += piece;
    return text;
  };
  const listed = [];
  for (const item of data) listed.push(await textOf({ ...item, payload: item.payload ?? '' }));
  const texts = [];
  const hashes = [];
  for await (const batch of await store.datasets.streamItems(id)) {
    for (const item of batch) {
      texts.push(await textOf(item));
      hashes.push(Buffer.from(item.itemHash).toString('hex'));
    }
  }
  expect(texts.slice(0, listed.length)).toEqual(listed);
  return { texts, hashes, version: (await store.datasets.get(id)).versionHash };
}

async function moveAll(): Promise<{ items: number; itemsTotal: number; moved: number }[]> {
  const steps = [];
  for await (const step of store.assets.move()) steps.push(step);
  return steps;
}

it('moves the files of items that the version before assets wrote, and changes no hash and no text', async () => {
  const id = await importAsOlder([ITEMS, ITEMS.slice(0, 3)]);
  const expected = [...ITEMS, ...ITEMS.slice(0, 3)].map((item) => canonicalJson(item as never));
  const before = await whatIsRead(id);
  expect(before.texts).toEqual(expected);
  expect(await store.assets.countToMove()).toBe(48);
  expect(await store.assets.isOlderVersionConnected()).toBe(true);

  // It may be stopped after any batch, and two processes may work at once.
  for await (const step of store.assets.move()) {
    expect(step).toMatchObject({ itemsTotal: 48 });
    break;
  }
  expect((await whatIsRead(id)).texts).toEqual(expected);
  const [one, two] = await Promise.all([moveAll(), moveAll()]);
  expect(one.at(-1)).toMatchObject({ items: one.at(-1)?.itemsTotal });
  expect([...one, ...two].length).toBeGreaterThan(2);
  expect(await store.assets.countToMove()).toBe(0);

  expect(await whatIsRead(id)).toEqual(before);
  const { rows } = await plain.query(
    `SELECT count(linked_files)::int AS moved, max(octet_length(assets::text))::int < 1000 AS small FROM items`,
  );
  expect(rows).toEqual([{ moved: 45, small: true }]);
  expect((await plain.query('SELECT byte_length::int AS bytes FROM assets ORDER BY 1')).rows).toEqual([
    { bytes: 5 },
    { bytes: 300_000 },
  ]);
  expect((await plain.query('SELECT mime_type FROM dataset_assets ORDER BY 1')).rows).toEqual([
    { mime_type: 'image/png' },
    { mime_type: null },
  ]);

  // The older version goes on while processes are replaced.
  const later = await importAsOlder([ITEMS.slice(0, 2)]);
  expect((await whatIsRead(later)).texts).toEqual(expected.slice(0, 2));
  expect(await moveAll()).toContainEqual({ items: 2, itemsTotal: 2, moved: 1 });
  expect((await whatIsRead(later)).texts).toEqual(expected.slice(0, 2));

  // A run of such a dataset is for workers that read assets.
  await plain.query(
    `INSERT INTO runs (id, dataset_id, dataset_version_hash, config, total) SELECT $1, id, version_hash, '{}', 1 FROM datasets WHERE id = $2`,
    [randomUUID(), later],
  );
  expect((await plain.query('SELECT worker_level FROM runs')).rows).toEqual([{ worker_level: 1 }]);

  // Its deletion, by whichever version, leaves no asset.
  for (const dataset of [id, later]) await plain.query('DELETE FROM datasets WHERE id = $1', [dataset]);
  expect(await store.assets.collect()).toBe(2);
});

it('leaves damaged items as they are, and finds them no more', async () => {
  const id = await importAsOlder([ITEMS.slice(0, 1)]);
  await plain.query(`UPDATE items SET assets = replace(assets::text, '"encoding":"base64"', '"encoding":"base65"')::json
    FROM sections s WHERE s.id = section_id AND s.dataset_id = '${id}'`);
  const { texts } = await whatIsRead(id);
  expect(await moveAll()).toContainEqual({ items: 1, itemsTotal: 1, moved: 0 });
  expect((await whatIsRead(id)).texts).toEqual(texts);
  expect(await store.assets.countToMove()).toBe(0);
});
