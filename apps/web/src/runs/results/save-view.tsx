import { Menu } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { get } from '../../api/api.ts';
import { ErrorView } from '../../ui/error-view.tsx';
import { IconTableDown } from '../../ui/icons.tsx';
import { useNotify } from '../../ui/layout/notices.tsx';
import { MenuButton } from '../../ui/menu-button.tsx';
import { saveFile } from '../../ui/save-file.ts';
import type { ViewColumn } from '../../ui/table/view-columns.ts';
import { formatCount } from '../../ui/text/formats.ts';
import { nameOf, type Run } from '../queries.ts';
import type { RunSearch } from '../runs-search.ts';
import { outcomeOf, outcomeText } from './mark.tsx';
import { resultsQuery } from './results-query.ts';
import { cellText, csvLine } from './view-csv.ts';

const PAGE = 100;

/** Results that one file holds: the page makes it. Exports of the service have no limit. */
const MAX_ROWS = 100_000;

/** Saves the results that the filters choose, in their order, with the columns of the view and whole texts. */
export function SaveView({
  run,
  search,
  columns,
}: {
  readonly run: Run;
  readonly search: RunSearch;
  readonly columns: readonly ViewColumn[];
}) {
  const notify = useNotify();
  const [read, setRead] = useState(0);
  const { mutate, isPending, error } = useMutation({
    mutationFn: async (isForExcel: boolean): Promise<boolean> => {
      const labels = columns.map(({ label }) => label);
      const parts: BlobPart[] = [
        `${isForExcel ? '\uFEFF' : ''}${csvLine(['Outcome', ...labels], isForExcel)}`,
      ];
      let rows = 0;
      let cursor: string | undefined;
      do {
        const query = { ...resultsQuery(search), include: 'item', limit: PAGE, cursor } as const;
        const { data, meta } = await get('/runs/{id}/results', { path: { id: run.id }, query });
        const lines = data.map((result) => {
          const cells = columns.map(({ key }) => cellText(key, result));
          return csvLine([outcomeText(outcomeOf(result, search.scorer)), ...cells], isForExcel);
        });
        // a blob may leave the memory of the page
        parts.push(new Blob(lines));
        rows += data.length;
        setRead(rows);
        cursor = meta.next_cursor ?? undefined;
      } while (cursor !== undefined && rows < MAX_ROWS);
      saveFile(new Blob(parts, { type: 'text/csv' }), `${nameOf(run)}.view.csv`);
      return cursor === undefined;
    },
    onSuccess: (isWhole) =>
      notify(isWhole ? 'The table is saved.' : `The first ${formatCount(MAX_ROWS)} results are saved.`),
  });
  return (
    <>
      <MenuButton
        label={isPending ? `${formatCount(read)} read` : 'Save this table'}
        icon={<IconTableDown size={16} />}
        isPending={isPending}
      >
        <Menu.Item onClick={() => mutate(false)}>CSV</Menu.Item>
        <Menu.Item onClick={() => mutate(true)}>CSV for Excel</Menu.Item>
      </MenuButton>
      {error !== null && <ErrorView error={error} />}
    </>
  );
}
