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
