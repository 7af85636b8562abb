import type { DatasetSource, DatasetSummary, DatasetWriter } from '@svc/flows';
import { inTransaction } from './connection.ts';
import type { StoreContext } from './context.ts';
import {
  type DatasetRow,
  datasetNotFound,
  type StoredSection,
  toStoredSection,
  toSummary,
} from './dataset-row.ts';
import { type DatasetDiff, type DiffRequest, diffDatasets } from './diff-datasets.ts';
import type { Prisma } from './generated/prisma/client.ts';
import { guarded } from './guarded.ts';
import { type ItemsRequest, listItems, type StoredItem } from './list-items.ts';
import { type OpenDataset, openDataset, streamItems } from './open-dataset.ts';
import { decodeCursor, encodeCursor, type Page, type PageRequest } from './page.ts';
import { type SaveOptions, SUMMARY_SECTIONS, saveDataset } from './save-dataset.ts';
import { containsPattern, isUuid, searchableText, storableText } from './values.ts';

export interface DatasetsRequest extends PageRequest {
  /** exactly this name */
  readonly name?: string | undefined;
  /** part of the name or description, in any case */
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
export interface DatasetStore extends DatasetWriter {
  saveDataset(
    rows: Parameters<DatasetWriter['saveDataset']>[0],
    finish: Parameters<DatasetWriter['saveDataset']>[1],
    options?: SaveOptions,
  ): Promise<DatasetSummary>;
  /**
   * Datasets, newest first. A schema over 64 KiB of an upload is left out of the list:
   * `{"source":"pkg_zip","package":null,"truncated":true}` stands for it.
   *
   * @throws StoreError `invalid_cursor`
   */
  list(request: DatasetsRequest): Promise<Page<DatasetSummary>>;
  /** One dataset with its whole schema. */
  get(id: string): Promise<DatasetSummary>;
  /** @throws StoreError `invalid_request` for a text that PostgreSQL cannot hold */
  update(id: string, changes: DatasetChanges): Promise<DatasetSummary>;
  /** Deletes a dataset with its sections, items, runs and their results, in one transaction. */
  delete(id: string): Promise<void>;
  /** @throws StoreError `invalid_cursor` */
  listSections(id: string, request: PageRequest): Promise<Page<StoredSection>>;
  /**
   * Items in section and item order, as canonical texts. A page ends early when its items are large, so that
   * an answer stays within some megabytes.
   *
   * @throws StoreError `invalid_cursor`
   */
  listItems(id: string, request: ItemsRequest): Promise<Page<StoredItem>>;
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
const LEFT_OUT_SCHEMA = '{"source":"pkg_zip","package":null,"truncated":true}';

export function createDatasetStore(context: StoreContext): DatasetStore {
  const { pool, prisma } = context;

  const get = async (id: string): Promise<DatasetSummary> => {
    const found = isUuid(id)
      ? await prisma.dataset.findUnique({ where: { id }, include: withSections })
      : null;
    if (found === null) throw datasetNotFound(id);
    return toSummary(found);
  };

  return guarded({
    saveDataset: (rows, finish, options) => saveDataset(context, rows, finish, options),

    async list(request) {
      const { limit, cursor, name, q, source, versionHash } = request;
      const values: unknown[] = [];
      const parameter = (value: unknown): string => `$${values.push(value)}`;
      const filters: string[] = [];
      if (name !== undefined) filters.push(`name = ${parameter(searchableText(name))}`);
      if (q !== undefined) {
        const pattern = parameter(containsPattern(searchableText(q)));
        filters.push(`(name ILIKE ${pattern} OR description ILIKE ${pattern})`);
      }
      if (source !== undefined) filters.push(`source = ${parameter(source)}`);
      if (versionHash !== undefined) filters.push(`version_hash = ${parameter(searchableText(versionHash))}`);
      const where = filters.length === 0 ? '' : `WHERE ${filters.join(' AND ')}`;
      const total = await pool.query<{ count: string }>(`SELECT count(*) FROM datasets ${where}`, [
        ...values,
      ]);

      if (cursor !== undefined) {
        const [createdAtMs, id] = decodeCursor('datasets', ['time', 'uuid'], cursor);
        filters.push(
          `(created_at, id) < (to_timestamp(${parameter(createdAtMs)}::float8 / 1000)::timestamptz(3), ${parameter(id)}::uuid)`,
        );
      }
      const { rows } = await pool.query<DatasetRow>(
        `SELECT id, name, description, notes, source, version_hash AS "versionHash",
           CASE WHEN source = 'pkg_zip' AND octet_length(schema) > ${MAX_LISTED_SCHEMA_BYTES}
             THEN '${LEFT_OUT_SCHEMA}' ELSE schema END AS schema,
           section_count AS "sectionCount", item_count AS "itemCount", asset_count AS "assetCount",
           created_at AS "createdAt", updated_at AS "updatedAt"
         FROM datasets ${filters.length === 0 ? '' : `WHERE ${filters.join(' AND ')}`}
         ORDER BY created_at DESC, id DESC LIMIT ${parameter(limit + 1)}`,
        values,
      );
      const shown = rows.slice(0, limit);
      const sections = await prisma.section.findMany({
        ...withSections.sections,
        where: { ...withSections.sections.where, datasetId: { in: shown.map((row) => row.id) } },
        select: { ...withSections.sections.select, datasetId: true },
      });
      const byDataset = Map.groupBy(sections, (section) => section.datasetId);
      const last = shown.at(-1);
      return {
        data: shown.map((row) => toSummary({ ...row, sections: byDataset.get(row.id) ?? [] })),
        nextCursor:
          rows.length > limit && last !== undefined
            ? encodeCursor('datasets', [last.createdAt.getTime(), last.id])
            : null,
        totalItems: Number(total.rows[0]?.count ?? 0),
      };
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

    async listSections(id, { limit, cursor }) {
      const after = cursor === undefined ? -1 : decodeCursor('sections', ['index'], cursor)[0];
      const dataset = isUuid(id)
        ? await prisma.dataset.findUnique({ where: { id }, select: { sectionCount: true } })
        : null;
      if (dataset === null) throw datasetNotFound(id);
      const rows = await prisma.section.findMany({
        where: { datasetId: id, orderIndex: { gt: after } },
        orderBy: { orderIndex: 'asc' },
        take: limit + 1,
      });
      const shown = rows.slice(0, limit);
      const last = shown.at(-1);
      return {
        data: shown.map(toStoredSection),
        nextCursor:
          rows.length > limit && last !== undefined ? encodeCursor('sections', [last.orderIndex]) : null,
        totalItems: dataset.sectionCount,
      };
    },

    listItems: (id, request) => listItems(context, id, request),
    streamItems: (id, options) => streamItems(context, id, options),
    open: (id, options) => openDataset(context, id, options),
    diff: (id, otherId, request) => diffDatasets(context, id, otherId, request),
  } satisfies DatasetStore);
}

/** Order indexes count from 0 without gaps, so the first sections are those below a bound. */
const withSections = {
  sections: {
    where: { orderIndex: { lt: SUMMARY_SECTIONS } },
    orderBy: { orderIndex: 'asc' },
    select: { id: true, name: true, orderIndex: true, itemCount: true },
  },
} as const satisfies Prisma.DatasetInclude;
