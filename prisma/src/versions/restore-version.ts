import type pg from 'pg';
import { storableText } from '../database/values.ts';
import { NO_DIFFERENCE } from '../diff/diff-counts.ts';
import { restoreAssets } from './asset-ranges.ts';
import type { ChangedDataset } from './change-dataset.ts';
import { countDifferences } from './count-differences.ts';
import { insertVersion } from './insert-version.ts';
import { lockNewest, readVersion } from './read-version.ts';

/** What is to be restored. */
export interface Restoration {
  readonly datasetId: string;
  readonly version: number;
  /** Hash of the newest version, 64 hex digits. */
  readonly ifMatch?: string | undefined;
  readonly message?: string | null | undefined;
  readonly author?: string | null | undefined;
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
  return { datasetId, version: next, versionHash: older.versionHash, isNew: true, change };
}
