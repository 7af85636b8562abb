import { VisuallyHidden } from '@mantine/core';
import { Bar, BarChart, CartesianGrid, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { Dimmed } from '../text/dimmed.ts';
import { formatCount } from '../text/formats.ts';
import { AXIS, COLORS, TOOLTIP } from './chart-style.ts';
import { binsOf } from './interval-bar.tsx';

const HEIGHT = 160;

/** How values are distributed, with the same numbers as a table for screen readers. */
export function Histogram({
  title,
  values,
  format,
}: {
  readonly title: string;
  readonly values: readonly number[];
  readonly format: (value: number) => string;
}) {
  const bins = binsOf(values, format);
  if (bins.length === 0) return null;
  return (
    <figure className="chart">
      <Dimmed component="figcaption" size="xs" fw={600}>
        {title}
      </Dimmed>
      <div aria-hidden="true">
        <ResponsiveContainer width="100%" height={HEIGHT}>
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
