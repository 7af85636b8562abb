import { COLORS } from '../chart-style.ts';
import { Drawing, PADDING, shortName, TITLE } from './drawing.tsx';

/** A row of a drawing: what it is of, its value with an interval, and the numbers as text. */
interface DrawnRow {
  readonly name: string;
  readonly value: number;
  readonly low?: number | undefined;
  readonly high?: number | undefined;
  readonly note: string;
}

const [NAMES, PLOT, NOTES, ROW] = [220, 360, 460, 22] as const;
const MAX_NAME = 34;

/** Values with their intervals as a separate drawing: bars from the start of the scale, or points around its zero. */
export function RowsDrawing({
  title,
  rows,
  from,
  to,
}: {
  readonly title: string;
  readonly rows: readonly DrawnRow[];
  /** Values at both ends; below zero, the rows are points. */
  readonly from: number;
  readonly to: number;
}) {
  const x = (value: number): number =>
    PADDING + NAMES + ((Math.min(to, Math.max(from, value)) - from) / (to - from || 1)) * PLOT;
  const [width, height] = [NAMES + PLOT + NOTES + 2 * PADDING, TITLE + ROW * rows.length + PADDING];
  return (
    <Drawing {...{ title, width, height }}>
      {from < 0 && (
        <line
          x1={x(0)}
          x2={x(0)}
          y1={TITLE}
          y2={height - PADDING}
          stroke={COLORS.text}
          strokeDasharray="2 2"
        />
      )}
      {rows.map(({ name, value, low, high, note }, at) => {
        const middle = TITLE + ROW * (at + 0.5);
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a drawing never changes
          <g key={at}>
            <text x={PADDING} y={middle + 4}>
              {shortName(name, MAX_NAME)}
            </text>
            {from < 0 ? (
              <line x1={x(from)} x2={x(to)} y1={middle} y2={middle} stroke={COLORS.grid} />
            ) : (
              <rect x={x(from)} y={middle - 6} width={x(value) - x(from)} height={12} fill={COLORS.pale} />
            )}
            {low !== undefined && high !== undefined && (
              <line x1={x(low)} x2={x(high)} y1={middle} y2={middle} stroke={COLORS.bar} strokeWidth={2} />
            )}
            {from < 0 && <circle cx={x(value)} cy={middle} r={4} fill={COLORS.bar} />}
            <text x={PADDING + NAMES + PLOT + 12} y={middle + 4}>
              {note}
            </text>
          </g>
        );
      })}
    </Drawing>
  );
}
