import { writeAudit } from '../audit/actor.ts';
import type { StoreContext } from '../context.ts';
import type { DatasetSummary } from '../database/dataset-row.ts';
import { storableText } from '../database/values.ts';
import { NO_DIFFERENCE } from '../diff/compare-sections.ts';
import { completeFor, type Idempotent } from '../idempotency/idempotency-store.ts';
import { inTransaction } from '../postgres/pool.ts';
import { queryOf } from '../postgres/read-query.ts';
import type { ChangedDataset } from './change-dataset.ts';
import { countDifferences, insertVersion } from './insert-version.ts';
import { readSummary } from './list-versions.ts';
import { lockNewest, readVersion } from './read-version.ts';
import { restoreAssets } from './version-sources.ts';

export interface Restoration {
  readonly datasetId: string;
  readonly version: number;
  /** Hash of the newest version, 64 hex digits. */
  readonly ifMatch?: string | undefined;
  readonly message?: string | null | undefined;
  readonly author?: string | null | undefined;
}

export interface RestoredDataset {
  readonly dataset: DatasetSummary;
  readonly changed: ChangedDataset;
}

/**
 * Makes the content of an older version the newest one.
 *
 * @param request that is idempotent, whose answer is stored with it
 * @throws StoreError `dataset_not_found`, `version_not_found`, `version_changed`, `invalid_request`, `superseded`
 */
export async function restoreDataset(
  { pool }: StoreContext,
  { datasetId, version, ifMatch, message = null, author = null }: Restoration,
  request?: Idempotent<RestoredDataset>,
): Promise<RestoredDataset> {
  if (message !== null) storableText('message', message);
  return await inTransaction(pool, async (client) => {
    const newest = await lockNewest(client, datasetId, ifMatch);
    const older = await readVersion(client, datasetId, version);
    const isNew = older.versionHash !== newest.versionHash;
    const restored = newest.version + (isNew ? 1 : 0);
    const change = isNew ? await countDifferences(client, newest, older) : NO_DIFFERENCE;
    if (isNew) {
      await restoreAssets(client, { datasetId, version: restored }, version);
      await insertVersion(
        client,
        { ...older, version: restored },
        { source: 'restore', message, author, change },
      );
      const facts = { restored_version: version, ...change };
      await writeAudit(client, 'dataset.restore', { kind: 'dataset', id: datasetId }, facts);
    }
    const dataset = await readSummary(queryOf(client), datasetId, restored);
    const { versionHash } = older;
    const stored = { dataset, changed: { datasetId, version: restored, versionHash, isNew, change } };
    await completeFor(client, request, stored);
    return stored;
  });
}
