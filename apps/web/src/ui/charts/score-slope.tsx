import { Text, VisuallyHidden } from '@mantine/core';
import { CartesianGrid, Line, LineChart, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { formatScore } from '../text/formats.ts';
import { AXIS, COLORS, TOOLTIP } from './chart-style.ts';

const HEIGHT = 200;
const MAX_LINES = 20;

interface ScoredRun {
  readonly name: string;
  readonly groups: Readonly<Record<string, { readonly mean: number | null }>>;
}

/** How the score of each group changes from run to run, and the same as a table for screen readers. */
export default function ScoreSlope({
  title,
  runs,
}: {
  readonly title: string;
  readonly runs: readonly ScoredRun[];
}) {
  const names = Object.keys(runs[0]?.groups ?? {})
    .filter((name) => runs.every(({ groups }) => groups[name]?.mean != null))
    .slice(0, MAX_LINES);
  if (names.length === 0) return null;
  const points = runs.map(({ name, groups }) => ({
    run: name,
    ...Object.fromEntries(names.map((group, at) => [`group ${at}`, groups[group]?.mean ?? 0])),
  }));
  return (
    <figure className="chart">
      <Text component="figcaption" size="xs" c="dimmed" fw={600}>
        {title}
      </Text>
      <div aria-hidden="true">
        <ResponsiveContainer width="100%" height={HEIGHT}>
          <LineChart data={points} accessibilityLayer={false}>
            <CartesianGrid vertical={false} stroke={COLORS.grid} />
            <XAxis dataKey="run" padding={{ left: 60, right: 60 }} {...AXIS} />
            <YAxis domain={[0, 1]} width={44} {...AXIS} />
            <Tooltip {...TOOLTIP} formatter={(value) => formatScore(Number(value))} />
            {names.map((name, at) => (
              <Line
                key={name}
                name={name}
                dataKey={`group ${at}`}
                stroke={COLORS.bar}
                isAnimationActive={false}
                dot={{ r: 4 }}
              />
            ))}
          </LineChart>
        </ResponsiveContainer>
      </div>
      <VisuallyHidden>
        <table>
          <caption>{title}</caption>
          <tbody>
            {names.map((name) => (
              <tr key={name}>
                <th>{name}</th>
                {runs.map(({ groups }, at) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: two runs may have the same name
                  <td key={at}>{formatScore(groups[name]?.mean)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </VisuallyHidden>
    </figure>
  );
}
