import type pg from 'pg';
import type { DatasetSource } from '../database/dataset-row.ts';
import type { VersionState } from './read-version.ts';

/** Where the items of a change come from. */
export interface ChangeProvenance {
  readonly source: DatasetSource;
  /** Canonical JSON text, of a dataset that is made of these items alone. */
  readonly schema: string;
  /** The files of items that are added to others: elements of a list in canonical JSON text, without its brackets. */
  readonly files: string;
}

/**
 * Records where the items of a new version come from that it takes from elsewhere.
 *
 * @param isWhole whether all of its items do; else they were added to the items of the version before
 * @returns its `sources`
 */
export async function insertProvenance(
  client: pg.ClientBase,
  { datasetId, version, sources }: Pick<VersionState, 'datasetId' | 'version' | 'sources'>,
  { source, schema, files }: ChangeProvenance,
  isWhole: boolean,
): Promise<string | null> {
  if (!isWhole && files === '') return sources;
  await client.query(
    'INSERT INTO provenance (dataset_id, version, source, schema, files) VALUES ($1, $2, $3, $4, $5)',
    [datasetId, version, ...(isWhole ? [source, schema, ''] : [null, null, files])],
  );
  const { rows } = await client.query<{ sources: string }>(
    'SELECT ($1::int4multirange + int4multirange(int4range($2, $2, $3)))::text AS sources',
    [isWhole ? '{}' : (sources ?? '{[1,2)}'), version, '[]'],
  );
  return rows[0]?.sources ?? null;
}

/** Removes what says where the items of deleted versions come from, and of no other one. */
export async function removeProvenance(client: pg.ClientBase, datasetId: string): Promise<void> {
  const isUsed = (version: string): string =>
    `EXISTS (SELECT FROM versions v WHERE v.dataset_id = $1 AND coalesce(v.sources, '{[1,2)}') @> ${version})`;
  await client.query(
    `UPDATE datasets SET (source, schema) = (
       SELECT p.source, p.schema FROM provenance p JOIN versions v ON v.dataset_id = $1 AND v.version = datasets.version
       WHERE p.dataset_id = $1 AND p.version = lower(v.sources))
     WHERE id = $1 AND NOT ${isUsed('1')}`,
    [datasetId],
  );
  await client.query(`DELETE FROM provenance p WHERE p.dataset_id = $1 AND NOT ${isUsed('p.version')}`, [
    datasetId,
  ]);
}
