import { Text, VisuallyHidden } from '@mantine/core';
import { CartesianGrid, Line, LineChart, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { formatScore } from '../text/formats.ts';
import { AXIS, COLORS, TOOLTIP } from './chart-style.ts';

const HEIGHT = 200;
const MAX_LINES = 20;

type Groups = Readonly<Record<string, { readonly mean: number | null }>>;

/** How the score of each group changes from one run to another, and the same as a table for screen readers. */
export default function ScoreSlope({
  title,
  before,
  after,
}: {
  readonly title: string;
  readonly before: Groups;
  readonly after: Groups;
}) {
  const names = Object.keys(before)
    .filter((name) => before[name]?.mean != null && after[name]?.mean != null)
    .slice(0, MAX_LINES);
  if (names.length === 0) return null;
  const pointOf = (at: string, groups: Groups): Record<string, string | number> => ({
    at,
    ...Object.fromEntries(names.map((name) => [name, groups[name]?.mean ?? 0])),
  });
  return (
    <figure className="chart">
      <Text component="figcaption" size="xs" c="dimmed" fw={600}>
        {title}
      </Text>
      <div aria-hidden="true">
        <ResponsiveContainer width="100%" height={HEIGHT}>
          <LineChart data={[pointOf('first', before), pointOf('other', after)]} accessibilityLayer={false}>
            <CartesianGrid vertical={false} stroke={COLORS.grid} />
            <XAxis dataKey="at" padding={{ left: 60, right: 60 }} {...AXIS} />
            <YAxis domain={[0, 1]} width={44} {...AXIS} />
            <Tooltip {...TOOLTIP} formatter={(value) => formatScore(Number(value))} />
            {names.map((name) => (
              <Line key={name} dataKey={name} stroke={COLORS.bar} isAnimationActive={false} dot={{ r: 4 }} />
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
                <td>{formatScore(before[name]?.mean)}</td>
                <td>{formatScore(after[name]?.mean)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </VisuallyHidden>
    </figure>
  );
}
