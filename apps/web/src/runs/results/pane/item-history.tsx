import { Group, Text } from '@mantine/core';
import type { JsonValue } from '@svc/jsonl-v23/json';
import { useQueries, useQuery } from '@tanstack/react-query';
import { apiQuery } from '../../../api/api.ts';
import { RunLink } from '../../../ui/buttons.tsx';
import { Folded } from '../../../ui/layout/page.tsx';
import { isShown, QueryState } from '../../../ui/query-state.tsx';
import { ages, texts } from '../../../ui/table/cells.tsx';
import { DataTable } from '../../../ui/table/data-table.tsx';
import { Dimmed } from '../../../ui/text/dimmed.ts';
import { formatScore, plainText } from '../../../ui/text/formats.ts';
import { nameOf, type Result, type Run, runsQuery } from '../../queries.ts';
import { Mark, resultKey } from '../listed-result.tsx';

const RUNS = 20;

type Row = { readonly run: Run; readonly result: Result };

export function ItemHistory(props: { readonly run: Run; readonly itemHash: string }) {
  return (
    <Folded title="The same item in other runs" of={props}>
      {(of) => <History {...of} />}
    </Folded>
  );
}

function History({ run, itemHash }: { readonly run: Run; readonly itemHash: string }) {
  const listed = useQuery(runsQuery({ dataset_id: run.dataset_id, limit: RUNS }));
  const runs = listed.data?.data.filter(({ id }) => id !== run.id) ?? [];
  const results = useQueries({
    queries: runs.map(({ id }) =>
      apiQuery(['history', id, itemHash], '/runs/{id}/results', {
        path: { id },
        query: { item_hash: itemHash, limit: 1 },
      }),
    ),
  });
  const unread = [listed, ...results].find((one) => !isShown(one));
  if (unread !== undefined) return <QueryState query={unread} rows={1} />;
  const rows = runs.flatMap((one, at): Row[] => {
    const [result] = results[at]?.data?.data ?? [];
    return result === undefined ? [] : [{ run: one, result }];
  });
  if (rows.length === 0) return <Dimmed>No other of the newest runs has it.</Dimmed>;
  return (
    <DataTable
      label="The same item in other runs"
      columns={[
        {
          label: 'Run',
          cell: ({ run: one, result }: Row) => (
            <RunLink id={one.id} result={resultKey(result)} label={nameOf(one)} />
          ),
        },
        {
          label: 'Score',
          cell: ({ result }: Row) => (
            <Group gap={4} wrap="nowrap">
              <Mark result={result} /> {formatScore(result.score)}
            </Group>
          ),
        },
        texts('Output', ({ result }: Row) => (
          <Text size="sm" dir="auto" lineClamp={2}>
            {plainText((result.output ?? result.error?.message ?? null) as JsonValue, 200)}
          </Text>
        )),
        ages('When', ({ run: one }: Row) => one.created_at),
      ]}
      rows={rows}
      keyOf={({ run: one }) => one.id}
    />
  );
}
