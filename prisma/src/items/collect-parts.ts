import type pg from 'pg';
import { collectNotes, type Note, type RemovedRows } from '../database/collect-notes.ts';
import { rangesOf } from './version-sql.ts';

/** Items that one transaction removes. */
const ITEMS_PER_TURN = 10_000;

/** A row of `loose_parts`. A section that lets go of items meanwhile makes another note. */
interface LoosePart extends Note {
  readonly partId: string;
}

/**
 * Removes the items of noted parts to which no section refers, and the hash blocks of those that are gone. See `collectNotes`.
 *
 * @returns how many items it removed
 */
export async function collectParts(pool: pg.Pool, signal?: AbortSignal): Promise<number> {
  const notes = { table: 'loose_parts', columns: 'part_id AS "partId"' } as const;
  return await collectNotes<LoosePart>(pool, notes, removeSome, signal);
}

async function removeSome(client: pg.ClientBase, { partId }: LoosePart, turn: number): Promise<RemovedRows> {
  const first = turn * ITEMS_PER_TURN;
  const end = first + ITEMS_PER_TURN;
  const last = await lastOrdinal(client, partId);
  const removed = await client.query(REMOVE_ITEMS, [partId, first, end]);
  const isLast = last === null || last < end;
  if (isLast) {
    const part = await client.query('SELECT FROM parts WHERE id = $1', [partId]);
    if (part.rowCount === 0) await client.query('DELETE FROM hash_blocks WHERE part_id = $1', [partId]);
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
