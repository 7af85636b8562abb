import { Group, Progress, Text, UnstyledButton } from '@mantine/core';
import { TextButton } from '../buttons.tsx';
import { Part } from '../layout/page.tsx';
import { numbers } from '../table/cells.tsx';
import { DataTable } from '../table/data-table.tsx';
import type { Column } from '../table/table-model.ts';
import { Dimmed, Note } from '../text/dimmed.ts';
import { clampedInterval, formatCount, formatInterval, formatScore } from '../text/formats.ts';
import { ScoreBar } from './interval-bar.tsx';

const MAX_ROWS = 100;

const nameColumn = (label: string, onChoose: ((name: string) => void) | undefined): Column<GroupScore> => ({
  label,
  size: 90,
  share: 3,
  cell: ({ name }) =>
    onChoose === undefined ? (
      <Text size="sm" truncate dir="auto" title={name}>
        {name}
      </Text>
    ) : (
      <TextButton label={name} title={name} maw="100%" truncate onClick={() => onChoose(name)} />
    ),
});

const NUMBERS: readonly Column<GroupScore>[] = [
  { label: '0 to 1', size: 80, share: 7, cell: ({ mean, ci95 }) => <ScoreBar mean={mean} ci95={ci95} /> },
  { label: 'Score', size: 60, isNumber: true, cell: ({ mean }) => formatScore(mean) },
  numbers('95 %', ({ ci95 }) => <Note>{formatInterval(clampedInterval(ci95))}</Note>, {
    size: 110,
    isOptional: true,
  }),
  numbers('Scored', ({ count }) => <Dimmed span>{formatCount(count)}</Dimmed>, {
    size: 70,
    isOptional: true,
  }),
];

export function ScoreBars(props: {
  readonly title: string;
  readonly nameHeader?: string;
  readonly groups: readonly GroupScore[];
  readonly onChoose?: (name: string) => void;
}) {
  const { title, nameHeader = 'Group', groups, onChoose } = props;
  if (groups.length === 0) return null;
  return (
    <>
      <DataTable
        label={title}
        caption={<caption className="chart-title">{title}</caption>}
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

/** A score of one group, with the interval that holds the true mean in 95 % of samples. */
export interface GroupScore {
  readonly name: string;
  readonly mean: number;
  readonly ci95: readonly number[] | null;
  /** Scored results. */
  readonly count: number;
}

type Groups = Readonly<
  Record<
    string,
    { readonly mean: number | null; readonly ci95: readonly number[] | null; readonly ok?: number }
  >
>;

/** The groups with a score, the best first. */
export function groupScores(groups: Groups | undefined): readonly GroupScore[] {
  return Object.entries(groups ?? {})
    .flatMap(([name, { mean, ci95, ok }]): GroupScore[] =>
      mean === null ? [] : [{ name, mean, ci95, count: ok ?? 0 }],
    )
    .sort((a, b) => b.mean - a.mean);
}

const MAX_COUNTS = 30;

/** Counts by name, the largest first, as bars that lead to what was counted. */
export function CountBars(props: {
  readonly title: string;
  readonly counts: ReadonlyMap<string, number>;
  readonly onChoose: (name: string) => void;
}) {
  const { title, counts, onChoose } = props;
  if (counts.size === 0) return null;
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  const most = sorted[0]?.[1] ?? 1;
  return (
    <Part title={title}>
      <ul className="plain-list">
        {sorted.slice(0, MAX_COUNTS).map(([name, count]) => (
          <li key={name}>
            <UnstyledButton display="block" w="100%" py={3} onClick={() => onChoose(name)}>
              <Group justify="space-between" gap="xs" wrap="nowrap">
                <Text span size="sm" dir="auto" className="ellipsis">
                  {name}
                </Text>
                <Dimmed span className="numbers">
                  {formatCount(count)}
                </Dimmed>
              </Group>
              <Progress value={(100 * count) / most} size="xs" aria-hidden="true" />
            </UnstyledButton>
          </li>
        ))}
      </ul>
      {sorted.length > MAX_COUNTS && (
        <Dimmed size="xs">and {formatCount(sorted.length - MAX_COUNTS)} more</Dimmed>
      )}
    </Part>
  );
}
