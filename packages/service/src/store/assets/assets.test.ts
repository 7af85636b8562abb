import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { queryDatabase } from '../../../test/store/query-database.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/store/template-db.ts';
import { createStore, type Store } from '../create-store.ts';
import { ASSET_PIECE_BYTES } from './asset-store.ts';

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

async function storeAsset(bytes: Uint8Array): Promise<string> {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  await queryDatabase(
    database.url,
    `INSERT INTO assets (sha256, bytes, byte_length) VALUES (decode($1, 'hex'), $2, $3)`,
    [sha256, bytes, bytes.byteLength],
  );
  return sha256;
}

async function readAll(sha256: string, range?: { start: number; end: number }): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of store.assets.read(sha256, range === undefined ? {} : { range }))
    pieces.push(piece);
  expect(pieces.every(({ byteLength }) => byteLength <= ASSET_PIECE_BYTES)).toBe(true);
  return Buffer.concat(pieces);
}

it('reads assets and ranges of them in pieces', async () => {
  const bytes = randomBytes(2 * ASSET_PIECE_BYTES + 17);
  const sha256 = await storeAsset(bytes);
  expect(bytes.equals(await readAll(sha256))).toBe(true);
  for (const [start, end] of [
    [0, 1],
    [ASSET_PIECE_BYTES - 1, ASSET_PIECE_BYTES + 1],
    [5, bytes.length],
    [bytes.length - 1, bytes.length + 9],
    [3, 3],
  ] as const) {
    expect(
      (await readAll(sha256, { start, end })).equals(bytes.subarray(start, end)),
      `${start} to ${end}`,
    ).toBe(true);
  }
  expect(await readAll(await storeAsset(new Uint8Array()))).toHaveLength(0);
  await expect(readAll('ab'.repeat(32))).rejects.toMatchObject({ code: 'asset_missing' });
});

it('finds only the assets of a dataset', async () => {
  const sha256 = await storeAsset(Buffer.from('mine'));
  const [mine, other] = [randomUUID(), randomUUID()];
  for (const id of [mine, other]) {
    await queryDatabase(
      database.url,
      `INSERT INTO datasets (id, name, source, schema) VALUES ($1, 'assets', 'pkg_zip', '{}')`,
      [id],
    );
  }
  await queryDatabase(
    database.url,
    `INSERT INTO dataset_assets (dataset_id, sha256, mime_type) VALUES ($1, decode($2, 'hex'), 'image/png')`,
    [mine, sha256],
  );
  expect(await store.assets.find(mine, sha256)).toEqual({ sha256, byteLength: 4, mimeType: 'image/png' });
  expect(await store.assets.find(other, sha256)).toBeNull();
  expect(await store.assets.find(mine, 'zz')).toBeNull();
  expect(await store.assets.find('x', sha256)).toBeNull();

  await queryDatabase(database.url, 'DELETE FROM datasets WHERE id = $1', [mine]);
  const released = await queryDatabase(
    database.url,
    `SELECT encode(sha256, 'hex') AS sha256 FROM released_assets`,
  );
  expect(released).toEqual([{ sha256 }]);
});
