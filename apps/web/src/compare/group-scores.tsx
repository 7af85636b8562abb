import { Text } from '@mantine/core';
import { nameOf, type Run } from '../runs/use-run.ts';
import { IntervalLines, type ScoreInterval } from '../ui/charts/interval-lines.tsx';
import { Columns } from '../ui/layout/columns.tsx';
import { Part } from '../ui/layout/part.tsx';
import { clampedInterval, formatScore } from '../ui/text/formats.ts';

const MAX_ROWS = 50;

interface Group {
  readonly kind: 'by_section' | 'by_type' | 'by_tag';
  readonly name: string;
}

/** The scores of a group with their intervals, the baseline first. */
const intervalsOf = (runs: readonly Run[], { kind, name }: Group): readonly ScoreInterval[] =>
  runs.map(({ scores }) => {
    const group = scores[kind]?.[name];
    const mean = group?.mean ?? 0;
    const [low = mean, high = mean] = clampedInterval(group?.ci95) ?? [];
    return { mean, low, high };
  });

/** The scores of runs by section, type and tag, with their intervals. */
export function GroupScores({ runs }: { readonly runs: readonly Run[] }) {
  const groups = (['by_section', 'by_type', 'by_tag'] as const).flatMap((kind): readonly Group[] => {
    const names = Object.keys(runs[0]?.scores[kind] ?? {}).filter((name) =>
      runs.every(({ scores }) => scores[kind]?.[name]?.mean != null),
    );
    return names.length > 1 ? names.map((name) => ({ kind, name })) : [];
  });
  if (groups.length === 0) return null;
  // one scale for all groups, which the intervals fill
  const ends = groups.flatMap((group) => intervalsOf(runs, group).flatMap(({ low, high }) => [low, high]));
  const [from, to] = [Math.min(...ends), Math.max(...ends)];
  return (
    <Part title="Scores by section, type and tag">
      <Columns
        label="Scores by group"
        maxHeight={320}
        verticalSpacing={3}
        columns={[
          {
            header: 'Group',
            wraps: true,
            cell: ({ kind, name }: Group) => (
              <Text span size="sm" dir="auto">
                {name}{' '}
                <Text span size="xs" c="dimmed">
                  {kind.slice('by_'.length)}
                </Text>
              </Text>
            ),
          },
          {
            header: '95 % intervals',
            cell: (group: Group) => <IntervalLines scores={intervalsOf(runs, group)} from={from} to={to} />,
          },
          ...runs.map((run, at) => ({
            header: `${nameOf(run)}${'\u200b'.repeat(at)}`,
            cell: ({ kind, name }: Group) => {
              const group = run.scores[kind]?.[name];
              const interval = clampedInterval(group?.ci95);
              return (
                <>
                  {formatScore(group?.mean)}{' '}
                  {interval !== null && (
                    <Text span size="xs" c="dimmed">
                      {interval.map(formatScore).join(' to ')}
                    </Text>
                  )}
                </>
              );
            },
          })),
        ]}
        rows={groups.slice(0, MAX_ROWS)}
        keyOf={({ kind, name }) => `${kind} ${name}`}
      />
    </Part>
  );
}
