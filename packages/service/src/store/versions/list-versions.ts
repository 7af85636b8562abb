import type { StoreContext } from '../context.ts';
import {
  type DatasetRow,
  type DatasetSummary,
  datasetNotFound,
  datasetsWith,
  nothingToRead,
  PROVENANCE,
  SECTION_COLUMNS,
  type SectionSummary,
  type StoredSection,
  type StoredSectionRow,
  SUMMARY_SECTIONS,
  shownDataset,
  shownSchema,
  toSectionSummary,
  toStoredSection,
  withAddedFiles,
} from '../database/dataset-row.ts';
import { cursorAfter, decodeCursor, type Page, type PageRequest, versionOfCursor } from '../database/page.ts';
import { boundedName } from '../database/values.ts';
import type { DiffCounts } from '../diff/compare-sections.ts';
import { ofVersion, versionNumber } from '../items/item-ranges.ts';
import { createReadQuery, type ReadQuery } from '../postgres/read-query.ts';

export interface ListedVersion {
  readonly version: number;
  /** 64 hex digits. */
  readonly versionHash: string;
  readonly itemCount: number;
  readonly createdAt: Date;
  readonly message: string | null;
  /** Name of the API key; null without one. */
  readonly author: string | null;
  readonly change: DiffCounts;
  readonly source: 'upload' | 'hub' | 'append' | 'upsert' | 'edit' | 'restore' | 'replace';
  /** Where its items come from: canonical JSON text, as of a dataset. */
  readonly schema: string;
  readonly runCount: number;
}

type VersionRow = Omit<ListedVersion, 'change'> & DiffCounts & { readonly addedFiles: string | null };

/** A list omits the schema of an upload beyond this size. */
const MAX_LISTED_SCHEMA_BYTES = 16 * 1024;

export interface VersionsRequest extends PageRequest {
  /** Number of the newest version to list; by default the newest of the dataset. */
  readonly upTo?: number | undefined;
}

/** The history of a dataset, newest first. @throws StoreError `dataset_not_found`, `invalid_cursor` */
export async function listVersions(
  { pool }: StoreContext,
  id: string,
  { limit, cursor, upTo, signal }: VersionsRequest,
): Promise<Page<ListedVersion>> {
  const query = createReadQuery(pool, signal);
  const starts = [
    ...(cursor === undefined ? [] : [Number(decodeCursor(`versions ${id}`, ['index'], cursor)[0])]),
    ...(upTo === undefined ? [] : [upTo + 1]),
  ];
  const before = starts.length === 0 ? null : Math.min(...starts);
  const [dataset] = await query<{ count: number }>(
    'SELECT version_count AS count FROM datasets WHERE id = $1',
    [id],
  );
  if (dataset === undefined) throw datasetNotFound(id);
  const rows = await query<VersionRow>(
    `SELECT version, version_hash AS "versionHash", item_count AS "itemCount", created_at AS "createdAt", message, author,
       added, changed, removed, made AS source, "runCount", ${shownSchema(MAX_LISTED_SCHEMA_BYTES)}
     FROM (
       SELECT v.version, v.version_hash, v.item_count, v.created_at, v.message, v.author, v.added, v.changed, v.removed,
         v.source AS made, ${PROVENANCE},
         (SELECT count(*)::float8 FROM runs r WHERE r.dataset_id = v.dataset_id AND r.dataset_version = v.version AND NOT r.is_trial) AS "runCount"
       FROM versions v JOIN datasets d ON d.id = v.dataset_id
       WHERE v.dataset_id = $1 AND ($2::int IS NULL OR v.version < $2) ORDER BY v.version DESC LIMIT $3
     ) AS listed ORDER BY version DESC`,
    [id, before, limit + 1],
  );
  const shown = rows.slice(0, limit);
  return {
    data: shown.map(withAddedFiles).map(({ added, changed, removed, ...version }) => ({
      ...version,
      change: { added, changed, removed },
    })),
    nextCursor: cursorAfter(`versions ${id}`, shown, rows.length > limit, ({ version }) => [version]),
    totalItems: dataset.count,
  };
}

/** @throws StoreError `dataset_not_found`, `invalid_cursor` */
export async function listSections(
  { pool }: StoreContext,
  id: string,
  { limit, cursor, version: wanted, signal }: PageRequest & { readonly version?: number | null | undefined },
): Promise<Page<StoredSection>> {
  const [ofCursor, after] =
    cursor === undefined ? [null, -1] : decodeCursor(`sections ${id}`, ['index', 'index'], cursor);
  const version = versionOfCursor(cursor, ofCursor, wanted);
  const query = createReadQuery(pool, signal);
  const [dataset] = await query<{ count: number; version: number }>(
    `SELECT cardinality(section_ids) AS count, version FROM versions WHERE dataset_id = $1 AND version = ${versionNumber('$1', '$2')}`,
    [id, version],
  );
  if (dataset === undefined) throw await nothingToRead(query, id, version);
  const rows = await query<StoredSectionRow>(
    `SELECT ${SECTION_COLUMNS} FROM version_sections s
     WHERE ${ofVersion('$1', '$2')} AND order_index > $3 ORDER BY order_index LIMIT $4`,
    [id, dataset.version, after, limit + 1],
  );
  const shown = rows.slice(0, limit);
  return {
    data: shown.map(toStoredSection),
    nextCursor: cursorAfter(`sections ${id}`, shown, rows.length > limit, ({ orderIndex }) => [
      dataset.version,
      orderIndex,
    ]),
    totalItems: dataset.count,
  };
}

/** Datasets, each of one version, with the sections that their summaries list. */
export async function withSections<T extends DatasetRow>(
  query: ReadQuery,
  datasets: readonly T[],
): Promise<(Omit<T, 'addedFiles'> & Pick<DatasetSummary, 'sections'>)[]> {
  const rows = await query<SectionSummary & { readonly datasetId: string }>(
    `SELECT s.id, v.dataset_id AS "datasetId", ${boundedName('s.name')} AS name, place.n::int - 1 AS "orderIndex",
       s.item_count AS "itemCount"
     FROM unnest($1::uuid[], $2::int[]) AS wanted (dataset_id, version)
       JOIN versions v ON v.dataset_id = wanted.dataset_id AND v.version = wanted.version
       CROSS JOIN LATERAL unnest(v.section_ids[:${SUMMARY_SECTIONS}]) WITH ORDINALITY AS place (id, n)
       JOIN sections s ON s.id = place.id
     ORDER BY v.dataset_id, place.n`,
    [datasets.map(({ id }) => id), datasets.map(({ version }) => version)],
  );
  const byDataset = Map.groupBy(rows, ({ datasetId }) => datasetId);
  return datasets.map((dataset) => ({
    ...withAddedFiles(dataset),
    sections: (byDataset.get(dataset.id) ?? []).map(toSectionSummary),
  }));
}

/** One dataset with its schema, unless that has more than 16 MiB; by default as its newest version. @throws as {@link readSummary} */
export async function getDataset(
  { pool }: StoreContext,
  id: string,
  {
    version = null,
    signal,
  }: { readonly version?: number | null | undefined; readonly signal?: AbortSignal | undefined } = {},
): Promise<DatasetSummary> {
  return await readSummary(createReadQuery(pool, signal), id, version);
}

/** A dataset as one of its versions. @param version null for the newest @throws StoreError `dataset_not_found` */
export async function readSummary(query: ReadQuery, id: string, version: number | null) {
  const [found] = await query<DatasetRow>(
    `SELECT ${shownDataset()} FROM ${datasetsWith('coalesce($2, d.version)')} WHERE id = $1`,
    [id, version],
  );
  if (found === undefined) throw datasetNotFound(id);
  const [summary] = await withSections(query, [found]);
  return summary as DatasetSummary;
}
