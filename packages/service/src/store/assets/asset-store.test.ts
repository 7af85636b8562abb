import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { S3_CREDENTIALS, startS3, type TestS3 } from '../../../test/store/start-s3.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/store/template-db.ts';
import { createPool, type Pool } from '../postgres/pool.ts';
import { createReadQuery, createReads } from '../postgres/read-query.ts';
import {
  ASSET_PIECE_BYTES,
  type AssetStore,
  type ByteRange,
  createDatabaseAssetStore,
} from './asset-store.ts';
import { AssetWriter } from './asset-writer.ts';
import { collectObjects, releaseObjects } from './collect-assets.ts';
import { createS3Objects } from './s3/s3-objects.ts';
import { createS3AssetStore } from './s3-asset-store.ts';

let database: TestDatabase;
let pool: Pool;
let s3: TestS3;
const stores = {} as { database: AssetStore; s3: AssetStore; outage: AssetStore };
beforeAll(async () => {
  for (const [name, value] of Object.entries(S3_CREDENTIALS)) vi.stubEnv(name, value);
  database = await createTestDatabase();
  pool = createPool({ url: database.url, size: 10 });
  s3 = await startS3();
  stores.database = createDatabaseAssetStore();
  const at = (endpoint: string): AssetStore =>
    createS3AssetStore({
      pool,
      objects: createS3Objects({
        location: { bucket: 'assets', prefix: '', endpoint, region: null },
        retryDelayMs: 5,
      }),
      database: stores.database,
    });
  stores.s3 = at(s3.url);
  stores.outage = at('http://127.0.0.1:9');
});
afterAll(async () => {
  await s3[Symbol.asyncDispose]();
  await pool.end();
  await database.drop();
  vi.unstubAllEnvs();
});

type Ending = 'COMMIT' | 'ROLLBACK';

/** Stores content with its row, as an import does, and ends its transaction after `during`. */
async function save(
  store: AssetStore,
  bytes: Uint8Array,
  ending: Ending = 'COMMIT',
  during: () => Promise<unknown> = async () => undefined,
): Promise<string> {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const { rows } = await client.query('SELECT pg_current_xact_id()::text AS id');
    const location = await store.put({ sha256, bytes }, rows[0].id);
    await client.query(
      `INSERT INTO assets (sha256, bytes, object_key, byte_length) VALUES (decode($1, 'hex'), $2, $3, $4)
       ON CONFLICT DO NOTHING`,
      [sha256, location.bytes, location.objectKey, bytes.byteLength],
    );
    await during();
    await client.query(ending);
    client.release();
  } catch (error) {
    client.release(true);
    throw error;
  }
  return sha256;
}

async function read(store: AssetStore, sha256: string, range?: ByteRange): Promise<Buffer> {
  const pieces = await Array.fromAsync(store.read(createReads(pool), sha256, range));
  expect(pieces.every(({ byteLength }) => byteLength > 0 && byteLength <= ASSET_PIECE_BYTES)).toBe(true);
  return Buffer.concat(pieces);
}

const LENGTH = 2 * ASSET_PIECE_BYTES + 17;
const RANGES: readonly ByteRange[] = [
  { start: 0, end: 1 },
  { start: ASSET_PIECE_BYTES - 1, end: ASSET_PIECE_BYTES + 1 },
  { start: 5, end: LENGTH },
  { start: LENGTH - 1, end: LENGTH + 9 },
  { start: 3, end: 3 },
  { start: LENGTH, end: LENGTH + 1 },
];

describe.each(['database', 's3'] as const)('assets in the %s', (name) => {
  it('gives what was put, whole and in ranges', async () => {
    const bytes = randomBytes(LENGTH);
    const sha256 = await save(stores[name], bytes);
    expect(bytes.equals(await read(stores[name], sha256))).toBe(true);
    for (const range of RANGES) {
      const found = await read(stores[name], sha256, range);
      expect(found.equals(bytes.subarray(range.start, range.end)), JSON.stringify(range)).toBe(true);
    }
    expect(await read(stores[name], await save(stores[name], randomBytes(0)))).toHaveLength(0);
  });

  it('names an asset that is not stored, and stops when it is aborted', async () => {
    expect(await stores[name].findMissing(createReadQuery(pool), ['ab'.repeat(32)])).toHaveLength(1);
    await expect(read(stores[name], 'ab'.repeat(32))).rejects.toMatchObject({ code: 'asset_missing' });
    const sha256 = await save(stores[name], randomBytes(LENGTH));
    expect(await stores[name].findMissing(createReadQuery(pool), [sha256])).toEqual([]);
    const abort = new AbortController();
    const reading = stores[name].read(createReads(pool, abort.signal), sha256, undefined, abort.signal);
    await reading.next();
    abort.abort(new Error('the client left'));
    await expect(Array.fromAsync(reading)).rejects.toThrow('the client left');
  });

  it('removes objects that are not there', async () => {
    await stores[name].remove([`${'cd'.repeat(32)}/x`]);
  });
});

describe('objects of assets', () => {
  const objectOf = async (sha256: string): Promise<string[]> =>
    (await s3.objects()).filter((key) => key.startsWith(sha256));
  const noted = async (): Promise<number> =>
    Number((await pool.query('SELECT count(*) FROM loose_objects')).rows[0].count);

  it('stay while their import works and after it, and go when it has failed', async () => {
    await collectObjects(pool, stores.s3);
    const kept = await save(stores.s3, randomBytes(10), 'COMMIT', async () => {
      expect(await collectObjects(pool, stores.s3)).toBe(0);
    });
    const failed = await save(stores.s3, randomBytes(10), 'ROLLBACK', async () => {
      expect(await collectObjects(pool, stores.s3)).toBe(0);
    });
    expect([await objectOf(kept), await objectOf(failed)].map(({ length }) => length)).toEqual([1, 1]);
    expect(await collectObjects(pool, stores.s3)).toBe(1);
    expect([await objectOf(kept), await objectOf(failed)].map(({ length }) => length)).toEqual([1, 0]);
    expect(await noted()).toBe(0);
  });

  it('are written or given up when their import is aborted, and on their way no more', async () => {
    const abort = new AbortController();
    const gate = Promise.withResolvers<void>();
    const seen: string[] = [];
    const put = vi.fn<AssetStore['put']>(async () => {
      await gate.promise;
      seen.push('written');
      return { bytes: null, objectKey: 'x' };
    });
    const writer = new AssetWriter({ ...stores.database, put }, abort.signal);
    writer.add([{ sha256: 'ef'.repeat(32), bytes: randomBytes(1), mimeType: null }]);
    const client = await pool.connect();
    await client.query('BEGIN');
    const failed = writer.stage(client).catch(() => seen.push('failed'));
    await expect.poll(() => put.mock.calls.length).toBe(1);
    abort.abort();
    await Promise.race([failed, delay(500)]);
    gate.resolve();
    await failed;
    await client.query('ROLLBACK');
    client.release();
    expect(seen).toEqual(['written', 'failed']);
  });

  it('go with the rows of their assets, also after an outage and a restored database', async () => {
    const sha256 = await save(stores.s3, randomBytes(10));
    const [key] = await objectOf(sha256);
    const client = await pool.connect();
    await client.query('BEGIN');
    await client.query(`DELETE FROM assets WHERE sha256 = decode($1, 'hex')`, [sha256]);
    await releaseObjects(client, [String(key)]);
    expect(await collectObjects(pool, stores.s3)).toBe(0);
    await client.query('COMMIT');
    client.release();
    await expect(collectObjects(pool, stores.outage)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await noted()).toBe(1);
    await pool.query('UPDATE loose_objects SET transaction_id = 9000000000000');
    expect(await collectObjects(pool, stores.s3)).toBe(1);
    expect([await objectOf(sha256), await noted()]).toEqual([[], 0]);
  });

  it('are read together with content in the database, and missed without their storage', async () => {
    const [here, there] = [
      await save(stores.database, randomBytes(9)),
      await save(stores.s3, randomBytes(9)),
    ];
    expect(await read(stores.s3, here)).toHaveLength(9);
    await expect(read(stores.database, there)).rejects.toMatchObject({ code: 'asset_missing' });
    const [key] = await objectOf(there);
    await s3.lose(String(key));
    for (const name of ['database', 's3'] as const) {
      expect(await stores[name].findMissing(createReadQuery(pool), [here, there])).toEqual([there]);
    }
    await expect(stores.outage.findMissing(createReadQuery(pool), [there])).rejects.toMatchObject({
      code: 'unavailable',
    });
    await expect(read(stores.s3, there)).rejects.toMatchObject({ code: 'asset_missing' });
    expect(await read(stores.s3, here)).toHaveLength(9);
    await expect(save(stores.outage, randomBytes(9))).rejects.toMatchObject({ code: 'unavailable' });
  });
});
