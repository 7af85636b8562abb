import { createReadQuery, type Pool } from '@svc/postgres';
import {
  CREATED_POSITION,
  type CreatedRow,
  cursorAfter,
  MAX_PAGE_BYTES,
  olderThan,
  type Page,
  type PageRequest,
  Parameters,
} from '../database/page.ts';
import type { TaskTable } from './task-queue.ts';

/** Which runs or jobs to list, and what of them. */
export interface TasksRequest extends PageRequest {
  readonly table: TaskTable;
  readonly columns: string;
  /** Columns and the values that they must have; undefined for any. */
  readonly equal: Readonly<Record<string, string | undefined>>;
  /** Further conditions, by the placeholders of their values; an undefined value is no condition. */
  readonly conditions?: readonly (readonly [
    value: string | undefined,
    sql: (placeholder: string) => string,
  ])[];
  /** Columns with texts, whose size bounds a page. */
  readonly texts: readonly string[];
}

/** A page of runs or jobs, newest first. Reads the index on `(created_at, id)`, or one that begins with a condition. */
export async function listTasks<Row extends { readonly id: string }>(
  pool: Pool,
  { table, columns, equal, conditions = [], texts, limit, cursor, signal }: TasksRequest,
): Promise<Page<Row>> {
  const query = createReadQuery(pool, signal);
  const parameters = new Parameters();
  const filters = ['true'];
  for (const [column, value] of Object.entries(equal)) {
    if (value !== undefined) filters.push(`${column} = ${parameters.add(value)}`);
  }
  for (const [value, sql] of conditions) if (value !== undefined) filters.push(sql(parameters.add(value)));
  const [total] = await query<{ count: string }>(
    `SELECT count(*) FROM ${table} WHERE ${filters.join(' AND ')}`,
    parameters.values,
  );
  if (cursor !== undefined) filters.push(olderThan(table, cursor, parameters));
  const rows = await query<Row & CreatedRow>(
    `SELECT ${columns}, ${CREATED_POSITION}, found FROM (
       SELECT *, count(*) OVER () AS found, row_number() OVER newest AS position,
         sum(${texts.map((text) => `coalesce(octet_length(${text}), 0)`).join(' + ')}) OVER newest AS bytes
       FROM (
         SELECT * FROM ${table} WHERE ${filters.join(' AND ')}
         ORDER BY created_at DESC, id DESC LIMIT ${parameters.add(limit + 1)}
       ) candidate WINDOW newest AS (ORDER BY created_at DESC, id DESC)
     ) ${table} WHERE bytes <= ${MAX_PAGE_BYTES} OR position = 1
     ORDER BY created_at DESC, id DESC`,
    parameters.values,
  );
  const shown = rows.slice(0, limit);
  return { data: shown, nextCursor: cursorAfter(table, shown), totalItems: Number(total?.count ?? 0) };
}
