import type { StoreContext } from '../context.ts';
import { guarded } from '../database/guarded.ts';
import { boundedName } from '../database/item-size.ts';
import { decodeCursor, encodeCursor, type Page, type PageRequest } from '../database/page.ts';
import { MAX_PAGE_BYTES } from '../database/read-item-texts.ts';
import { createReadQuery, type ReadQuery } from '../database/read-query.ts';
import { inTransaction } from '../database/transaction.ts';
import { containsPattern, isUuid, searchableText, storableText } from '../database/values.ts';
import { type DatasetSource, type DatasetSummary, type SectionSummary, SUMMARY_SECTIONS } from './dataset.ts';
import {
  type DatasetRow,
  datasetNotFound,
  type StoredSection,
  type StoredSectionRow,
  shownDataset,
  toStoredSection,
  toSummary,
} from './dataset-row.ts';
import { type DatasetDiff, type DiffRequest, diffDatasets } from './diff-datasets.ts';
import { beginDraft, type DatasetDraft, type DraftOptions } from './draft.ts';
import { type ItemsPage, type ItemsRequest, listItems, type StoredItem } from './list-items.ts';
import { type OpenDataset, openDataset, streamItems } from './open-dataset.ts';

export interface DatasetsRequest extends PageRequest {
  /** Exactly this name. */
  readonly name?: string | undefined;
  /** Part of the name or description, in any case. */
  readonly q?: string | undefined;
  readonly source?: DatasetSource | undefined;
  readonly versionHash?: string | undefined;
}

/** What may be changed later; absent stays, null is none. */
export interface DatasetChanges {
  readonly name?: string | undefined;
  readonly description?: string | null | undefined;
  readonly notes?: string | null | undefined;
}

/**
 * Datasets, their sections and items. Every method throws StoreError `unavailable` when the database cannot be
 * reached, and those that take an id `dataset_not_found`.
 */
export interface DatasetStore {
  /**
   * Waits for a permit to import, and starts a dataset, which is stored when the draft is committed.
   *
   * @throws StoreError `unavailable` when no import ends in time; the signal's reason
   */
  begin(options?: DraftOptions): Promise<DatasetDraft>;
  /**
   * Datasets, newest first. A schema over 64 KiB of an upload is left out of the list:
   * `{"source":"pkg_zip","package":null,"truncated":true}` stands for it.
   *
   * @throws StoreError `invalid_cursor`
   */
  list(request: DatasetsRequest): Promise<Page<DatasetSummary>>;
  /** One dataset with its schema, unless that has more than 16 MiB. */
  get(id: string, signal?: AbortSignal): Promise<DatasetSummary>;
  /** @throws StoreError `invalid_request` for a text that PostgreSQL cannot hold */
  update(id: string, changes: DatasetChanges): Promise<DatasetSummary>;
  /** Deletes a dataset with its sections, items, runs and their results, in one transaction. */
  delete(id: string): Promise<void>;
  /** @throws StoreError `invalid_cursor` */
  listSections(id: string, request: PageRequest): Promise<Page<StoredSection>>;
  /**
   * Items in section and item order, as canonical texts. A page ends early when its items are large: it has at most
   * 16 MiB, or one item. An item that is larger than one may be comes without its parts.
   *
   * @throws StoreError `invalid_cursor`
   */
  listItems(id: string, request: ItemsRequest): Promise<ItemsPage>;
  /**
   * All items, or those of the sections of one name, in batches of what the server sends at once. Reads as
   * fast as the consumer pulls; when it stops, or `signal` is aborted, the server's cursor ends too.
   */
  streamItems(
    id: string,
    options?: { readonly section?: string; readonly signal?: AbortSignal },
  ): Promise<AsyncIterable<StoredItem[]>>;
  /** Opens a dataset for an export: everything read through it is of one moment. */
  open(id: string, options?: { readonly signal?: AbortSignal }): Promise<OpenDataset>;
  /**
   * What distinguishes a second dataset from a first, by item hash: items only in the second (`added`), only in
   * the first (`removed`), and in both at different places (`moved`).
   *
   * @throws StoreError `invalid_cursor`
   */
  diff(id: string, otherId: string, request: DiffRequest): Promise<DatasetDiff>;
}

/** Beyond this size the list leaves the schema of an uploaded package out. */
const MAX_LISTED_SCHEMA_BYTES = 64 * 1024;

export function createDatasetStore(context: StoreContext): DatasetStore {
  const { pool, searches } = context;

  const get = async (id: string, signal?: AbortSignal): Promise<DatasetSummary> => {
    const query = createReadQuery(pool, signal);
    const [found] = isUuid(id)
      ? await query<DatasetRow>(`SELECT ${shownDataset()} FROM datasets WHERE id = $1`, [id])
      : [];
    if (found === undefined) throw datasetNotFound(id);
    return toSummary({ ...found, sections: await firstSections(query, [id]) });
  };

  return guarded({
    begin: (options = {}) => beginDraft(context, options),

    async list(request) {
      const { signal, q } = request;
      using _permit = q === undefined ? undefined : await searches.acquire(signal);
      return await listDatasets(createReadQuery(pool, signal), request);
    },

    get,

    async update(id, changes) {
      const values: unknown[] = [id];
      // the database's clock, as that of `created_at`
      const assignments = ['updated_at = clock_timestamp()'];
      const assign = (column: string, value: unknown): void =>
        void assignments.push(`${column} = $${values.push(value)}`);
      if (changes.name !== undefined) assign('name', storableText('name', changes.name));
      for (const field of ['description', 'notes'] as const) {
        const value = changes[field];
        if (value !== undefined) assign(field, value === null ? null : storableText(field, value));
      }
      const { rowCount } = isUuid(id)
        ? await pool.query(`UPDATE datasets SET ${assignments.join(', ')} WHERE id = $1`, values)
        : { rowCount: 0 };
      if (rowCount === 0) throw datasetNotFound(id);
      return await get(id);
    },

    async delete(id) {
      if (!isUuid(id)) throw datasetNotFound(id);
      await inTransaction(pool, async (client) => {
        // The row first: whoever would add a run to the dataset waits, and then finds it gone.
        const { rowCount } = await client.query('SELECT FROM datasets WHERE id = $1 FOR UPDATE', [id]);
        if (rowCount === 0) throw datasetNotFound(id);
        await client.query(
          'DELETE FROM items USING sections WHERE items.section_id = sections.id AND sections.dataset_id = $1',
          [id],
        );
        // Its workers stop at once instead of at their next check.
        await client.query(
          `SELECT pg_notify('svc_cancel', id::text) FROM runs WHERE dataset_id = $1 AND finished_at IS NULL`,
          [id],
        );
        await client.query('DELETE FROM datasets WHERE id = $1', [id]);
      });
    },

    async listSections(id, { limit, cursor, signal }) {
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
    },

    listItems: (id, request) => listItems(context, id, request),
    streamItems: (id, options) => streamItems(context, id, options),
    open: (id, options) => openDataset(context, id, options),
    diff: (id, otherId, request) => diffDatasets(context, id, otherId, request),
  } satisfies DatasetStore);
}

type SectionOfDataset = SectionSummary & { readonly datasetId: string };

/** The sections that summaries name. Order indexes count from 0 without gaps, so the first are those below a bound. */
async function firstSections(query: ReadQuery, ids: readonly string[]): Promise<SectionOfDataset[]> {
  return await query<SectionOfDataset>(
    `SELECT id, dataset_id AS "datasetId", ${boundedName('name')} AS name, order_index AS "orderIndex",
       item_count AS "itemCount"
     FROM sections WHERE dataset_id = ANY ($1::uuid[]) AND order_index < ${SUMMARY_SECTIONS}
     ORDER BY dataset_id, order_index`,
    [ids],
  );
}

/** See `DatasetStore.list`. */
async function listDatasets(query: ReadQuery, request: DatasetsRequest): Promise<Page<DatasetSummary>> {
  const { limit, cursor, name, q, source, versionHash } = request;
  const values: unknown[] = [];
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  const filters = ['true'];
  if (name !== undefined) filters.push(`name = ${parameter(searchableText(name))}`);
  if (q !== undefined) {
    const pattern = parameter(containsPattern(searchableText(q)));
    filters.push(`(name ILIKE ${pattern} OR description ILIKE ${pattern})`);
  }
  if (source !== undefined) filters.push(`source = ${parameter(source)}`);
  if (versionHash !== undefined) filters.push(`version_hash = ${parameter(searchableText(versionHash))}`);
  const counted = { where: filters.join(' AND '), values: [...values] };
  if (cursor !== undefined) {
    const [createdAtMs, id] = decodeCursor('datasets', ['time', 'uuid'], cursor);
    filters.push(
      `(created_at, id) < (to_timestamp(${parameter(createdAtMs)}::float8 / 1000)::timestamptz(3), ${parameter(id)}::uuid)`,
    );
  }
  const [total] = await query<{ count: string }>(
    `SELECT count(*) FROM datasets WHERE ${counted.where}`,
    counted.values,
  );
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
         ORDER BY created_at DESC, id DESC LIMIT ${parameter(limit + 1)}
       ) candidate WINDOW newest AS (ORDER BY created_at DESC, id DESC)
     ) datasets WHERE bytes <= ${MAX_PAGE_BYTES} OR position = 1
     ORDER BY created_at DESC, id DESC`,
    values,
  );
  const shown = rows.slice(0, limit);
  const sections = await firstSections(
    query,
    shown.map(({ id }) => id),
  );
  const byDataset = Map.groupBy(sections, ({ datasetId }) => datasetId);
  const last = shown.at(-1);
  return {
    data: shown.map((row) => toSummary({ ...row, sections: byDataset.get(row.id) ?? [] })),
    nextCursor:
      last !== undefined && Number(last.found) > shown.length
        ? encodeCursor('datasets', [last.createdAt.getTime(), last.id])
        : null,
    totalItems: Number(total?.count ?? 0),
  };
}

/** What a section has beside its name, in JSON. */
const SECTION_BYTES = 150;
