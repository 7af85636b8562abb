import { inTransaction } from '@svc/postgres';
import type pg from 'pg';
import { rangesOf } from './version-sql.ts';

/** Items that one transaction removes. */
const ITEMS_PER_TURN = 10_000;
/** Notes that one query reads. */
const NOTES_PER_PAGE = 1_000;

/**
 * Removes the items of noted parts to which no section refers, and the hash blocks of those that are gone. Any number of processes may do so concurrently.
 *
 * @param signal ends it early, between two transactions; what is left is removed the next time
 * @returns how many items it removed
 */
export async function collectParts(pool: pg.Pool, signal?: AbortSignal): Promise<number> {
  let removed = 0;
  for (let after = '0'; ; ) {
    const { rows } = await pool.query<Note>(
      `SELECT id, part_id AS "partId" FROM loose_parts WHERE id > $1 ORDER BY id LIMIT ${NOTES_PER_PAGE}`,
      [after],
    );
    for (const note of rows) removed += await removeLooseItems(pool, note, signal);
    const last = rows.at(-1);
    if (last === undefined || signal?.aborted === true) return removed;
    after = last.id;
  }
}

/** A row of `loose_parts`. A section that lets go of items meanwhile makes another note, which is read after this one. */
interface Note {
  readonly id: string;
  readonly partId: string;
}

/** Removes the items of one part, in several transactions when they are many. @returns how many */
async function removeLooseItems(pool: pg.Pool, note: Note, signal?: AbortSignal): Promise<number> {
  let removed = 0;
  for (let first = 0; signal?.aborted !== true; first += ITEMS_PER_TURN) {
    const turn = await inTransaction(pool, (client) => removeSome(client, note, first));
    removed += turn.removed;
    if (turn.isLast) break;
  }
  return removed;
}

interface Turn {
  readonly removed: number;
  readonly isLast: boolean;
}

/** Removes the items from an ordinal on. */
async function removeSome(client: pg.ClientBase, { id, partId }: Note, first: number): Promise<Turn> {
  // Another process that removes them holds the row.
  const { rowCount } = await client.query('SELECT FROM loose_parts WHERE id = $1 FOR UPDATE SKIP LOCKED', [
    id,
  ]);
  if (rowCount === 0) return { removed: 0, isLast: true };
  const last = await lastOrdinal(client, partId);
  const end = first + ITEMS_PER_TURN;
  const removed = await client.query(REMOVE_ITEMS, [partId, first, end]);
  const isLast = last === null || last < end;
  if (isLast) {
    const part = await client.query('SELECT FROM parts WHERE id = $1', [partId]);
    if (part.rowCount === 0) await client.query('DELETE FROM hash_blocks WHERE part_id = $1', [partId]);
    await client.query('DELETE FROM loose_parts WHERE id = $1', [id]);
  }
  return { removed: removed.rowCount ?? 0, isLast };
}

/**
 * Removes the items of part $1 from ordinal $2 up to, not including, $3, except those to which a section refers. One statement,
 * so that a version that is stored meanwhile has both its section and its items, or neither.
 */
const REMOVE_ITEMS = `WITH used AS MATERIALIZED (
    SELECT range_agg(int4range(span.first, span.first + span.stop - span.start)) AS ordinals
    FROM parts part JOIN sections s ON s.dataset_id = part.dataset_id
      CROSS JOIN LATERAL ${rangesOf()} AS span
    WHERE part.id = $1 AND span.part_id = $1
  )
  DELETE FROM items WHERE part_id = $1 AND ordinal >= $2 AND ordinal < $3
    AND NOT coalesce(ordinal <@ (SELECT ordinals FROM used), false)`;

async function lastOrdinal(client: pg.ClientBase, partId: string): Promise<number | null> {
  const { rows } = await client.query<{ readonly last: number }>(
    'SELECT ordinal AS last FROM items WHERE part_id = $1 ORDER BY ordinal DESC LIMIT 1',
    [partId],
  );
  return rows[0]?.last ?? null;
}
