import { createReadQuery, type Pool, type ReadQuery } from '@svc/postgres';
import {
  datasetNotFound,
  type SectionSummary,
  type StoredSection,
  type StoredSectionRow,
  SUMMARY_SECTIONS,
  toStoredSection,
} from '../database/dataset-row.ts';
import { boundedName } from '../database/item-size.ts';
import { decodeCursor, encodeCursor, type Page, type PageRequest } from '../database/page.ts';
import { isUuid } from '../database/values.ts';

/** See `DatasetStore.listSections`. Reads the unique index on `(dataset_id, order_index)`. */
export async function listSections(
  pool: Pool,
  id: string,
  { limit, cursor, signal }: PageRequest,
): Promise<Page<StoredSection>> {
  const after = cursor === undefined ? -1 : decodeCursor('sections', ['index'], cursor)[0];
  const query = createReadQuery(pool, signal);
  const [dataset] = isUuid(id)
    ? await query<{ count: number }>('SELECT section_count AS count FROM datasets WHERE id = $1', [id])
    : [];
  if (dataset === undefined) throw datasetNotFound(id);
  const rows = await query<Omit<StoredSectionRow, 'fileBytes'> & { readonly fileBytes: string | null }>(
    `SELECT id, ${boundedName('name')} AS name, order_index AS "orderIndex", item_count AS "itemCount",
           section_hash AS "sectionHash", file_bytes AS "fileBytes", file_sha256 AS "fileSha256"
         FROM sections WHERE dataset_id = $1 AND order_index > $2 ORDER BY order_index LIMIT $3`,
    [id, after, limit + 1],
  );
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    data: shown.map((row) =>
      toStoredSection({ ...row, fileBytes: row.fileBytes === null ? null : BigInt(row.fileBytes) }),
    ),
    nextCursor:
      rows.length > limit && last !== undefined ? encodeCursor('sections', [last.orderIndex]) : null,
    totalItems: dataset.count,
  };
}

type SectionOfDataset = SectionSummary & { readonly datasetId: string };

/** The sections that summaries list. Order indexes count from 0 without gaps, so the first ones are below a bound. */
export async function firstSections(query: ReadQuery, ids: readonly string[]): Promise<SectionOfDataset[]> {
  return await query<SectionOfDataset>(
    `SELECT id, dataset_id AS "datasetId", ${boundedName('name')} AS name, order_index AS "orderIndex",
       item_count AS "itemCount"
     FROM sections WHERE dataset_id = ANY ($1::uuid[]) AND order_index < ${SUMMARY_SECTIONS}
     ORDER BY dataset_id, order_index`,
    [ids],
  );
}
