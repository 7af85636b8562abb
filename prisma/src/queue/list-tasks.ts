import { seesDataset, seesJob } from '../audit/actor.ts';
import {
  type ListOrder,
  type Page,
  type PageRequest,
  Parameters,
  readOrderedPage,
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
  readonly order?: ListOrder | undefined;
  /** Columns with texts, whose size bounds a page. */
  readonly texts: readonly string[];
}

/** A page of runs or jobs, newest first or in another order: by time by an index, perhaps one that begins with a condition. */
export async function listTasks<Row extends object>(
  pool: Pool,
  { table, columns, equal, conditions = [], order, texts, ...page }: TasksRequest,
): Promise<Page<Row>> {
  const parameters = new Parameters();
  const sees = table === 'jobs' ? seesJob() : seesDataset('dataset_id');
  const filters = sees === null ? [] : [sees];
  for (const [column, value] of Object.entries(equal)) {
    if (value !== undefined) filters.push(`${column} = ${parameters.add(value)}`);
  }
  for (const [value, sql] of conditions) {
    if (value !== undefined) filters.push(sql(parameters.add(searchableText(value))));
  }
  const bytes = texts.map((text) => `coalesce(octet_length(${text}), 0)`).join(' + ');
  const list = { from: table, name: table, columns, filters, order, bytes };
  return await readOrderedPage<Row>(createReadQuery(pool, page.signal), list, parameters, page);
}
