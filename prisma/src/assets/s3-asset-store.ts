import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { AssetStore } from './asset-store.ts';
import { addLooseObject } from './loose-objects.ts';
import type { S3Objects } from './s3/s3-objects.ts';

/** Objects that are removed at once. */
const CONCURRENT_REMOVALS = 8;

/**
 * Keeps the content of new assets in S3, under keys that are used once. Reads what the database has from there.
 *
 * @param database reads the assets that were stored before
 */
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

    async *read(query, sha256, range, signal) {
      const [row] = await query<{ readonly objectKey: string | null; readonly byteLength: string }>(
        `SELECT object_key AS "objectKey", byte_length AS "byteLength" FROM assets WHERE sha256 = decode($1, 'hex')`,
        [sha256],
      );
      if (row === undefined || row.objectKey === null) {
        yield* database.read(query, sha256, range, signal);
        return;
      }
      const start = range?.start ?? 0;
      const end = Math.min(range?.end ?? Number.POSITIVE_INFINITY, Number(row.byteLength));
      if (start < end) yield* objects.read(row.objectKey, { start, end }, signal);
    },

    async remove(objectKeys) {
      const keys = objectKeys.values();
      const removeSome = async (): Promise<void> => {
        for (const key of keys) await objects.delete(key);
      };
      await Promise.all(Array.from({ length: CONCURRENT_REMOVALS }, removeSome));
    },
  };
}
