import { seesDataset, seesJob } from '../audit/actor.ts';
import {
  type CreatedRow,
  cursorAfter,
  decodeCursor,
  type Page,
  type PageRequest,
  Parameters,
  readOrderedPage,
  timeAtPosition,
} from '../database/page.ts';
import { searchableText } from '../database/values.ts';
import type { Pool } from '../postgres/pool.ts';
import { createReadQuery } from '../postgres/read-query.ts';
import type { TaskTable } from './task-queue.ts';

/** Which runs or jobs to list, and what of them. */
interface TasksRequest extends PageRequest {
  readonly table: TaskTable;
  readonly columns: string;
  /** Columns and the values that they must have; undefined for any. */
  readonly equal: Readonly<Record<string, string | undefined>>;
  /** Further conditions, by the placeholders of their values; an undefined value is not a condition. */
  readonly conditions?: readonly (readonly [
    value: string | undefined,
    sql: (placeholder: string) => string,
  ])[];
  /** By default the newest first. */
  readonly order?: TasksOrder | undefined;
  /** Columns with texts, whose size bounds a page. */
  readonly texts: readonly string[];
}

/**
 * An order of a list: by a value, then by the time of creation, both in one direction. Entries without the value come last
 * in either.
 */
export interface TasksOrder {
  /** SQL; null for the time of creation alone. */
  readonly value: string | null;
  readonly type: 'float8' | 'text';
  readonly isDescending: boolean;
}

const NEWEST_FIRST: TasksOrder = { value: null, type: 'text', isDescending: true };

type OrderedRow = CreatedRow & { readonly sortValue: number | string | null };

/**
 * A page of runs or jobs, newest first or in another order. By time it reads the index on `(created_at, id)`, or one that
 * begins with a condition; other orders read every row that passes the conditions.
 */
export async function listTasks<Row extends { readonly id: string }>(
  pool: Pool,
  { table, columns, equal, conditions = [], order = NEWEST_FIRST, texts, ...page }: TasksRequest,
): Promise<Page<Row>> {
  const { limit, cursor, signal } = page;
  const query = createReadQuery(pool, signal);
  const parameters = new Parameters();
  const sees = table === 'jobs' ? seesJob() : seesDataset('dataset_id');
  const filters = sees === null ? [] : [sees];
  for (const [column, value] of Object.entries(equal)) {
    if (value !== undefined) filters.push(`${column} = ${parameters.add(value)}`);
  }
  for (const [value, sql] of conditions) {
    if (value !== undefined) filters.push(sql(parameters.add(searchableText(value))));
  }
  const list = {
    ...{ from: table, name: table, filters, orderBy: orderByOf(order) },
    columns: `${columns}, ${order.value ?? 'NULL'} AS "sortValue"`,
    bytes: texts.map((text) => `coalesce(octet_length(${text}), 0)`).join(' + '),
  };
  const { shown, hasMore, totalItems } = await readOrderedPage<Row & OrderedRow>(
    query,
    list,
    parameters,
    limit,
    cursor === undefined ? undefined : () => after(table, order, cursor, parameters),
  );
  return {
    data: shown.map(({ createdPosition: _, sortValue: __, ...row }) => row as unknown as Row),
    nextCursor: cursorAfter(listName(table, order), shown, hasMore, (last) => positionOf(order, last)),
    totalItems,
  };
}

/** A cursor of one order is invalid for another. */
function listName(table: TaskTable, { value, isDescending }: TasksOrder): string {
  if (value === null) return isDescending ? table : `${table} oldest`;
  return `${table} ${isDescending ? '-' : ''}${value}`;
}

function orderByOf({ value, isDescending }: TasksOrder): string {
  const direction = isDescending ? 'DESC' : 'ASC';
  const byTime = `created_at ${direction}, id ${direction}`;
  return value === null ? byTime : `${value} ${direction} NULLS LAST, ${byTime}`;
}

/** The condition for the rows after a cursor. */
function after(table: TaskTable, order: TasksOrder, cursor: string, { add }: Parameters): string {
  const { value, type, isDescending } = order;
  const list = listName(table, order);
  const sign = isDescending ? '<' : '>';
  const placed = (created: string, id: string): string => `${timeAtPosition(add(created))}, ${add(id)}::uuid`;
  if (value === null) {
    const [created, id] = decodeCursor(list, ['time', 'uuid'], cursor);
    return `(created_at, id) ${sign} (${placed(created, id)})`;
  }
  const kind = type === 'text' ? 'text' : 'number';
  const [hasValue, bound, created, id] = decodeCursor(list, ['index', kind, 'time', 'uuid'], cursor);
  if (hasValue === 0 || (kind === 'number' && bound === 'null')) {
    return `${value} IS NULL AND (created_at, id) ${sign} (${placed(created, id)})`;
  }
  return `(${value} IS NULL OR (${value}, created_at, id) ${sign} (${add(kind === 'number' ? Number(bound) : bound)}::${type}, ${placed(created, id)}))`;
}

/** The position after a row. */
function positionOf(
  { value, type }: TasksOrder,
  { sortValue, createdPosition, id }: OrderedRow,
): (string | number)[] {
  if (value === null) return [createdPosition, id];
  const none = type === 'text' ? '' : 'null';
  return [...(sortValue === null ? [0, none] : [1, String(sortValue)]), createdPosition, id];
}
