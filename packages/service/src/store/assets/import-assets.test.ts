import { createHash, randomBytes } from 'node:crypto';
import { encodeItem, parseItem } from '@svc/jsonl-v23';
import { canonicalJson } from '@svc/jsonl-v23/json';
import { splitLines } from '@svc/jsonl-v23/lines';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LINES, linesOf, metaOf } from '../../../test/store/import-items.ts';
import { queryDatabase } from '../../../test/store/query-database.ts';
import { streamItems } from '../../../test/store/stream-items.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/store/template-db.ts';
import { createStore, type Store } from '../create-store.ts';
import type { DatasetSummary } from '../database/dataset-row.ts';
import type { ItemFileSource } from '../import/encode/encode-with-files.ts';

let database: TestDatabase;
let store: Store;
beforeAll(async () => {
  database = await createTestDatabase();
  store = createStore({ url: database.url, encoderThreads: 1 });
});
afterAll(async () => {
  await store.close();
  await database.drop();
});
const query = (sql: string, values: unknown[] = []) => queryDatabase(database.url, sql, values);
beforeEach(() => query('DELETE FROM datasets; DELETE FROM assets'));

/** Imports lines whose items refer to files of these contents. */
async function importLines(
  lines: readonly string[],
  files: Readonly<Record<string, Uint8Array>> = {},
): Promise<DatasetSummary> {
  await using draft = await store.datasets.begin();
  const source: ItemFileSource = {
    problems: async (references) => references.map(() => null),
    read: ({ path }) => Promise.resolve(files[path] as Uint8Array),
  };
  await draft.section('s').writeLines(splitLines(linesOf(lines)), { ...LINES, files: source });
  return (await draft.commit({ dataset: metaOf({}) })).dataset;
}

/** The items of a dataset with their files, by the stream and by the pages, which must agree. */
async function itemTexts(id: string): Promise<string[]> {
  const texts: string[] = [];
  for await (const batch of streamItems(store.datasets, id)) {
    for (const item of batch) {
      let text = '';
      for await (const piece of store.assets.itemText(item)) text += piece;
      texts.push(text);
    }
  }
  return texts;
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const embedded = (bytes: Uint8Array, others: Record<string, unknown> = {}): Record<string, unknown> => ({
  mime_type: 'image/png',
  encoding: 'base64',
  data: Buffer.from(bytes).toString('base64'),
  ...others,
});
const assetRows = (): Promise<unknown[]> =>
  query(`SELECT encode(sha256, 'hex') AS sha256, octet_length(bytes) AS bytes FROM assets ORDER BY 1`);

describe('an import', () => {
  it('stores each file once, however many items and datasets refer to it', async () => {
    const file = randomBytes(70_000);
    const line = JSON.stringify({ assets: { a: 'assets/a.png', b: { path: 'assets/b.gif', note: 'é' } } });
    const lines = Array.from({ length: 30 }, () => line);
    const first = await importLines(lines, { 'assets/a.png': file, 'assets/b.gif': file });
    const second = await importLines([JSON.stringify({ assets: [embedded(file)] })]);
    expect(first).toMatchObject({ itemCount: 30, assetCount: 60 });
    expect(await assetRows()).toEqual([{ sha256: sha256(file), bytes: 70_000 }]);
    expect(await store.assets.find(first.id, sha256(file))).toMatchObject({ mimeType: 'image/png' });
    expect(await query('SELECT max(octet_length(assets::text)) < 500 AS small FROM items')).toEqual([
      { small: true },
    ]);

    const whole = parseItem({
      assets: {
        a: embedded(file, { path: 'assets/a.png' }),
        b: embedded(file, { mime_type: 'image/gif', note: 'é', path: 'assets/b.gif' }),
      },
    } as never);
    expect(await itemTexts(first.id)).toEqual(
      Array.from({ length: 30 }, () => canonicalJson(whole as never)),
    );
    const hashes = await query(
      'SELECT DISTINCT item_hash FROM items JOIN parts ON parts.id = part_id WHERE dataset_id = $1',
      [first.id],
    );
    expect(hashes.map(({ item_hash }) => Buffer.from(item_hash))).toEqual([
      Buffer.from(encodeItem(whole).itemHash),
    ]);

    await store.datasets.delete(first.id);
    expect(await itemTexts(second.id)).toEqual([canonicalJson({ assets: [embedded(file)] } as never)]);
  });

  it('keeps what only looks like a link as it is', async () => {
    const file = randomBytes(10);
    const link = { mime_type: 'image/png', sha256: sha256(file), byte_length: 10 };
    const items = [
      { assets: { a: { ...link, url: 'https://example.org/a' }, b: embedded(file, link) }, checker: link },
      { assets: [{ ...link, url: 'x' }] },
      { checker: { encoding: 'base64', data: 'eA==', sha256: 'mine', byte_length: null, type: 'code' } },
    ];
    const { id } = await importLines(items.map((item) => JSON.stringify(item)));
    expect(await itemTexts(id)).toEqual(items.map((item) => canonicalJson(item as never)));
    expect(await assetRows()).toHaveLength(2);
  });

  it('stages many and large files in the database, and stores the same', async () => {
    const files = Array.from({ length: 60 }, (_, index) => randomBytes(index % 7 === 0 ? 400_000 : 30_000));
    const paths = Object.fromEntries(files.map((file, index) => [`assets/${index}.png`, file]));
    const lines = files.map((_, index) =>
      JSON.stringify({ assets: [`assets/${index}.png`, 'assets/3.png'] }),
    );
    const plain = Array.from({ length: 60 }, (_, id) => JSON.stringify({ id }));
    const { id, itemCount } = await importLines([...lines, ...plain], paths);
    expect(itemCount).toBe(120);
    const texts = await itemTexts(id);
    expect(texts.slice(0, 60)).toEqual(
      files.map((file, index) =>
        canonicalJson({
          assets: [
            embedded(file, { path: `assets/${index}.png` }),
            embedded(files[3] as Buffer, { path: 'assets/3.png' }),
          ],
        } as never),
      ),
    );
    expect(await assetRows()).toEqual(
      files
        .map((file) => ({ sha256: sha256(file), bytes: file.byteLength }))
        .sort((a, b) => (a.sha256 < b.sha256 ? -1 : 1)),
    );
    // An export reads them one after another, and small ones ahead.
    await using open = await store.datasets.open(id);
    const wanted = files.map((file) => ({ sha256: sha256(file), byteLength: file.byteLength }));
    for (const [index, asset] of wanted.entries()) {
      const pieces: Uint8Array[] = [];
      const content = open.content(asset, wanted.slice(index + 1));
      for await (const piece of content instanceof Uint8Array ? [content] : content) pieces.push(piece);
      expect(Buffer.concat(pieces).equals(files[index] as Buffer), `file ${index}`).toBe(true);
    }
    // A second import finds them all.
    const again = await importLines([...lines, ...plain], paths);
    expect(await itemTexts(again.id)).toEqual(texts);
    expect(await query('SELECT count(*)::int AS references FROM dataset_assets')).toEqual([
      { references: 120 },
    ]);
  });

  it.each([
    ['few rows', 1],
    ['copied rows', 1000],
  ])('notes the bytes of the texts of %s', async (_, count) => {
    const lines = Array.from({ length: count }, (_, index) => [
      JSON.stringify({ id: index, inputs: { prompt: 'é'.repeat(index) }, answer: [1], checker: 'c' }),
      JSON.stringify({ id: index, assets: [embedded(randomBytes(100))] }),
    ]).flat();
    await importLines(lines);
    const wrong = await query(`SELECT 1 FROM items WHERE byte_length <> octet_length(payload::text)
      + coalesce(octet_length(answer::text), 0) + coalesce(octet_length(checker::text), 0)
      + coalesce(octet_length(assets::text), 0)`);
    expect(wrong).toEqual([]);
  });

  it('stores nothing when it fails', async () => {
    const line = JSON.stringify({ assets: [embedded(randomBytes(6_000_000))] });
    await expect(importLines([line, line, 'no JSON'])).rejects.toThrow(
      'A draft with faults cannot be committed.',
    );
    expect(await assetRows()).toEqual([]);
  });
});
