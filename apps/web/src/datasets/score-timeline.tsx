import { COLORS } from '../ui/charts/chart-style.ts';
import { Dimmed } from '../ui/text/dimmed.ts';
import { clampedInterval } from '../ui/text/formats.ts';

const [WIDTH, HEIGHT, LEFT, TOP, BOTTOM] = [640, 170, 34, 14, 22] as const;
const TEXT = 'Scores over time and versions, with their 95 % intervals';
const GRID = [0, 0.25, 0.5, 0.75, 1] as const;

/** A score at a time. */
interface TimedScore {
  readonly id: string;
  readonly atMs: number;
  /** Number of the version of the dataset. */
  readonly version: number;
  readonly mean: number;
  readonly ci95: readonly number[] | null;
}

/** Scores over time with their intervals; a line marks where the next version of the dataset begins. */
export function ScoreTimeline({ scores }: { readonly scores: readonly TimedScore[] }) {
  const [first] = scores;
  const last = scores.at(-1);
  if (first === undefined || last === undefined || scores.length < 2) return null;
  const spanMs = last.atMs - first.atMs || 1;
  const x = ({ atMs }: TimedScore): number =>
    LEFT + 10 + ((atMs - first.atMs) / spanMs) * (WIDTH - LEFT - 20);
  const y = (score: number): number => TOP + (1 - score) * (HEIGHT - TOP - BOTTOM);
  const starts = scores.filter(({ version }, at) => version !== scores[at - 1]?.version);
  const isOneDay = new Date(first.atMs).toDateString() === new Date(last.atMs).toDateString();
  const date = (atMs: number): string =>
    isOneDay
      ? new Date(atMs).toLocaleTimeString('en-GB')
      : new Date(atMs).toLocaleDateString('en-GB', { dateStyle: 'medium' });
  return (
    <figure className="chart">
      <Dimmed component="figcaption" size="xs">
        {TEXT}
      </Dimmed>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width="100%" style={{ maxWidth: WIDTH }} aria-hidden="true">
        {GRID.map((score) => (
          <g key={score}>
            <line x1={LEFT} x2={WIDTH} y1={y(score)} y2={y(score)} stroke={COLORS.grid} />
            <text x={LEFT - 4} y={y(score) + 4} fontSize={10} textAnchor="end" fill={COLORS.text}>
              {score}
            </text>
          </g>
        ))}
        {starts.map((score) => (
          <g key={score.id}>
            <line
              x1={x(score) - 6}
              x2={x(score) - 6}
              y1={TOP}
              y2={HEIGHT - BOTTOM}
              stroke={COLORS.grid}
              strokeDasharray="3 2"
            />
            <text x={x(score) - 4} y={TOP - 4} fontSize={10} fill={COLORS.text}>
              v{score.version}
            </text>
          </g>
        ))}
        {scores.map((score) => {
          const [low, high] = clampedInterval(score.ci95) ?? [score.mean, score.mean];
          return (
            <g key={score.id}>
              <line
                x1={x(score)}
                x2={x(score)}
                y1={y(low)}
                y2={y(high)}
                stroke={COLORS.bar}
                strokeWidth={2}
              />
              <circle cx={x(score)} cy={y(score.mean)} r={4} fill={COLORS.bar} />
            </g>
          );
        })}
        <text x={LEFT} y={HEIGHT - 6} fontSize={10} fill={COLORS.text}>
          {date(first.atMs)}
        </text>
        <text x={WIDTH} y={HEIGHT - 6} fontSize={10} textAnchor="end" fill={COLORS.text}>
          {date(last.atMs)}
        </text>
      </svg>
    </figure>
  );
}
