import type pg from 'pg';
import { itemsOf, rangesGiven } from '../items/version-sql.ts';
import { type ItemRange, rangeValues } from './ranges.ts';

/** Rows `i` of `items` in ranges, whose values are the first four. */
const ITEMS_IN_RANGES = `${rangesGiven(1)} CROSS JOIN LATERAL ${itemsOf()} i`;

/** Assets that items list, linked ones too. */
export async function countAssets(client: pg.ClientBase, ranges: readonly ItemRange[]): Promise<number> {
  if (ranges.length === 0) return 0;
  const { rows } = await client.query<{ count: string }>(
    `SELECT coalesce(sum(CASE json_typeof(i.assets) WHEN 'array' THEN json_array_length(i.assets)
       WHEN 'object' THEN (SELECT count(*) FROM json_object_keys(i.assets)) ELSE 0 END), 0) AS count
     FROM ${ITEMS_IN_RANGES} WHERE i.assets IS NOT NULL`,
    [...rangeValues(ranges)],
  );
  return Number(rows[0]?.count ?? 0);
}

/** SQL for the files that items `i` embed, each once. */
const filesOf = (from: string): string => `SELECT DISTINCT decode(file ->> 5, 'hex') AS sha256
  FROM ${from} CROSS JOIN LATERAL json_array_elements(i.linked_files) AS file WHERE i.linked_files IS NOT NULL`;

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
  const { rows } = await client.query<{ sha256: Buffer }>(filesOf(ITEMS_IN_RANGES), [
    ...rangeValues(removed),
  ]);
  if (rows.length === 0) return;
  await client.query(
    `UPDATE dataset_assets SET until = $6 WHERE dataset_id = $5 AND until IS NULL AND sha256 = ANY ($7::bytea[])
       AND sha256 NOT IN (${filesOf(ITEMS_IN_RANGES)})`,
    [...rangeValues(kept), datasetId, version, rows.map(({ sha256 }) => sha256)],
  );
}

/** Makes a version refer to the files to which an older one refers, and to no others. */
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
