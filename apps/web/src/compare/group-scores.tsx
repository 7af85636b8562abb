import { Text } from '@mantine/core';
import { nameOf, type Run } from '../runs/use-run.ts';
import { Columns } from '../ui/layout/columns.tsx';
import { Part } from '../ui/layout/part.tsx';
import { clampedInterval, formatScore } from '../ui/text/formats.ts';

const MAX_ROWS = 50;

interface Group {
  readonly kind: 'by_section' | 'by_type' | 'by_tag';
  readonly name: string;
}

/** The scores of runs by section, type and tag, with their intervals. */
export function GroupScores({ runs }: { readonly runs: readonly Run[] }) {
  const groups = (['by_section', 'by_type', 'by_tag'] as const).flatMap((kind): readonly Group[] => {
    const names = Object.keys(runs[0]?.scores[kind] ?? {}).filter((name) =>
      runs.every(({ scores }) => scores[kind]?.[name]?.mean != null),
    );
    return names.length > 1 ? names.map((name) => ({ kind, name })) : [];
  });
  if (groups.length === 0) return null;
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
