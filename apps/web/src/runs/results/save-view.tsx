import { Menu } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { saveFile } from '../../report/report-action.tsx';
import { useNotify } from '../../ui/layout/notices.tsx';
import { ErrorView } from '../../ui/query-state.tsx';
import { readView, type ViewColumn } from '../../ui/table/view-columns.ts';
import { formatCount } from '../../ui/text/formats.ts';
import { nameOf, type Run, readResults, scorersOf } from '../queries.ts';
import { type RunSearch, runRoute } from '../runs-search.ts';
import { outcomeOf, outcomeText } from './listed-result.tsx';
import { cellText, defaultColumns, metaPointerOf, resultColumns } from './result-columns.tsx';
import { resultsQuery } from './use-results.ts';

/** Results between two pieces of the file. */
const STEP = 100;

/** Results that one file holds: the page makes it. Exports of the service have no limit. */
const MAX_ROWS = 100_000;

/** Entries of a menu that save the results that the filters choose, in their order, with the columns of the view and whole texts. */
export function SaveView({ run }: { readonly run: Run }) {
  const search = runRoute.useSearch();
  const notify = useNotify();
  const [read, setRead] = useState(0);
  const { mutate, isPending, error } = useMutation({
    mutationFn: async (isForExcel: boolean): Promise<boolean> => {
      const columns = columnsOf(run, search);
      const parts: BlobPart[] = [isForExcel ? '\uFEFF' : ''];
      const lines = [csvLine(['Outcome', ...columns.map(({ label }) => label)], isForExcel)];
      let rows = 0;
      let isWhole = true;
      for await (const result of readResults(run.id, resultsQuery(search))) {
        isWhole = rows < MAX_ROWS;
        if (!isWhole) break;
        const cells = columns.map(({ key }) => cellText(key, result));
        lines.push(csvLine([outcomeText(outcomeOf(result, search.scorer)), ...cells], isForExcel));
        rows += 1;
        if (rows % STEP > 0) continue;
        // a blob may leave the memory of the page
        parts.push(new Blob(lines.splice(0)));
        setRead(rows);
      }
      saveFile(new Blob([...parts, ...lines], { type: 'text/csv' }), `${nameOf(run)}.view.csv`);
      return isWhole;
    },
    onSuccess: (isWhole) =>
      notify(isWhole ? 'The table is saved.' : `The first ${formatCount(MAX_ROWS)} results are saved.`),
  });
  return (
    <>
      {[false, true].map((isForExcel) => (
        <Menu.Item
          key={String(isForExcel)}
          closeMenuOnClick={false}
          disabled={isPending}
          onClick={() => mutate(isForExcel)}
        >
          {isPending
            ? `${formatCount(read)} read`
            : `Table of results as CSV${isForExcel ? ' for Excel' : ''}`}
        </Menu.Item>
      ))}
      {error !== null && <ErrorView error={error} />}
    </>
  );
}

function columnsOf(run: Run, search: RunSearch): readonly ViewColumn[] {
  const scorers = scorersOf(run);
  const pointers = (search.columns ?? '').split(',').flatMap((key) => metaPointerOf(key) ?? []);
  const columns = resultColumns(pointers, scorers, false, search.scorer).filter(
    ({ isAlways }) => isAlways !== true,
  );
  const { shown } = readView(search, columns, defaultColumns(scorers));
  return shown.flatMap((key) => columns.find((column) => column.key === key) ?? []);
}

export const csvLine = (cells: readonly string[], isForExcel: boolean): string =>
  `${cells.map((cell) => csvCell(isForExcel && FORMULA.test(cell) ? `'${cell}` : cell)).join(',')}\r\n`;

/** What spreadsheet programs take for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

const csvCell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
