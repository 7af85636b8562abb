import type pg from 'pg';
import { writeAudit } from '../audit/actor.ts';
import type { DatasetSummary } from '../database/dataset-row.ts';
import { storableText } from '../database/values.ts';
import { NO_DIFFERENCE } from '../diff/compare-sections.ts';
import { completeFor, type Idempotent } from '../idempotency/idempotency-store.ts';
import { queryOf } from '../postgres/read-query.ts';
import type { ChangedDataset } from './change-dataset.ts';
import { countDifferences, insertVersion } from './insert-version.ts';
import { readSummary } from './list-versions.ts';
import { lockNewest, readVersion } from './read-version.ts';
import { restoreAssets } from './version-sources.ts';

/** What is to be restored. */
export interface Restoration {
  readonly datasetId: string;
  readonly version: number;
  /** Hash of the newest version, 64 hex digits. */
  readonly ifMatch?: string | undefined;
  readonly message?: string | null | undefined;
  readonly author?: string | null | undefined;
}

/** A dataset with its newest version, and what that changed. */
export interface RestoredDataset {
  readonly dataset: DatasetSummary;
  readonly changed: ChangedDataset;
}

/** See `DatasetStore.restore`. */
export async function restoreDataset(
  client: pg.ClientBase,
  restoration: Restoration,
  request: Idempotent<RestoredDataset> | undefined,
): Promise<RestoredDataset> {
  const changed = await restoreVersion(client, restoration);
  const dataset = await readSummary(queryOf(client), changed.datasetId, changed.version);
  const restored = { dataset, changed };
  await completeFor(client, request, restored);
  return restored;
}

/**
 * Makes the content of an older version the newest one, in a transaction.
 *
 * @throws StoreError `dataset_not_found`, `version_not_found`, `version_changed`, `invalid_request`
 */
export async function restoreVersion(
  client: pg.ClientBase,
  { datasetId, version, ifMatch, message = null, author = null }: Restoration,
): Promise<ChangedDataset> {
  if (message !== null) storableText('message', message);
  const newest = await lockNewest(client, datasetId, ifMatch);
  const older = await readVersion(client, datasetId, version);
  if (older.versionHash === newest.versionHash) {
    const { version: number, versionHash } = newest;
    return { datasetId, version: number, versionHash, isNew: false, change: NO_DIFFERENCE };
  }
  const next = newest.version + 1;
  const change = await countDifferences(client, newest, older);
  await restoreAssets(client, { datasetId, version: next }, version);
  await insertVersion(client, { ...older, version: next }, { source: 'restore', message, author, change });
  await writeAudit(
    client,
    'dataset.restore',
    { kind: 'dataset', id: datasetId },
    { restored_version: version, ...change },
  );
  return { datasetId, version: next, versionHash: older.versionHash, isNew: true, change };
}
