import {
  type DatasetRow,
  type DatasetSummary,
  datasetNotFound,
  datasetsWith,
  shownDataset,
} from '../database/dataset-row.ts';
import { isUuid } from '../database/values.ts';
import type { ReadQuery } from '../postgres/read-query.ts';
import { withSections } from './list-sections.ts';

/** A dataset as one of its versions. @param version null for the newest @throws StoreError `dataset_not_found` */
export async function readSummary(
  query: ReadQuery,
  id: string,
  version: number | null,
): Promise<DatasetSummary> {
  const [found] = isUuid(id)
    ? await query<DatasetRow>(
        `SELECT ${shownDataset()} FROM ${datasetsWith('coalesce($2, d.version)')} WHERE id = $1`,
        [id, version],
      )
    : [];
  if (found === undefined) throw datasetNotFound(id);
  const [summary] = await withSections(query, [found]);
  return summary as DatasetSummary;
}
