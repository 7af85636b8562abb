import { cursorAfter, olderThan, type Page, type PageRequest, Parameters } from '../database/page.ts';
import { MAX_PAGE_BYTES } from '../database/read-item-texts.ts';
import type { ReadQuery } from '../database/read-query.ts';
import { containsPattern, searchableText } from '../database/values.ts';
import {
  type DatasetRow,
  type DatasetSource,
  type DatasetSummary,
  SUMMARY_SECTIONS,
  shownDataset,
  toSummary,
} from './dataset-row.ts';
import { firstSections } from './list-sections.ts';

export interface DatasetsRequest extends PageRequest {
  /** Exactly this name. */
  readonly name?: string | undefined;
  /** Part of the name or description, case-insensitive. */
  readonly q?: string | undefined;
  readonly source?: DatasetSource | undefined;
  readonly versionHash?: string | undefined;
}

/** A list omits the schema of an uploaded package beyond this size. */
const MAX_LISTED_SCHEMA_BYTES = 64 * 1024;

/** What a section has besides its name, in JSON. */
const SECTION_BYTES = 150;

/** See `DatasetStore.list`. Reads the index on `(created_at, id)`; a search (`q`) reads all names and descriptions. */
export async function listDatasets(
  query: ReadQuery,
  request: DatasetsRequest,
): Promise<Page<DatasetSummary>> {
  const { limit, cursor, name, q, source, versionHash } = request;
  const parameters = new Parameters();
  const filters = ['true'];
  if (name !== undefined) filters.push(`name = ${parameters.add(searchableText(name))}`);
  if (q !== undefined) {
    const pattern = parameters.add(containsPattern(searchableText(q)));
    filters.push(`(name ILIKE ${pattern} OR description ILIKE ${pattern})`);
  }
  if (source !== undefined) filters.push(`source = ${parameters.add(source)}`);
  if (versionHash !== undefined)
    filters.push(`version_hash = ${parameters.add(searchableText(versionHash))}`);
  const [total] = await query<{ count: string }>(
    `SELECT count(*) FROM datasets WHERE ${filters.join(' AND ')}`,
    parameters.values,
  );
  if (cursor !== undefined) filters.push(olderThan('datasets', cursor, parameters));
  const rows = await query<DatasetRow & { readonly found: string }>(
    `SELECT ${shownDataset(MAX_LISTED_SCHEMA_BYTES)}, found FROM (
       SELECT *, count(*) OVER () AS found, row_number() OVER newest AS position,
         sum(least(octet_length(name), 65536) + coalesce(least(octet_length(description), 1048576), 0)
           + coalesce(least(octet_length(notes), 1048576), 0) + least(octet_length(schema), 16777216)
           + names) OVER newest AS bytes
       FROM (
         SELECT datasets.*, coalesce((
           SELECT sum(least(octet_length(sections.name), 65536) + ${SECTION_BYTES}) FROM sections
           WHERE dataset_id = datasets.id AND order_index < ${SUMMARY_SECTIONS}
         ), 0) AS names
         FROM datasets WHERE ${filters.join(' AND ')}
         ORDER BY created_at DESC, id DESC LIMIT ${parameters.add(limit + 1)}
       ) candidate WINDOW newest AS (ORDER BY created_at DESC, id DESC)
     ) datasets WHERE bytes <= ${MAX_PAGE_BYTES} OR position = 1
     ORDER BY created_at DESC, id DESC`,
    parameters.values,
  );
  const shown = rows.slice(0, limit);
  const sections = await firstSections(
    query,
    shown.map(({ id }) => id),
  );
  const byDataset = Map.groupBy(sections, ({ datasetId }) => datasetId);
  return {
    data: shown.map((row) => toSummary({ ...row, sections: byDataset.get(row.id) ?? [] })),
    nextCursor: cursorAfter('datasets', shown),
    totalItems: Number(total?.count ?? 0),
  };
}
