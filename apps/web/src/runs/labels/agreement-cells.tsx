import { Text } from '@mantine/core';
import type { ResponseOf } from '@svc/client';
import type { JsonValue } from '@svc/jsonl-v23/json';
import { useInfiniteQuery } from '@tanstack/react-query';
import { get } from '../../api/api.ts';
import { LinkAnchor, RunLink } from '../../ui/buttons.tsx';
import { COLORS } from '../../ui/charts/interval-bar.tsx';
import { BY_CURSOR, MoreButton } from '../../ui/layout/pager.tsx';
import { isShown, QueryState } from '../../ui/query-state.tsx';
import { DataTable } from '../../ui/table/data-table.tsx';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { formatCount, plainText } from '../../ui/text/formats.ts';
import type { Run } from '../queries.ts';
import { resultKey } from '../results/listed-result.tsx';
import { verdictText } from '../results/pane/label-bar.tsx';
import type { AGREEMENT_CELLS, RunSearch } from '../runs-search.ts';

export type Agreed = ResponseOf<'/runs/{id}/agreement', 'get'>;

type Cell = (typeof AGREEMENT_CELLS)[number];
type Verdict = 'pass' | 'fail';

const ROWS: readonly (readonly [verdict: Verdict, cells: readonly [right: Cell, wrong: Cell]])[] = [
  ['pass', ['both_pass', 'false_fail']],
  ['fail', ['false_pass', 'both_fail']],
];

export function AgreementTable(props: {
  readonly run: Run;
  readonly found: Agreed;
  readonly search: RunSearch;
}) {
  const { run, search } = props;
  const { scorer, by, other, n, cells } = props.found;
  const judge = other ?? scorer ?? 'scorer';
  const person = by ?? 'people';
  const names: Readonly<Record<Cell, string>> = {
    both_pass: 'both right',
    both_fail: 'both wrong',
    false_pass: `right for ${judge} only`,
    false_fail: `right for ${person} only`,
  };
  const { columns, label_by } = search;
  const resultsOf = (cell: Cell, label: Verdict): RunSearch =>
    // no filter of results compares two people
    other === null
      ? {
          ...{ columns, label, label_by, scorer: search.scorer },
          passed: cell === 'both_pass' || cell === 'false_pass',
        }
      : { ...search, cell };
  return (
    <section className="scroll" aria-label="Cells of the agreement" tabIndex={0}>
      <table className="cells">
        <thead>
          <tr>
            <td />
            {['right', 'wrong'].map((says) => (
              <th key={says} scope="col" dir="auto">
                {judge}: {says}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {ROWS.map(([verdict, both]) => (
            <tr key={verdict}>
              <th scope="row" dir="auto">
                {person}: {verdict === 'pass' ? 'right' : 'wrong'}
              </th>
              {both.map((cell) => (
                <td key={cell} style={{ background: shadeOf(cells[cell] / n) }}>
                  {cells[cell] === 0 ? (
                    '0'
                  ) : (
                    <LinkAnchor
                      to="/runs/$id"
                      params={{ id: run.id }}
                      search={resultsOf(cell, verdict)}
                      resetScroll={other === null}
                      size="sm"
                      c="inherit"
                    >
                      {formatCount(cells[cell])}
                    </LinkAnchor>
                  )}
                  <Text span size="xs" display="block" dir="auto">
                    {names[cell]}
                  </Text>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** How much of the colour the largest share has: texts on it stay readable. */
const DEEPEST = 40;

const shadeOf = (share: number): string =>
  `color-mix(in srgb, ${COLORS.bar} ${Math.round(DEEPEST * Math.min(1, Math.max(0, share)))}%, transparent)`;

type Row = Agreed['data'][number];

const PAGE = 50;

export function CellResults(props: {
  readonly run: Run;
  readonly by: string | undefined;
  readonly other: string;
  readonly cell: Cell;
}) {
  const { run, by, other, cell } = props;
  const found = useInfiniteQuery({
    queryKey: ['labels', run.id, 'cell', { by, other, cell }],
    queryFn: ({ signal, pageParam }) => {
      const query = { by, other, cell, limit: PAGE, cursor: pageParam };
      return get('/runs/{id}/agreement', { path: { id: run.id }, query }, signal);
    },
    ...BY_CURSOR,
  });
  if (!isShown(found)) return <QueryState query={found} rows={3} />;
  const rows = found.data.pages.flatMap(({ data }) => data);
  const total = found.data.pages.at(-1)?.meta.total_items ?? 0;
  return (
    <>
      <DataTable
        label="Results of the cell"
        maxHeight={400}
        columns={[
          {
            label: 'Result',
            cell: (row: Row) => (
              <RunLink
                id={run.id}
                result={resultKey(row)}
                label={plainText((row.item_id ?? row.order_index) as JsonValue)}
              />
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
