import type pg from 'pg';
import { inTransaction } from '../postgres/pool.ts';
import type { AssetStore } from './asset-store.ts';

const ASSETS_PER_TURN = 500;

/**
 * Removes the assets that deleted datasets or files for clients of the hub referred to, and nothing refers to. Any number of processes may do so concurrently,
 * while imports refer to the same assets: an asset is removed only under a lock that waits for no import, and after a look
 * at the references that were committed before it. One that an import has locked stays noted for the next time.
 */
export async function collectAssets(pool: pg.Pool, signal?: AbortSignal): Promise<number> {
  const { rows } = await pool.query<{ last: string | null }>('SELECT max(id) AS last FROM released_assets');
  const last = rows[0]?.last ?? null;
  let removed = 0;
  for (let after: string | null = '0'; last !== null && after !== null && signal?.aborted !== true; ) {
    const turn: Turn = await inTransaction(pool, (client) => collectSome(client, after as string, last));
    removed += turn.removed;
    after = turn.last;
  }
  return removed;
}

interface Turn {
  readonly removed: number;
  /** Last of the released assets that it examined; null if there were none. */
  readonly last: string | null;
}

async function collectSome(client: pg.ClientBase, after: string, last: string): Promise<Turn> {
  const released = await client.query<{ id: string; sha256: Buffer }>(
    `DELETE FROM released_assets WHERE id IN (
       SELECT id FROM released_assets WHERE id > $1 AND id <= $2 ORDER BY id LIMIT $3 FOR UPDATE SKIP LOCKED
     ) RETURNING id, sha256`,
    [after, last, ASSETS_PER_TURN],
  );
  const ids = released.rows.map(({ id }) => BigInt(id)).sort((a, b) => (a < b ? -1 : 1));
  const hashes = released.rows.map(({ sha256 }) => sha256);
  const locked = await client.query<{ sha256: Buffer }>(
    'SELECT sha256 FROM assets WHERE sha256 = ANY ($1::bytea[]) FOR UPDATE SKIP LOCKED',
    [hashes],
  );
  const lockedHashes = locked.rows.map(({ sha256 }) => sha256);
  // A separate statement: it sees the references that were committed before the lock, and none can be added after it.
  const gone = await client.query<{ objectKey: string | null }>(
    `DELETE FROM assets WHERE sha256 = ANY ($1::bytea[])
       AND NOT EXISTS (SELECT FROM dataset_assets d WHERE d.sha256 = assets.sha256)
       AND NOT EXISTS (SELECT FROM hub_contents h WHERE h.sha256 = assets.sha256)
     RETURNING object_key AS "objectKey"`,
    [lockedHashes],
  );
  await client.query(
    `INSERT INTO released_assets (sha256)
     SELECT DISTINCT sha256 FROM unnest($1::bytea[]) AS released (sha256)
     WHERE sha256 <> ALL ($2::bytea[]) AND EXISTS (SELECT FROM assets a WHERE a.sha256 = released.sha256)`,
    [hashes, lockedHashes],
  );
  const objectKeys = gone.rows.map(({ objectKey }) => objectKey).filter((key) => key !== null);
  if (objectKeys.length > 0) await releaseObjects(client, objectKeys);
  return { removed: gone.rows.length, last: ids.at(-1)?.toString() ?? null };
}

/*
 * An object is written before the transaction that refers to it commits, and removed after the one that deletes its row.
 * A row of `loose_objects` names it until that transaction has ended, so that neither a crash nor an outage leaves an
 * object behind.
 */

const OBJECTS_PER_TURN = 500;

/** Notes an object that is about to be written for a transaction, before and apart from that. */
export async function addLooseObject(pool: pg.Pool, objectKey: string, transactionId: string): Promise<void> {
  await pool.query('INSERT INTO loose_objects (object_key, transaction_id) VALUES ($1, $2)', [
    objectKey,
    transactionId,
  ]);
}

export async function releaseObjects(client: pg.ClientBase, objectKeys: readonly string[]): Promise<void> {
  await client.query(
    `INSERT INTO loose_objects (object_key, transaction_id)
     SELECT key, pg_current_xact_id()::text::bigint FROM unnest($1::text[]) AS key
     ON CONFLICT (object_key) DO UPDATE SET transaction_id = excluded.transaction_id`,
    [objectKeys],
  );
}

/** Removes the objects of ended transactions that no asset refers to, and forgets the others. May run concurrently. */
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

/** SQL: whether the transaction whose number is in the column `transaction_id` has ended. */
const HAS_ENDED = `CASE WHEN transaction_id < pg_snapshot_xmax(pg_current_snapshot())::text::bigint
    THEN coalesce(pg_xact_status(transaction_id::text::xid8), 'forgotten') <> 'in progress'
    -- a number of the server from which this database was restored
    ELSE true END`;
