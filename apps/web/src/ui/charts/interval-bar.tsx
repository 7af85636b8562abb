import { clampedInterval } from '../text/formats.ts';
import { COLORS } from './chart-style.ts';

const WIDTH = 160;
const HEIGHT = 14;

/** A difference of scores with its interval, on a scale around 0. Anything beyond the scale is not drawn. */
export function IntervalBar({
  value,
  low,
  high,
  scale,
}: {
  readonly value: number;
  readonly low: number;
  readonly high: number;
  /** The difference at either end. */
  readonly scale: number;
}) {
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
export function ScoreBar({
  mean,
  ci95,
  width = '100%',
}: {
  readonly mean: number;
  readonly ci95: readonly number[] | null;
  /** Pixels; by default all there are. */
  readonly width?: number | '100%';
}) {
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
