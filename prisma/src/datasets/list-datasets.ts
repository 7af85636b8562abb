import { MAX_NAME_LENGTH } from '@svc/jsonl-v23/internal';
import type { ReadQuery } from '@svc/postgres';
import {
  type DatasetRow,
  type DatasetSource,
  type DatasetSummary,
  datasetsWith,
  SUMMARY_SECTIONS,
  shownDataset,
} from '../database/dataset-row.ts';
import {
  CREATED_POSITION,
  type CreatedRow,
  decodeCursor,
  encodeCursor,
  MAX_PAGE_BYTES,
  type Page,
  type PageRequest,
  Parameters,
  timeAtPosition,
} from '../database/page.ts';
import { containsPattern, hasOtherCases, searchableText } from '../database/values.ts';
import { withSections } from '../versions/list-sections.ts';
import { type LastRun, lastRuns } from './last-runs.ts';

/** Orders of the list of datasets; a minus turns one round. */
export const DATASET_ORDERS = ['-created', 'created', 'name', '-name', 'items', '-items'] as const;
export type DatasetOrder = (typeof DATASET_ORDERS)[number];

export interface DatasetsRequest extends PageRequest {
  /** Exactly this name. */
  readonly name?: string | undefined;
  /** Part of the name or description, case-insensitive. */
  readonly q?: string | undefined;
  readonly source?: DatasetSource | undefined;
  readonly versionHash?: string | undefined;
  /** By default the newest first. */
  readonly order?: DatasetOrder | undefined;
}

/** A dataset as lists show it. */
export interface ListedDataset extends DatasetSummary {
  /** Null without a run that has ended and has a score. */
  readonly lastRun: LastRun | null;
}

/** A list omits the schema of an uploaded package beyond this size. */
const MAX_LISTED_SCHEMA_BYTES = 64 * 1024;

/** What a section has besides its name, in JSON. */
const SECTION_BYTES = 150;

/**
 * See `DatasetStore.list`. Reads the index on `(created_at, id)`; a search (`q`) and other orders read all datasets.
 */
export async function listDatasets(query: ReadQuery, request: DatasetsRequest): Promise<Page<ListedDataset>> {
  const { limit, cursor, name, q, source, versionHash, order = '-created' } = request;
  const { orderBy, after, cursorAfter } = datasetsOrdering(order);
  const parameters = new Parameters();
  const filters = ['true'];
  if (name !== undefined) filters.push(`name = ${parameters.add(searchableText(name))}`);
  if (q !== undefined) {
    const pattern = parameters.add(containsPattern(searchableText(q)));
    // In some locales, i and I are not the same letter.
    const collation = hasOtherCases(q) ? '' : 'COLLATE "C"';
    const contains = (column: string): string => `${column} ILIKE ${pattern} ${collation}`;
    filters.push(`(${contains('name')} OR ${contains('description')})`);
  }
  if (source !== undefined) filters.push(`source = ${parameters.add(source)}`);
  if (versionHash !== undefined)
    filters.push(`version_hash = ${parameters.add(searchableText(versionHash))}`);
  const [total] = await query<{ count: string }>(
    `SELECT count(*) FROM ${datasetsWith()} WHERE ${filters.join(' AND ')}`,
    parameters.values,
  );
  if (cursor !== undefined) filters.push(after(cursor, parameters));
  const rows = await query<DatasetRow & CreatedRow>(
    `SELECT ${shownDataset(MAX_LISTED_SCHEMA_BYTES)}, ${CREATED_POSITION}, found FROM (
       SELECT *, count(*) OVER () AS found, row_number() OVER listed AS position,
         sum(least(octet_length(name), 65536) + least(coalesce(octet_length(description), 0), 1048576)
           + least(coalesce(octet_length(notes), 0), 1048576) + least(octet_length(schema), 16777216)
           + names) OVER listed AS bytes
       FROM (
         SELECT datasets.*, coalesce((
           SELECT sum(least(octet_length(s.name), 65536) + ${SECTION_BYTES}) FROM versions v
             CROSS JOIN LATERAL unnest(v.section_ids[:${SUMMARY_SECTIONS}]) AS shown (id) JOIN sections s ON s.id = shown.id
           WHERE v.dataset_id = datasets.id AND v.version = datasets.version
         ), 0) AS names
         FROM ${datasetsWith()} WHERE ${filters.join(' AND ')}
         ORDER BY ${orderBy} LIMIT ${parameters.add(limit + 1)}
       ) candidate WINDOW listed AS (ORDER BY ${orderBy})
     ) datasets WHERE bytes <= ${MAX_PAGE_BYTES} OR position = 1
     ORDER BY ${orderBy}`,
    parameters.values,
  );
  const shown = rows.slice(0, limit);
  const datasets = await withSections(query, shown);
  const runs = await lastRuns(
    query,
    shown.map(({ id }) => id),
  );
  return {
    data: datasets.map(({ createdPosition: _, found: __, ...dataset }) => ({
      ...dataset,
      lastRun: runs.get(dataset.id) ?? null,
    })),
    nextCursor: cursorAfter(shown),
    totalItems: Number(total?.count ?? 0),
  };
}

interface OrderedRow extends CreatedRow {
  readonly name: string;
  readonly itemCount: number | string;
}

const COLUMNS = {
  created: { sql: 'created_at', kind: 'time', read: ({ createdPosition }: OrderedRow) => createdPosition },
  // Equal beginnings of longer names, which no import writes, are ordered by id.
  name: {
    sql: `left(name, ${MAX_NAME_LENGTH})`,
    kind: 'text',
    read: ({ name }: OrderedRow) => [...name].slice(0, MAX_NAME_LENGTH).join(''),
  },
  items: { sql: 'item_count', kind: 'count', read: ({ itemCount }: OrderedRow) => Number(itemCount) },
} as const;

/** How a list of datasets is ordered and continued. */
interface DatasetsOrdering {
  /** After `ORDER BY`. */
  readonly orderBy: string;
  /** The condition for the rows after a cursor. @throws StoreError `invalid_cursor` for one of another order */
  after(cursor: string, parameters: Parameters): string;
  /** The cursor after the last row; null at the end of the list. */
  cursorAfter(shown: readonly OrderedRow[]): string | null;
}

/** The ordering of this name. */
function datasetsOrdering(order: DatasetOrder): DatasetsOrdering {
  const name = order.replace('-', '') as keyof typeof COLUMNS;
  const { sql, kind, read } = COLUMNS[name];
  const direction = order.startsWith('-') ? 'DESC' : 'ASC';
  const list = order === '-created' ? 'datasets' : `datasets ${order}`;
  return {
    orderBy: `${sql} ${direction}, id ${direction}`,
    after: (cursor, { add }) => {
      const [value, id] = decodeCursor(list, [kind, 'uuid'], cursor);
      const bound = add(value);
      const position =
        kind === 'time' ? timeAtPosition(bound) : `${bound}::${kind === 'text' ? 'text' : 'bigint'}`;
      return `(${sql}, id) ${direction === 'DESC' ? '<' : '>'} (${position}, ${add(id)}::uuid)`;
    },
    cursorAfter: (shown) => {
      const last = shown.at(-1);
      if (last === undefined || Number(last.found) <= shown.length) return null;
      return encodeCursor(list, [read(last), last.id]);
    },
  };
}
