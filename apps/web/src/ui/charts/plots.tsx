import { VisuallyHidden } from '@mantine/core';
import {
  Bar,
  BarChart,
  CartesianGrid,
  ErrorBar,
  Scatter as Points,
  ResponsiveContainer,
  ScatterChart,
  Tooltip,
  XAxis,
  YAxis,
} from 'recharts';
import { Dimmed } from '../text/dimmed.ts';
import { formatCount, formatScore } from '../text/formats.ts';
import { AXIS, binsOf, COLORS, TOOLTIP } from './interval-bar.tsx';

const HISTOGRAM_HEIGHT = 160;

/** How values are distributed, with the same numbers as a table for screen readers. */
export function Histogram(props: {
  readonly title: string;
  readonly values: readonly number[];
  readonly format: (value: number) => string;
}) {
  const { title, values, format } = props;
  const bins = binsOf(values, format);
  if (bins.length === 0) return null;
  return (
    <figure className="chart">
      <Dimmed component="figcaption" size="xs" fw={600}>
        {title}
      </Dimmed>
      <div aria-hidden="true">
        <ResponsiveContainer width="100%" height={HISTOGRAM_HEIGHT}>
          <BarChart data={[...bins]} accessibilityLayer={false} barCategoryGap={1}>
            <CartesianGrid vertical={false} stroke={COLORS.grid} />
            <XAxis dataKey="label" {...AXIS} interval="preserveStartEnd" />
            <YAxis {...AXIS} width={44} allowDecimals={false} />
            <Tooltip {...TOOLTIP} />
            <Bar dataKey="count" fill={COLORS.bar} isAnimationActive={false} />
          </BarChart>
        </ResponsiveContainer>
      </div>
      <VisuallyHidden>
        <table>
          <caption>{title}</caption>
          <tbody>
            {bins.map(({ label, count }) => (
              <tr key={label}>
                <th>{label}</th>
                <td>{formatCount(count)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </VisuallyHidden>
    </figure>
  );
}

const SCATTER_HEIGHT = 240;

interface ScatterPoint {
  readonly name: string;
  readonly x: number;
  readonly score: number;
  readonly low: number;
  readonly high: number;
}

/** Scores from 0 to 1 against another number, with a line through some of them. What it shows is also a table next to it. */
export function ScoreScatter(props: {
  readonly label: string;
  readonly points: readonly ScatterPoint[];
  readonly line: readonly Pick<ScatterPoint, 'x' | 'score'>[];
  readonly format: (x: number) => string;
}) {
  const { label, points, line, format } = props;
  return (
    <div className="chart">
      <div aria-hidden="true">
        <ResponsiveContainer width="100%" height={SCATTER_HEIGHT}>
          <ScatterChart accessibilityLayer={false} margin={{ top: 8, right: 16, bottom: 4, left: 0 }}>
            <CartesianGrid stroke={COLORS.grid} />
            <XAxis
              {...AXIS}
              dataKey="x"
              type="number"
              name={label}
              domain={[0, 'auto']}
              tickFormatter={format}
            />
            <YAxis {...AXIS} dataKey="score" type="number" name="Score" width={44} domain={[0, 1]} />
            <Tooltip
              {...TOOLTIP}
              labelFormatter={(_, shown) => String(shown[0]?.payload?.name ?? '')}
              formatter={(value, name) =>
                name === 'Score' ? formatScore(Number(value)) : format(Number(value))
              }
            />
            <Points
              data={[...line]}
              line={{ stroke: COLORS.text, strokeDasharray: '4 3' }}
              lineJointType="linear"
              shape={() => <g />}
              isAnimationActive={false}
              tooltipType="none"
            />
            <Points
              data={points.map(({ low, high, ...point }) => ({
                ...point,
                interval: [point.score - low, high - point.score],
              }))}
              fill={COLORS.bar}
              isAnimationActive={false}
            >
              <ErrorBar
                dataKey="interval"
                direction="y"
                width={4}
                stroke={COLORS.bar}
                isAnimationActive={false}
              />
            </Points>
          </ScatterChart>
        </ResponsiveContainer>
      </div>
    </div>
  );
}
