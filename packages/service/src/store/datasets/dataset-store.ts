import { changeTexts, checked, checkOwnHandle, unchecked, writeAudit } from '../audit/actor.ts';
import type { StoreContext } from '../context.ts';
import { datasetNotFound } from '../database/dataset-row.ts';
import { DatasetDraft, type DraftOptions, type ImportContext } from '../import/draft.ts';
import { indexHashes } from '../items/hash-blocks.ts';
import { listItems } from '../items/list-items.ts';
import { inTransaction } from '../postgres/pool.ts';
import { collectParts, deleteVersion } from '../versions/delete-version.ts';
import { checkHandle, resolveVersion, toHandleTaken } from '../versions/handle.ts';
import { getDataset, listSections, listVersions } from '../versions/list-versions.ts';
import { restoreDataset } from '../versions/restore-version.ts';
import { diffDatasets } from './diff-datasets.ts';
import { listDatasets } from './list-datasets.ts';
import { openDataset } from './open-dataset.ts';

/** Datasets, their sections and items. Every method throws StoreError `unavailable` when the database cannot be reached. */
export type DatasetStore = ReturnType<typeof createDatasetStore>;

export function createDatasetStore(context: StoreContext & ImportContext) {
  return {
    ...checked(context, ([id]) => ({ datasets: [id] }), {
      get: getDataset,
      update: updateDataset,
      delete: deleteDataset,
      listVersions,
      deleteVersion,
      listSections,
      listItems,
      open: openDataset,
    }),
    ...checked(context, ([{ datasetId }]) => ({ datasets: [datasetId] }), { restore: restoreDataset }),
    ...checked(context, ([from, to]) => ({ datasets: [from.id, to.id] }), { diff: diffDatasets }),
    ...checked(
      context,
      ([{ target } = {}]) => ({ datasets: target?.kind === 'version' ? [target.change.datasetId] : [] }),
      { begin: (_: StoreContext, options?: DraftOptions) => DatasetDraft.begin(context, options) },
    ),
    // They restrict what they read.
    ...unchecked(context, { list: listDatasets, resolve: resolveVersion }),
    // For the service itself.
    ...unchecked(context, { collect: collectParts, indexHashes }),
  };
}

/** Members to change; absent ones stay, null removes the text. */
export interface DatasetChanges {
  readonly name?: string | undefined;
  readonly handle?: string | null | undefined;
  readonly description?: string | null | undefined;
  readonly notes?: string | null | undefined;
}

/** @throws StoreError `dataset_not_found`; `invalid_request` for a text that PostgreSQL cannot hold */
async function updateDataset(context: StoreContext, id: string, changes: DatasetChanges) {
  const { handle } = changes;
  if (handle === null) checkOwnHandle(null);
  else if (handle !== undefined) checkHandle(handle);
  const actions = { 'dataset.rename': ['name', 'handle'], 'dataset.update': ['description', 'notes'] };
  // The database's clock, as for `created_at`.
  const touched = 'updated_at = clock_timestamp()';
  const isThere = await inTransaction(context.pool, (client) =>
    changeTexts(client, { kind: 'dataset', id }, { ...changes }, actions, touched),
  ).catch((error: unknown) => {
    throw toHandleTaken(error, handle);
  });
  if (!isThere) throw datasetNotFound(id);
  return await getDataset(context, id);
}

/**
 * Deletes a dataset with its sections, runs and their results, in one transaction. Its items are gone for every reader
 * with them; `collectParts` removes their rows.
 *
 * @throws StoreError `dataset_not_found`
 */
async function deleteDataset({ pool }: StoreContext, id: string): Promise<void> {
  await inTransaction(pool, async (client) => {
    // Lock the row first: a request that adds a run to the dataset waits, and then does not find it.
    const { rowCount } = await client.query('SELECT FROM datasets WHERE id = $1 FOR UPDATE', [id]);
    if (rowCount === 0) throw datasetNotFound(id);
    const { rows } = await client.query<{ versions: number; runs: number }>(
      `SELECT version_count AS versions, (SELECT count(*)::int FROM runs WHERE dataset_id = $1 AND NOT is_trial) AS runs
       FROM datasets WHERE id = $1`,
      [id],
    );
    await writeAudit(client, 'dataset.delete', { kind: 'dataset', id }, { ...rows[0] });
    // Nothing shows its items without its versions. They are removed later: however many they are, it takes as long.
    await client.query('INSERT INTO loose_parts (part_id) SELECT id FROM parts WHERE dataset_id = $1', [id]);
    // Workers of its runs stop immediately instead of at their next check.
    await client.query(
      `SELECT pg_notify('svc_cancel', id::text) FROM runs WHERE dataset_id = $1 AND finished_at IS NULL`,
      [id],
    );
    await client.query('DELETE FROM datasets WHERE id = $1', [id]);
  });
}
