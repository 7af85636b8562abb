import type pg from 'pg';
import { writeAudit } from '../audit/write-audit.ts';
import { areOutputsTaken } from '../database/are-outputs-taken.ts';
import { StoreError } from '../database/errors.ts';
import { removeProvenance } from './insert-provenance.ts';
import { lockNewest, readVersion } from './read-version.ts';

export interface VersionDeletion {
  readonly withRuns: boolean;
  readonly ifMatch?: string | undefined;
}

/**
 * Deletes an old version with its runs, in a transaction. What only it had is removed by `collectParts` and the collector of
 * assets.
 *
 * @param options.withRuns whether its runs are deleted; else it must have none
 * @param options.ifMatch hash that the newest version must have, 64 hex digits
 * @throws StoreError `dataset_not_found`, `version_changed`, `version_not_found`, `newest_version`, `version_has_runs`;
 *   `run_active` while a run of another version takes outputs of its runs
 */
export async function deleteVersion(
  client: pg.ClientBase,
  datasetId: string,
  version: number,
  { withRuns, ifMatch }: VersionDeletion,
): Promise<void> {
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
}
