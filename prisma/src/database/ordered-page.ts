import type { ReadQuery } from '../postgres/read-query.ts';
import { CREATED_POSITION, type CreatedRow, MAX_PAGE_BYTES, type Parameters } from './page.ts';

/** A list with a size for each of its rows, which have `created_at` and `id`. */
interface OrderedList {
  /** SQL after FROM, whose rows are named `name`. */
  readonly from: string;
  readonly name: string;
  /** SQL for what else a row needs so that its `bytes` can be added up, begins with a comma. */
  readonly sizes?: string;
  /** SQL for the size of a row. */
  readonly bytes: string;
  /** SQL for what is read of the rows of a page. */
  readonly columns: string;
  /** After ORDER BY. */
  readonly orderBy: string;
  /** Conditions that rows must meet. */
  readonly filters: readonly string[];
}

/** Reads the next rows of a list, as many as fit into a page, and one at least. @param after adds the condition for them */
export async function readOrderedPage<Row extends object>(
  query: ReadQuery,
  { from, name, sizes = '', bytes, columns, orderBy, filters }: OrderedList,
  parameters: Parameters,
  limit: number,
  after: (() => string) | undefined,
): Promise<{
  readonly shown: readonly (Row & CreatedRow)[];
  readonly hasMore: boolean;
  readonly totalItems: number;
}> {
  const conditions = ['true', ...filters];
  const [total] = await query<{ readonly count: number }>(
    `SELECT count(*)::float8 AS count FROM ${from} WHERE ${conditions.join(' AND ')}`,
    parameters.values,
  );
  if (after !== undefined) conditions.push(after());
  const rows = await query<Row & CreatedRow & { readonly found: string }>(
    `SELECT ${columns}, ${CREATED_POSITION}, found FROM (
       SELECT *, count(*) OVER () AS found, row_number() OVER listed AS position, sum(${bytes}) OVER listed AS bytes
       FROM (
         SELECT ${name}.*${sizes} FROM ${from} WHERE ${conditions.join(' AND ')}
         ORDER BY ${orderBy} LIMIT ${parameters.add(limit + 1)}
       ) candidate WINDOW listed AS (ORDER BY ${orderBy})
     ) ${name} WHERE bytes <= ${MAX_PAGE_BYTES} OR position = 1
     ORDER BY ${orderBy}`,
    parameters.values,
  );
  const shown = rows.slice(0, limit).map(({ found: _, ...row }) => row as unknown as Row & CreatedRow);
  return {
    shown,
    hasMore: Number(rows[0]?.found ?? 0) > shown.length,
    totalItems: total?.count ?? 0,
  };
}
