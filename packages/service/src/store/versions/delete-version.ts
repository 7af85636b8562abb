import type pg from 'pg';
import { writeAudit } from '../audit/actor.ts';
import type { StoreContext } from '../context.ts';
import { collectNotes, type Note, type RemovedRows } from '../database/collect-notes.ts';
import { StoreError } from '../database/errors.ts';
import { rangesOf } from '../items/item-ranges.ts';
import { inTransaction } from '../postgres/pool.ts';
import { lockNewest, readVersion } from './read-version.ts';
import { removeProvenance } from './version-sources.ts';

export interface VersionDeletion {
  readonly withRuns: boolean;
  readonly ifMatch?: string | undefined;
}

/**
 * Deletes an old version with its runs. What only it had is removed by `collectParts` and the collector of assets.
 *
 * @throws StoreError `dataset_not_found`, `version_changed`, `version_not_found`, `newest_version`, `version_has_runs`;
 *   `run_active` while a run of another version takes outputs of its runs
 */
export async function deleteVersion(
  { pool }: StoreContext,
  datasetId: string,
  version: number,
  { withRuns, ifMatch }: VersionDeletion,
): Promise<void> {
  await inTransaction(pool, async (client) => {
    // Stronger than the lock of other changes: no run of the version begins in the meantime.
    await client.query('SELECT FROM datasets WHERE id = $1 FOR UPDATE', [datasetId]);
    const newest = await lockNewest(client, datasetId, ifMatch);
    const { sections } = await readVersion(client, datasetId, version);
    if (newest.version === version) {
      throw new StoreError('newest_version', `Cannot delete version ${version}: it is the newest.`);
    }
    const runs = await client.query<{ id: string; isActive: boolean; isTrial: boolean }>(
      `SELECT id, finished_at IS NULL AS "isActive", is_trial AS "isTrial" FROM runs
       WHERE dataset_id = $1 AND dataset_version = $2 FOR UPDATE`,
      [datasetId, version],
    );
    const shown = runs.rows.filter(({ isTrial }) => !isTrial).length;
    if (shown > 0 && !withRuns) {
      throw new StoreError(
        'version_has_runs',
        `Cannot delete version ${version}: it has ${shown} ${shown === 1 ? 'run' : 'runs'}.`,
      );
    }
    const runIds = runs.rows.map(({ id }) => id);
    if (await areOutputsTaken(client, runIds)) {
      throw new StoreError(
        'run_active',
        `Cannot delete version ${version}: a run of another version takes the outputs of its runs.`,
      );
    }
    await writeAudit(client, 'version.delete', { kind: 'dataset', id: datasetId, version }, { runs: shown });
    for (const { id, isActive } of runs.rows) {
      if (isActive) await client.query(`SELECT pg_notify('svc_cancel', $1)`, [id]);
    }
    await client.query('DELETE FROM versions WHERE dataset_id = $1 AND version = $2', [datasetId, version]);
    await client.query(
      'UPDATE datasets SET version_count = version_count - 1, updated_at = clock_timestamp() WHERE id = $1',
      [datasetId],
    );
    await removeProvenance(client, datasetId);
    const gone = await client.query<{ id: string }>(
      `DELETE FROM sections WHERE id = ANY ($2::uuid[])
         AND id NOT IN (SELECT unnest(section_ids) FROM versions WHERE dataset_id = $1) RETURNING id`,
      [datasetId, sections.map(({ id }) => id)],
    );
    const goneIds = new Set(gone.rows.map(({ id }) => id));
    const partIds = sections
      .filter(({ id }) => goneIds.has(id))
      .flatMap(({ ranges }) => ranges.map(({ partId }) => partId));
    await client.query('INSERT INTO loose_parts (part_id) SELECT DISTINCT unnest($1::uuid[])', [partIds]);
    await client.query(
      `DELETE FROM parts WHERE id = ANY ($2::uuid[])
         AND id NOT IN (SELECT unnest(part_ids) FROM sections WHERE dataset_id = $1)`,
      [datasetId, partIds],
    );
    await client.query(
      `DELETE FROM dataset_assets d WHERE dataset_id = $1 AND NOT EXISTS (
         SELECT FROM versions v WHERE v.dataset_id = $1 AND v.version >= d.since AND (d.until IS NULL OR v.version < d.until))`,
      [datasetId],
    );
  });
}

/** Items that one transaction removes. */
const ITEMS_PER_TURN = 10_000;

/** A row of `loose_parts`. A section that lets go of items meanwhile makes another note. */
interface LoosePart extends Note {
  readonly partId: string;
}

/**
 * Removes the items of noted parts to which no section refers, and the hash blocks of those that are gone. See `collectNotes`.
 */
export async function collectParts({ pool }: StoreContext, signal?: AbortSignal): Promise<number> {
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

/** Whether another run that works takes outputs of these runs. What is deleted meanwhile would be paid for again. */
export async function areOutputsTaken(client: pg.ClientBase, runIds: readonly string[]): Promise<boolean> {
  const { rowCount } = await client.query(
    `SELECT FROM runs WHERE finished_at IS NULL AND reused_run_id = ANY ($1::uuid[]) AND NOT id = ANY ($1::uuid[])
     LIMIT 1`,
    [runIds],
  );
  return rowCount !== 0;
}
