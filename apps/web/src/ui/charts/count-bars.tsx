import { Group, Progress, Text, UnstyledButton } from '@mantine/core';
import { Part } from '../layout/part.tsx';
import { Dimmed } from '../text/dimmed.ts';
import { formatCount } from '../text/formats.ts';

const MAX_ROWS = 30;

/** Counts by name, the largest first, as bars that lead to what was counted. */
export function CountBars({
  title,
  counts,
  onChoose,
}: {
  readonly title: string;
  readonly counts: ReadonlyMap<string, number>;
  readonly onChoose: (name: string) => void;
}) {
  if (counts.size === 0) return null;
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  const most = sorted[0]?.[1] ?? 1;
  return (
    <Part title={title}>
      <ul className="plain-list">
        {sorted.slice(0, MAX_ROWS).map(([name, count]) => (
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
      {sorted.length > MAX_ROWS && (
        <Dimmed size="xs">and {formatCount(sorted.length - MAX_ROWS)} more</Dimmed>
      )}
    </Part>
  );
}
