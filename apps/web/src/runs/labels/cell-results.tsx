import type { ResponseOf } from '@svc/client';
import type { JsonValue } from '@svc/jsonl-v23/json';
import { useInfiniteQuery } from '@tanstack/react-query';
import { get } from '../../api/api.ts';
import { ErrorView } from '../../ui/error-view.tsx';
import { LinkAnchor } from '../../ui/layout/links.tsx';
import { BY_CURSOR, MoreButton } from '../../ui/more-button.tsx';
import { DataTable } from '../../ui/table/data-table.tsx';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { formatCount } from '../../ui/text/formats.ts';
import { plainText } from '../../ui/text/pretty-json.ts';
import type { Run } from '../queries.ts';
import { resultKey } from '../results/listed-result.ts';
import { verdictText } from '../results/pane/label-bar.tsx';
import type { AGREEMENT_CELLS } from '../runs-search.ts';

type Row = ResponseOf<'/runs/{id}/agreement', 'get'>['data'][number];

const PAGE = 50;

/** The results that two people labelled as a cell says. */
export function CellResults({
  run,
  by,
  other,
  cell,
}: {
  readonly run: Run;
  readonly by: string | undefined;
  readonly other: string;
  readonly cell: (typeof AGREEMENT_CELLS)[number];
}) {
  const found = useInfiniteQuery({
    queryKey: ['labels', run.id, 'cell', { by, other, cell }],
    queryFn: ({ signal, pageParam }) => {
      const query = { by, other, cell, limit: PAGE, cursor: pageParam };
      return get('/runs/{id}/agreement', { path: { id: run.id }, query }, signal);
    },
    ...BY_CURSOR,
  });
  if (found.error !== null) return <ErrorView error={found.error} onRetry={() => void found.refetch()} />;
  const rows = found.data?.pages.flatMap(({ data }) => data) ?? [];
  const total = found.data?.pages.at(-1)?.meta.total_items ?? 0;
  return (
    <>
      <DataTable
        label="Results of the cell"
        maxHeight={400}
        columns={[
          {
            label: 'Result',
            cell: (row: Row) => (
              <LinkAnchor
                to="/runs/$id"
                params={{ id: run.id }}
                search={{ result: resultKey(row) }}
                size="sm"
              >
                {plainText((row.item_id ?? row.order_index) as JsonValue)}
              </LinkAnchor>
            ),
          },
          { label: 'Section', cell: ({ section }: Row) => section },
          { label: by ?? 'Person', cell: ({ verdict }: Row) => verdictText(verdict) },
          { label: other, cell: ({ passed }: Row) => verdictText(passed ? 'pass' : 'fail') },
        ]}
        rows={rows}
        keyOf={resultKey}
      />
      <Dimmed>
        {formatCount(rows.length)} of {formatCount(total)}
      </Dimmed>
      <MoreButton query={found} size="xs">
        More
      </MoreButton>
    </>
  );
}
