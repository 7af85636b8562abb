import type { ReadQuery } from '../postgres/read-query.ts';
import { datasetNotFound } from './dataset-row.ts';
import { StoreError } from './errors.ts';
import { isUuid, shortened } from './values.ts';

export function versionNotFound(version: string): StoreError {
  return new StoreError('version_not_found', `The dataset has no version "${shortened(version)}".`);
}

/** The error for a version that cannot be read: it is gone, perhaps with its dataset. @param version null for the newest */
export async function nothingToRead(
  query: ReadQuery,
  id: string,
  version: number | null,
): Promise<StoreError> {
  const [dataset] =
    version !== null && isUuid(id) ? await query('SELECT FROM datasets WHERE id = $1', [id]) : [];
  return dataset === undefined ? datasetNotFound(id) : versionNotFound(String(version));
}
