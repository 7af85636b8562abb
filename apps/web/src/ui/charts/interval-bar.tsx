import { Group, Text } from '@mantine/core';
import { Note } from '../text/dimmed.ts';
import { clampedInterval } from '../text/formats.ts';

/** Colours of all charts: readable in light and dark. */
export const COLORS = {
  bar: 'var(--mantine-primary-color-filled)',
  grid: 'var(--mantine-color-default-border)',
  text: 'var(--mantine-color-dimmed)',
  track: 'light-dark(#f1f3f5, #3b3b3b)',
  mean: 'light-dark(var(--mantine-color-brand-3), var(--mantine-color-brand-6))',
} as const;

export const AXIS = {
  tick: { fontSize: 11, fill: COLORS.text },
  tickLine: false,
  axisLine: { stroke: COLORS.grid },
} as const;

export const TOOLTIP = {
  isAnimationActive: false,
  cursor: { fill: 'var(--mantine-color-default-hover)' },
  contentStyle: {
    background: 'var(--mantine-color-body)',
    border: '1px solid var(--mantine-color-default-border)',
    fontSize: 12,
  },
} as const;

const WIDTH = 160;
const HEIGHT = 14;

/** A difference of scores with its interval, on a scale around 0. Anything beyond the scale is not drawn. */
export function IntervalBar(props: {
  readonly value: number;
  readonly ci95: readonly number[] | null;
  /** The difference at either end. */
  readonly scale: number;
}) {
  const { value, ci95, scale } = props;
  const [low = value, high = value] = ci95 ?? [];
  const at = (difference: number): number =>
    ((Math.min(scale, Math.max(-scale, difference)) / scale + 1) / 2) * WIDTH;
  const middle = HEIGHT / 2;
  return (
    <svg
      viewBox={`-4 0 ${WIDTH + 8} ${HEIGHT}`}
      width={WIDTH}
      height={HEIGHT}
      aria-hidden="true"
      display="block"
    >
      <line x1={0} x2={WIDTH} y1={middle} y2={middle} stroke={COLORS.grid} />
      <line x1={at(0)} x2={at(0)} y1={0} y2={HEIGHT} stroke={COLORS.text} strokeDasharray="2 2" />
      <line x1={at(low)} x2={at(high)} y1={middle} y2={middle} stroke={COLORS.bar} strokeWidth={3} />
      <circle cx={at(value)} cy={middle} r={4} fill={COLORS.bar} />
    </svg>
  );
}

/** A bar from 0 to 1, with the interval as a line between two ends. What is beyond 0 and 1 is not drawn. */
export function ScoreBar(props: {
  readonly mean: number;
  readonly ci95: readonly number[] | null;
  /** Pixels; by default all there are. */
  readonly width?: number | '100%';
}) {
  const { mean, ci95, width = '100%' } = props;
  const x = (score: number): string => `${100 * Math.min(1, Math.max(0, score))}%`;
  const interval = clampedInterval(ci95);
  const middle = HEIGHT / 2;
  return (
    <svg width={width} height={HEIGHT} aria-hidden="true" display="block">
      <rect width="100%" height={HEIGHT} rx={2} fill={COLORS.track} />
      <rect width={x(mean)} height={HEIGHT} rx={2} fill={COLORS.mean} />
      {interval !== null && (
        <g stroke="currentColor" strokeWidth={2}>
          <line x1={x(interval[0])} x2={x(interval[1])} y1={middle} y2={middle} />
          {interval.map((end) => (
            <line key={end} x1={x(end)} x2={x(end)} y1={3} y2={HEIGHT - 3} />
          ))}
        </g>
      )}
    </svg>
  );
}

const [LINE_WIDTH, LINE_HEIGHT] = [240, 36] as const;

export function Sparkline(props: {
  readonly title: string;
  readonly values: readonly number[];
  readonly format: (value: number) => string;
}) {
  const { title, values, format } = props;
  const most = Math.max(...values, 0);
  const step = LINE_WIDTH / Math.max(1, values.length - 1);
  const points = values
    .map(
      (value, at) =>
        `${(at * step).toFixed(1)},${(LINE_HEIGHT - 2 - (value / (most || 1)) * (LINE_HEIGHT - 4)).toFixed(1)}`,
    )
    .join(' ');
  const numbers = values.length === 0 ? '–' : `${format(values.at(-1) ?? 0)}, peak ${format(most)}`;
  return (
    <figure className="chart">
      <Group component="figcaption" justify="space-between" gap="xs" maw={LINE_WIDTH}>
        <Note>{title}</Note>
        <Text span size="xs" className="numbers">
          {numbers}
        </Text>
      </Group>
      <svg
        viewBox={`0 0 ${LINE_WIDTH} ${LINE_HEIGHT}`}
        width={LINE_WIDTH}
        height={LINE_HEIGHT}
        aria-hidden="true"
        display="block"
      >
        <line x1={0} x2={LINE_WIDTH} y1={LINE_HEIGHT - 1} y2={LINE_HEIGHT - 1} stroke={COLORS.grid} />
        <polyline points={points} fill="none" stroke={COLORS.bar} strokeWidth={1.5} />
      </svg>
    </figure>
  );
}

const MAX_BINS = 20;

/** Sorts values into at most twenty bins of equal width; a few different whole numbers get a bin each. */
export function binsOf(values: readonly number[], format: (value: number) => string) {
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  let isWhole = true;
  for (const value of values) {
    least = Math.min(least, value);
    most = Math.max(most, value);
    isWhole &&= Number.isInteger(value);
  }
  if (values.length === 0) return [];
  if (least === most) return [{ label: format(least), count: values.length }];
  // a bin of whole numbers has a whole number of them
  const span = isWhole ? most - least + 1 : most - least;
  const wanted = Math.min(MAX_BINS, Math.ceil(Math.sqrt(values.length)) + 1);
  const width = isWhole ? Math.ceil(span / wanted) : span / wanted;
  const size = isWhole ? Math.ceil(span / width) : wanted;
  const counts = new Array<number>(size).fill(0);
  for (const value of values) {
    const at = Math.min(size - 1, Math.floor((value - least) / width));
    counts[at] = (counts[at] ?? 0) + 1;
  }
  return counts.map((count, at) => {
    const [from, to] = [least + at * width, least + (at + 1) * width - (isWhole ? 1 : 0)];
    return { label: from === to ? format(from) : `${format(from)} – ${format(to)}`, count };
  });
}
