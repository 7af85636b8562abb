import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { mapOrdered } from '../../concurrency/index.ts';
import { StoreError } from '../database/errors.ts';
import type { AssetStore } from './asset-store.ts';
import { addLooseObject } from './collect-assets.ts';
import type { S3Objects } from './s3/s3-objects.ts';

const CONCURRENT_REQUESTS = 8;

/** Keeps the content of new assets in S3, under keys that are used once. Reads what the database has from there. */
export function createS3AssetStore({
  pool,
  objects,
  database,
}: {
  readonly pool: pg.Pool;
  readonly objects: S3Objects;
  readonly database: AssetStore;
}): AssetStore {
  return {
    async put({ sha256, bytes }, transactionId, signal) {
      const objectKey = `${sha256}/${randomUUID()}`;
      await addLooseObject(pool, objectKey, transactionId);
      await objects.put(objectKey, { sha256, bytes }, signal);
      return { bytes: null, objectKey };
    },

    async *read(reads, sha256, range, signal) {
      const [row] = await reads.query<{ readonly objectKey: string | null; readonly byteLength: number }>(
        `SELECT object_key AS "objectKey", byte_length::float8 AS "byteLength" FROM assets WHERE sha256 = decode($1, 'hex')`,
        [sha256],
      );
      if (row === undefined || row.objectKey === null) {
        yield* database.read(reads, sha256, range, signal);
        return;
      }
      const start = range?.start ?? 0;
      const end = Math.min(range?.end ?? Number.POSITIVE_INFINITY, row.byteLength);
      if (start < end) yield* objects.read(row.objectKey, { start, end }, signal);
    },

    async readSome(reads, sha256s, signal) {
      const contents = await database.readSome(reads, sha256s, signal);
      const others = sha256s.filter((sha256) => !contents.has(sha256));
      if (others.length === 0) return contents;
      const rows = await reads.query<ObjectRow>(OBJECTS_AMONG, [others]);
      await eachOf(rows, async ({ sha256, objectKey, byteLength }) => {
        const content = await readWhole(objects, objectKey, byteLength, signal);
        if (content !== null) contents.set(sha256, content);
      });
      return contents;
    },

    async findMissing(query, sha256s, signal) {
      const rows = await query<ObjectRow>(OBJECTS_AMONG, [sha256s]);
      const kept = new Set(rows.map(({ sha256 }) => sha256));
      const others = sha256s.filter((sha256) => !kept.has(sha256));
      const missing = [...(await database.findMissing(query, others, signal))];
      await eachOf(rows, async ({ sha256, objectKey }) => {
        if (!(await objects.exists(objectKey, signal))) missing.push(sha256);
      });
      return missing;
    },

    remove: (objectKeys) => eachOf(objectKeys, (key) => objects.delete(key)),
  };
}

interface ObjectRow {
  readonly sha256: string;
  readonly objectKey: string;
  readonly byteLength: number;
}

const OBJECTS_AMONG = `SELECT encode(sha256, 'hex') AS sha256, object_key AS "objectKey", byte_length::float8 AS "byteLength"
  FROM assets
  WHERE sha256 = ANY (SELECT decode(wanted, 'hex') FROM unnest($1::text[]) AS wanted) AND object_key IS NOT NULL`;

async function readWhole(
  objects: S3Objects,
  objectKey: string,
  end: number,
  signal: AbortSignal | undefined,
): Promise<Uint8Array | null> {
  if (end === 0) return Buffer.alloc(0);
  try {
    return Buffer.concat(await Array.fromAsync(objects.read(objectKey, { start: 0, end }, signal)));
  } catch (error) {
    if (error instanceof StoreError && error.code === 'asset_missing') return null;
    throw error;
  }
}

async function eachOf<T>(values: readonly T[], send: (value: T) => Promise<void>): Promise<void> {
  for await (const _ of mapOrdered(values, CONCURRENT_REQUESTS, send));
}
