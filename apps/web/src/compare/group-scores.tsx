import { Text } from '@mantine/core';
import { nameOf, type Run } from '../runs/use-run.ts';
import { IntervalLines } from '../ui/charts/interval-lines.tsx';
import { Columns } from '../ui/layout/columns.tsx';
import { Part } from '../ui/layout/part.tsx';
import { clampedInterval, formatScore } from '../ui/text/formats.ts';
import { type Group, groupsOf, intervalsOf, scaleOf } from './groups-of.ts';

const MAX_ROWS = 50;

/** The scores of runs by section, type and tag, with their intervals. */
export function GroupScores({ runs }: { readonly runs: readonly Run[] }) {
  const groups = groupsOf(runs);
  if (groups.length === 0) return null;
  const [from, to] = scaleOf(runs, groups);
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
            minWidth: 110,
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
