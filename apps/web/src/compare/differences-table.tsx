import { Button, Table, Text } from '@mantine/core';
import { nameOf, type Run } from '../runs/use-run.ts';
import { IntervalBar } from '../ui/charts/interval-bar.tsx';
import { LinkAnchor } from '../ui/layout/links.tsx';
import { WideTable } from '../ui/layout/wide-table.tsx';
import { formatCount, formatScore, formatSigned } from '../ui/text/formats.ts';
import type { Compared } from './use-comparison.ts';

/** How each of the other runs differs from the first one: a row each, with the interval drawn. */
export function DifferencesTable({
  first,
  rows,
  shown,
  onShow,
}: {
  readonly first: Run;
  readonly rows: readonly { readonly run: Run; readonly scores: Compared }[];
  /** The run whose items are listed below. */
  readonly shown: string;
  readonly onShow: (id: string) => void;
}) {
  return (
    <WideTable label="Differences" minWidth={860} verticalSpacing={4}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Run</Table.Th>
          <Table.Th ta="end">Score</Table.Th>
          <Table.Th ta="end">Difference</Table.Th>
          <Table.Th>Interval (95 %)</Table.Th>
          <Table.Th ta="end">Better, worse, equal</Table.Th>
          <Table.Th ta="end">Items in both</Table.Th>
          <Table.Th ta="end">p (McNemar)</Table.Th>
          {rows.length > 1 && <Table.Td />}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody className="numbers">
        <Table.Tr>
          <RunCell run={first} />
          <Table.Td ta="end">{formatScore(rows[0]?.scores.mean ?? first.scores.mean)}</Table.Td>
          <Table.Td colSpan={rows.length > 1 ? 6 : 5}>
            <Text size="sm" c="dimmed">
              the others are compared with this one
            </Text>
          </Table.Td>
        </Table.Tr>
        {rows.map(({ run, scores }) => (
          <Table.Tr key={run.id}>
            <RunCell run={run} />
            <Table.Td ta="end">{formatScore(scores.other_mean)}</Table.Td>
            <Table.Td ta="end" fw={600}>
              {formatSigned(scores.mean_difference)}
            </Table.Td>
            <Table.Td>
              <Interval scores={scores} />
            </Table.Td>
            <Table.Td ta="end">
              {[scores.wins, scores.losses, scores.ties].map(formatCount).join(', ')}
            </Table.Td>
            <Table.Td ta="end">{formatCount(scores.paired)}</Table.Td>
            <Table.Td ta="end">{scores.p_value === null ? '–' : scores.p_value.toPrecision(2)}</Table.Td>
            {rows.length > 1 && (
              <Table.Td>
                <Button
                  size="compact-xs"
                  variant={run.id === shown ? 'light' : 'default'}
                  aria-pressed={run.id === shown}
                  aria-label={`Items of ${nameOf(run)}`}
                  onClick={() => onShow(run.id)}
                >
                  Items
                </Button>
              </Table.Td>
            )}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </WideTable>
  );
}

function RunCell({ run }: { readonly run: Run }) {
  return (
    <Table.Td maw={320} className="wrapping-cell">
      <LinkAnchor to="/runs/$id" params={{ id: run.id }} size="sm" className="break">
        {nameOf(run)}
      </LinkAnchor>
    </Table.Td>
  );
}

function Interval({ scores: { mean_difference, ci95 } }: { readonly scores: Compared }) {
  const [low, high] = ci95 ?? [];
  if (mean_difference === null || low === undefined || high === undefined) return '–';
  return (
    <>
      <IntervalBar value={mean_difference} low={low} high={high} />
      <Text span size="xs" c="dimmed">
        {formatSigned(low)} to {formatSigned(high)}
      </Text>
    </>
  );
}
