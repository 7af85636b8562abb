import type pg from 'pg';
import type { DatasetSource } from '../database/dataset-row.ts';
import { Parameters } from '../database/page.ts';
import { itemsInRanges } from '../items/item-ranges.ts';
import { type ItemRange, toSectionRanges } from './ranges.ts';
import type { VersionState } from './read-version.ts';

export async function countAssets(client: pg.ClientBase, ranges: readonly ItemRange[]): Promise<number> {
  if (ranges.length === 0) return 0;
  const parameters = new Parameters();
  const items = itemsInRanges(toSectionRanges([ranges]), parameters, 'AND i.assets IS NOT NULL');
  const { rows } = await client.query<{ count: string }>(
    `SELECT coalesce(sum(CASE json_typeof(i.assets) WHEN 'array' THEN json_array_length(i.assets)
       WHEN 'object' THEN (SELECT count(*) FROM json_object_keys(i.assets)) ELSE 0 END), 0) AS count
     FROM ${items} i`,
    parameters.values,
  );
  return Number(rows[0]?.count ?? 0);
}

/** The SHA-256 of the files that items embed, each once, 64 hex digits. @param among these; by default all */
async function readFiles(client: pg.ClientBase, ranges: readonly ItemRange[], among?: readonly string[]) {
  const parameters = new Parameters();
  const items = itemsInRanges(toSectionRanges([ranges]), parameters, 'AND i.linked_files IS NOT NULL');
  const condition = among === undefined ? '' : `WHERE file ->> 5 = ANY (${parameters.add(among)}::text[])`;
  const { rows } = await client.query<{ sha256: string }>(
    `SELECT DISTINCT file ->> 5 AS sha256 FROM ${items} i CROSS JOIN LATERAL json_array_elements(i.linked_files) AS file ${condition}`,
    parameters.values,
  );
  return rows.map(({ sha256 }) => sha256);
}

/**
 * Ends the references of a dataset to the files that only removed items embed, with a version.
 *
 * @param removed items of the version before that are not in this one
 * @param kept all items of this version
 */
export async function endAssets(
  client: pg.ClientBase,
  { datasetId, version }: { readonly datasetId: string; readonly version: number },
  removed: readonly ItemRange[],
  kept: readonly ItemRange[],
): Promise<void> {
  if (removed.length === 0) return;
  const files = new Set(await readFiles(client, removed));
  if (files.size === 0) return;
  for (const file of await readFiles(client, kept, [...files])) files.delete(file);
  await client.query(
    `UPDATE dataset_assets SET until = $2 WHERE dataset_id = $1 AND until IS NULL
       AND sha256 IN (SELECT decode(file, 'hex') FROM unnest($3::text[]) AS file)`,
    [datasetId, version, [...files]],
  );
}

export async function restoreAssets(
  client: pg.ClientBase,
  { datasetId, version }: { readonly datasetId: string; readonly version: number },
  older: number,
): Promise<void> {
  const isOfOlder = (row: string): string =>
    `${row}.since <= $3 AND (${row}.until IS NULL OR ${row}.until > $3)`;
  await client.query(
    `UPDATE dataset_assets d SET until = $2 WHERE d.dataset_id = $1 AND d.until IS NULL AND d.since <= $2
       AND NOT EXISTS (SELECT FROM dataset_assets o WHERE o.dataset_id = $1 AND o.sha256 = d.sha256 AND ${isOfOlder('o')})`,
    [datasetId, version, older],
  );
  await client.query(
    `INSERT INTO dataset_assets (dataset_id, sha256, mime_type, since)
     SELECT $1, o.sha256, o.mime_type, $2 FROM dataset_assets o
     WHERE o.dataset_id = $1 AND ${isOfOlder('o')} AND NOT EXISTS (
       SELECT FROM dataset_assets d WHERE d.dataset_id = $1 AND d.sha256 = o.sha256 AND d.until IS NULL)`,
    [datasetId, version, older],
  );
}

export interface ChangeProvenance {
  readonly source: DatasetSource;
  /** Canonical JSON text, of a dataset that is made of these items alone. */
  readonly schema: string;
  /** The files of items that are added to others: elements of a list in canonical JSON text, without its brackets. */
  readonly files: string;
}

/** Records where the items of a new version come from that it takes from elsewhere. */
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
