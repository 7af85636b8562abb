import { jsonText } from '@svc/jsonl-v23/internal';
import type { Cli } from '../cli-context.ts';
import { printHint } from '../output/print-hint.ts';
import { printResult } from '../output/print-result.ts';
import { formatTable } from '../text/format-table.ts';
import type { Listing } from './client/list-pages.ts';

/** Prints a list: a table for people, `{data, total}` for machines. */
export async function printListing<T>(
  cli: Cli,
  { data, total }: Listing<T>,
  columns: Readonly<Record<string, (entry: T) => string | number | boolean | null | undefined>>,
): Promise<void> {
  const names = Object.keys(columns);
  await printResult(cli, {
    text: () =>
      formatTable(
        names,
        data.map((entry) => Object.values(columns).map((cell) => cell(entry))),
      ),
    json: () => jsonText({ data, total }),
  });
  if (total !== null && total > data.length) {
    await printHint(cli, `${data.length} of ${total} are shown; --limit shows more`);
  }
}
