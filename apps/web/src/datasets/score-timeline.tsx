import type { Run } from '../runs/queries.ts';
import { COLORS } from '../ui/charts/interval-bar.tsx';
import { Dimmed } from '../ui/text/dimmed.ts';
import { clampedInterval } from '../ui/text/formats.ts';

const [WIDTH, HEIGHT, LEFT, TOP, BOTTOM] = [640, 170, 34, 14, 22] as const;
const TEXT = 'Scores over time and versions, with their 95 % intervals';
const GRID = [0, 0.25, 0.5, 0.75, 1] as const;

/** The scores of runs, the oldest first, with their intervals; a line marks where the next version of the dataset begins. */
export function ScoreTimeline({ runs }: { readonly runs: readonly Run[] }) {
  if (runs.length < 2) return null;
  const timeOf = (run: Run | undefined): number => Date.parse(run?.created_at ?? '');
  const [first, last] = [timeOf(runs[0]), timeOf(runs.at(-1))];
  const x = (run: Run): number =>
    LEFT + 10 + ((timeOf(run) - first) / (last - first || 1)) * (WIDTH - LEFT - 20);
  const y = (score: number): number => TOP + (1 - score) * (HEIGHT - TOP - BOTTOM);
  const starts = runs.filter((run, at) => run.dataset_version !== runs[at - 1]?.dataset_version);
  const isOneDay = new Date(first).toDateString() === new Date(last).toDateString();
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
        {starts.map((run) => (
          <g key={run.id}>
            <line
              x1={x(run) - 6}
              x2={x(run) - 6}
              y1={TOP}
              y2={HEIGHT - BOTTOM}
              stroke={COLORS.grid}
              strokeDasharray="3 2"
            />
            <text x={x(run) - 4} y={TOP - 4} fontSize={10} fill={COLORS.text}>
              v{run.dataset_version}
            </text>
          </g>
        ))}
        {runs.map((run) => {
          const mean = run.scores.mean ?? 0;
          const [low, high] = clampedInterval(run.scores.ci95) ?? [mean, mean];
          return (
            <g key={run.id}>
              <line x1={x(run)} x2={x(run)} y1={y(low)} y2={y(high)} stroke={COLORS.bar} strokeWidth={2} />
              <circle cx={x(run)} cy={y(mean)} r={4} fill={COLORS.bar} />
            </g>
          );
        })}
        <text x={LEFT} y={HEIGHT - 6} fontSize={10} fill={COLORS.text}>
          {date(first)}
        </text>
        <text x={WIDTH} y={HEIGHT - 6} fontSize={10} textAnchor="end" fill={COLORS.text}>
          {date(last)}
        </text>
      </svg>
    </figure>
  );
}
