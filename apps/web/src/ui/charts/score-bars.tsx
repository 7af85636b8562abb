import { Table, Text } from '@mantine/core';
import { formatCount, formatScore } from '../text/formats.ts';

/** A score of one group, with the interval that holds the true mean in 95 % of samples. */
export interface GroupScore {
  readonly name: string;
  readonly mean: number;
  readonly ci95: readonly [low: number, high: number] | null;
  readonly count: number;
}

const MAX_ROWS = 100;

/** Mean scores of groups: a row each, with a bar and its interval, and the numbers themselves. */
export function ScoreBars({
  title,
  groups,
}: {
  readonly title: string;
  readonly groups: readonly GroupScore[];
}) {
  if (groups.length === 0) return null;
  return (
    <section className="scroll-x" aria-label={title} tabIndex={0}>
      <Table verticalSpacing={3} horizontalSpacing={6} layout="fixed" captionSide="top">
        <Table.Caption className="chart-title">{title}</Table.Caption>
        <Table.Thead>
          <Table.Tr className="chart-head">
            <Table.Th w="28%">Group</Table.Th>
            <Table.Th>0 to 1</Table.Th>
            <Table.Th w={60} ta="end">
              Score
            </Table.Th>
            <Table.Th w={110} ta="end" visibleFrom="xs">
              95 %
            </Table.Th>
            <Table.Th w={70} ta="end" visibleFrom="xs">
              Results
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody className="numbers">
          {groups.slice(0, MAX_ROWS).map((group) => (
            <Table.Tr key={group.name}>
              <Table.Td className="ellipsis" title={group.name}>
                {group.name}
              </Table.Td>
              <Table.Td>
                <ScoreBar group={group} />
              </Table.Td>
              <Table.Td ta="end">{formatScore(group.mean)}</Table.Td>
              <Table.Td ta="end" c="dimmed" fz="xs" visibleFrom="xs">
                {group.ci95 === null ? '–' : group.ci95.map(formatScore).join(' to ')}
              </Table.Td>
              <Table.Td ta="end" c="dimmed" visibleFrom="xs">
                {formatCount(group.count)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {groups.length > MAX_ROWS && (
        <Text size="xs" c="dimmed">
          and {formatCount(groups.length - MAX_ROWS)} more
        </Text>
      )}
    </section>
  );
}

/** A bar from 0 to 1. An interval beyond them is drawn as far as the bar can be. */
function ScoreBar({ group: { mean, ci95 } }: { readonly group: GroupScore }) {
  const percent = (score: number): string => `${100 * Math.min(1, Math.max(0, score))}%`;
  const [low, high] = ci95 ?? [];
  return (
    <div className="score-bar" aria-hidden="true">
      <div className="score-bar-mean" style={{ width: percent(mean) }} />
      {low !== undefined && high !== undefined && (
        <div
          className="score-bar-interval"
          style={{ left: percent(low), right: `calc(100% - ${percent(high)})` }}
        />
      )}
    </div>
  );
}
