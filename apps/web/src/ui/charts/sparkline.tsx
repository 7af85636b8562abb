import { Group, Text } from '@mantine/core';
import { Dimmed } from '../text/dimmed.ts';
import { COLORS } from './chart-style.ts';

const [WIDTH, HEIGHT] = [240, 36] as const;

/** How a number has changed, as a line with its newest and its highest value. */
export function Sparkline({
  title,
  values,
  format,
}: {
  readonly title: string;
  readonly values: readonly number[];
  readonly format: (value: number) => string;
}) {
  const most = Math.max(...values, 0);
  const step = WIDTH / Math.max(1, values.length - 1);
  const points = values
    .map(
      (value, at) =>
        `${(at * step).toFixed(1)},${(HEIGHT - 2 - (value / (most || 1)) * (HEIGHT - 4)).toFixed(1)}`,
    )
    .join(' ');
  const numbers = values.length === 0 ? '–' : `${format(values.at(-1) ?? 0)}, peak ${format(most)}`;
  return (
    <figure className="chart">
      <Group component="figcaption" justify="space-between" gap="xs" maw={WIDTH}>
        <Dimmed span size="xs">
          {title}
        </Dimmed>
        <Text span size="xs" className="numbers">
          {numbers}
        </Text>
      </Group>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        width={WIDTH}
        height={HEIGHT}
        aria-hidden="true"
        display="block"
      >
        <line x1={0} x2={WIDTH} y1={HEIGHT - 1} y2={HEIGHT - 1} stroke={COLORS.grid} />
        <polyline points={points} fill="none" stroke={COLORS.bar} strokeWidth={1.5} />
      </svg>
    </figure>
  );
}
