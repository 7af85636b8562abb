import { COLORS } from './chart-style.ts';

const WIDTH = 200;
const LINE_HEIGHT = 10;

/** A score with its interval. */
export interface ScoreInterval {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

/** Scores with their intervals below each other on one scale; the first is the baseline, an empty circle. */
export function IntervalLines({
  scores,
  from,
  to,
}: {
  readonly scores: readonly ScoreInterval[];
  /** The scores at both ends. */
  readonly from: number;
  readonly to: number;
}) {
  const at = (score: number): number => ((score - from) / (to - from || 1)) * WIDTH;
  const [baseline] = scores;
  return (
    <svg
      viewBox={`-5 0 ${WIDTH + 10} ${LINE_HEIGHT * scores.length}`}
      width={WIDTH}
      height={LINE_HEIGHT * scores.length}
      aria-hidden="true"
      display="block"
    >
      {baseline !== undefined && (
        <line
          x1={at(baseline.mean)}
          x2={at(baseline.mean)}
          y1={0}
          y2={LINE_HEIGHT * scores.length}
          stroke={COLORS.grid}
          strokeDasharray="2 2"
        />
      )}
      {scores.map(({ mean, low, high }, row) => {
        const y = LINE_HEIGHT * (row + 0.5);
        const color = row === 0 ? COLORS.text : COLORS.bar;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the order is that of the runs
          <g key={row}>
            <line x1={at(low)} x2={at(high)} y1={y} y2={y} stroke={color} strokeWidth={2} />
            <circle
              cx={at(mean)}
              cy={y}
              r={3.5}
              stroke={color}
              fill={row === 0 ? 'var(--mantine-color-body)' : color}
            />
          </g>
        );
      })}
    </svg>
  );
}
