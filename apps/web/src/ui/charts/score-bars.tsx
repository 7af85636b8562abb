import { Text, VisuallyHidden } from '@mantine/core';
import { Bar, BarChart, CartesianGrid, ErrorBar, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { formatScore } from '../text/formats.ts';
import { AXIS, COLORS, TOOLTIP } from './chart-style.ts';

/** A score of one group, with the interval that holds the true mean in 95 % of samples. */
export interface GroupScore {
  readonly name: string;
  readonly mean: number;
  readonly ci95: readonly [low: number, high: number] | null;
  readonly count: number;
}

const ROW_PX = 28;
const AXIS_PX = 40;
/** Further groups are in the table of the page only. */
const MAX_BARS = 40;

/** Mean scores of groups as bars with their intervals, and as a table for screen readers. */
export function ScoreBars({
  title,
  groups,
}: {
  readonly title: string;
  readonly groups: readonly GroupScore[];
}) {
  if (groups.length === 0) return null;
  const data = groups.slice(0, MAX_BARS).map(({ name, mean, ci95 }) => ({
    name,
    mean,
    error: ci95 === null ? [0, 0] : [mean - ci95[0], ci95[1] - mean],
  }));
  return (
    <figure className="chart">
      <Text component="figcaption" size="xs" c="dimmed" fw={600}>
        {title}
      </Text>
      <div aria-hidden="true">
        <ResponsiveContainer width="100%" height={data.length * ROW_PX + AXIS_PX}>
          <BarChart data={data} layout="vertical" accessibilityLayer={false} barSize={14}>
            <CartesianGrid horizontal={false} stroke={COLORS.grid} />
            <XAxis type="number" domain={[0, 1]} {...AXIS} />
            <YAxis type="category" dataKey="name" width={120} {...AXIS} />
            <Tooltip {...TOOLTIP} formatter={(value) => formatScore(Number(value))} />
            <Bar dataKey="mean" fill={COLORS.bar} isAnimationActive={false}>
              <ErrorBar dataKey="error" direction="x" width={4} stroke={COLORS.error} />
            </Bar>
          </BarChart>
        </ResponsiveContainer>
      </div>
      <VisuallyHidden>
        <table>
          <caption>{title}</caption>
          <thead>
            <tr>
              <th>Group</th>
              <th>Mean</th>
              <th>Interval (95 %)</th>
              <th>Results</th>
            </tr>
          </thead>
          <tbody>
            {groups.map(({ name, mean, ci95, count }) => (
              <tr key={name}>
                <th>{name}</th>
                <td>{formatScore(mean)}</td>
                <td>{ci95 === null ? 'none' : `${formatScore(ci95[0])} to ${formatScore(ci95[1])}`}</td>
                <td>{count}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </VisuallyHidden>
    </figure>
  );
}
