import type pg from 'pg';
import { HAS_ENDED } from '../postgres/has-ended.ts';
import { inTransaction } from '../postgres/pool.ts';
import type { AssetStore } from './asset-store.ts';

/*
 * An object is written before the transaction that refers to it commits, and removed after the one that deletes its row.
 * A row of `loose_objects` names it until that transaction has ended, so that neither a crash nor an outage leaves an
 * object behind.
 */

/** Objects of one turn. */
const OBJECTS_PER_TURN = 500;

/** Notes an object that is about to be written for a transaction, before and apart from that. */
export async function addLooseObject(pool: pg.Pool, objectKey: string, transactionId: string): Promise<void> {
  await pool.query('INSERT INTO loose_objects (object_key, transaction_id) VALUES ($1, $2)', [
    objectKey,
    transactionId,
  ]);
}

/** Notes the objects of assets whose rows this transaction deletes. */
export async function releaseObjects(client: pg.ClientBase, objectKeys: readonly string[]): Promise<void> {
  await client.query(
    `INSERT INTO loose_objects (object_key, transaction_id)
     SELECT key, pg_current_xact_id()::text::bigint FROM unnest($1::text[]) AS key
     ON CONFLICT (object_key) DO UPDATE SET transaction_id = excluded.transaction_id`,
    [objectKeys],
  );
}

/**
 * Removes the objects to which no asset refers, of transactions that have ended, and forgets the others. Several
 * processes may do it concurrently.
 *
 * @param signal ends it early, between two transactions
 * @returns how many objects it removed
 * @throws StoreError `unavailable` when the object storage is; what is left is removed the next time
 */
export async function collectObjects(
  pool: pg.Pool,
  assets: Pick<AssetStore, 'remove'>,
  signal?: AbortSignal,
): Promise<number> {
  let removed = 0;
  for (let after = ''; signal?.aborted !== true; ) {
    const turn = await inTransaction(pool, async (client) => {
      const { rows: noted } = await client.query<{ readonly key: string; readonly hasEnded: boolean }>(
        `SELECT object_key AS key,
           ${HAS_ENDED} AS "hasEnded"
         FROM loose_objects WHERE object_key > $1 ORDER BY object_key LIMIT $2 FOR UPDATE SKIP LOCKED`,
        [after, OBJECTS_PER_TURN],
      );
      const ended = noted.filter(({ hasEnded }) => hasEnded).map(({ key }) => key);
      // A separate statement, which sees what those transactions have committed.
      const { rows: loose } = await client.query<{ readonly key: string }>(
        `SELECT key FROM unnest($1::text[]) AS key
         WHERE NOT EXISTS (SELECT FROM assets WHERE sha256 = decode(left(key, 64), 'hex') AND object_key = key)`,
        [ended],
      );
      await assets.remove(loose.map(({ key }) => key));
      await client.query('DELETE FROM loose_objects WHERE object_key = ANY ($1::text[])', [ended]);
      return { last: noted.at(-1)?.key, removed: loose.length };
    });
    removed += turn.removed;
    if (turn.last === undefined) break;
    after = turn.last;
  }
  return removed;
}
