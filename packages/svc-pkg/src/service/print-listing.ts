import type { Page, PageQuery } from '@svc/client';
import { jsonText } from '@svc/jsonl-v23/internal';
import type { Cli } from '../cli-context.ts';
import { printHint, printResult } from '../output/print-result.ts';
import { formatTable } from '../text/format-table.ts';
import { listPages } from './client/list-pages.ts';

type ListPage<T> = Page<T> & { readonly meta: { readonly total_items?: number | null } };

/** The value of a column in a row. */
type Column<T> = (entry: T) => string | number | boolean | null | undefined;

/**
 * Reads up to `limit` entries of a list and prints them: a table for people, `{data, total}` for machines.
 *
 * @param read requests a page
 * @throws as `listPages`
 */
export async function printListing<T>(
  cli: Cli,
  limit: number,
  read: (page: PageQuery) => Promise<{ data?: ListPage<T>; response: Response }>,
  columns: Readonly<Record<string, Column<T>>>,
): Promise<void> {
  const { data, meta } = await listPages(limit, read);
  // Null if the service does not say.
  const total = meta.total_items ?? null;
  const rowOf = (entry: T) => Object.values(columns).map((cell) => cell(entry));
  await printResult(cli, {
    text: () => formatTable(Object.keys(columns), data.map(rowOf)),
    json: () => jsonText({ data, total }),
  });
  if (total !== null && total > data.length) {
    await printHint(cli, `${data.length} of ${total} are shown; --limit shows more`);
  }
}

/** What places a result of a run. */
interface PlacedResult {
  readonly section: string;
  readonly order_index: number;
  readonly item_id?: unknown;
  readonly repetition: number;
}

/** The columns that say which result of a run a row is about. */
export const RESULT_COLUMNS: Readonly<Record<'section' | 'item' | 'repetition', Column<PlacedResult>>> = {
  section: ({ section }) => section,
  item: ({ order_index, item_id }) => (item_id == null ? order_index : String(item_id)),
  repetition: ({ repetition }) => repetition,
};
