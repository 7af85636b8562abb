import { Anchor, Table, Text } from '@mantine/core';
import type { ReactElement } from 'react';
import { type Column, Columns } from '../layout/columns.tsx';
import { Dimmed } from '../text/dimmed.ts';
import { clampedInterval, formatCount, formatInterval, formatScore } from '../text/formats.ts';
import type { GroupScore } from './group-scores.ts';
import { RowsDrawing } from './save/rows-drawing.tsx';
import { SaveChart } from './save/save-chart.tsx';
import { ScoreBar } from './score-bar.tsx';

const MAX_ROWS = 100;

const nameColumn = (header: string, onChoose: ((name: string) => void) | undefined): Column<GroupScore> => ({
  header,
  width: '28%',
  cell: ({ name }) =>
    onChoose === undefined ? (
      <Text size="sm" truncate dir="auto" title={name}>
        {name}
      </Text>
    ) : (
      <Anchor
        component="button"
        type="button"
        size="sm"
        maw="100%"
        truncate
        dir="auto"
        title={name}
        onClick={() => onChoose(name)}
      >
        {name}
      </Anchor>
    ),
});

const NUMBERS: readonly Column<GroupScore>[] = [
  { header: '0 to 1', cell: ({ mean, ci95 }) => <ScoreBar mean={mean} ci95={ci95} /> },
  { header: 'Score', width: 60, align: 'end', cell: ({ mean }) => formatScore(mean) },
  {
    header: '95 %',
    width: 110,
    align: 'end',
    visibleFrom: 'xs',
    cell: ({ ci95 }) => (
      <Dimmed span size="xs">
        {formatInterval(clampedInterval(ci95))}
      </Dimmed>
    ),
  },
  {
    header: 'Scored',
    width: 70,
    align: 'end',
    visibleFrom: 'xs',
    cell: ({ count }) => <Dimmed span>{formatCount(count)}</Dimmed>,
  },
];

/** Mean scores of groups: a row each, with a bar and its interval, and the numbers themselves. */
export function ScoreBars({
  title,
  nameHeader = 'Group',
  groups,
  onChoose,
}: {
  readonly title: string;
  /** What the names are of. */
  readonly nameHeader?: string;
  readonly groups: readonly GroupScore[];
  /** Shows what is in a group. */
  readonly onChoose?: (name: string) => void;
}) {
  if (groups.length === 0) return null;
  return (
    <>
      <Columns
        label={title}
        verticalSpacing={3}
        horizontalSpacing={6}
        layout="fixed"
        captionSide="top"
        caption={
          <Table.Caption className="chart-title">
            {title} <SaveChart title={title} draw={() => drawing(title, groups.slice(0, MAX_ROWS))} />
          </Table.Caption>
        }
        columns={[nameColumn(nameHeader, onChoose), ...NUMBERS]}
        rows={groups.slice(0, MAX_ROWS)}
        keyOf={({ name }, index) => `${index} ${name}`}
      />
      {groups.length > MAX_ROWS && (
        <Dimmed size="xs">and {formatCount(groups.length - MAX_ROWS)} more</Dimmed>
      )}
    </>
  );
}

/** The same as a drawing for a file. */
const drawing = (title: string, groups: readonly GroupScore[]): ReactElement => (
  <RowsDrawing
    title={title}
    from={0}
    to={1}
    rows={groups.map(({ name, mean, ci95, count }) => {
      const [low, high] = clampedInterval(ci95) ?? [];
      const interval = low === undefined ? '' : ` (${formatScore(low)} to ${formatScore(high)})`;
      return { name, value: mean, low, high, note: `${formatScore(mean)}${interval}, ${formatCount(count)}` };
    })}
  />
);
