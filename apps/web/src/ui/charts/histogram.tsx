import { VisuallyHidden } from '@mantine/core';
import { Bar, BarChart, CartesianGrid, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { Dimmed } from '../text/dimmed.ts';
import { formatCount } from '../text/formats.ts';
import { AXIS, COLORS, TOOLTIP } from './chart-style.ts';

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
      <BinsTable title={title} bins={bins} />
    </figure>
  );
}

function BinsTable({ title, bins }: { readonly title: string; readonly bins: readonly Bin[] }) {
  return (
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
  );
}

/** One bar of a histogram. */
interface Bin {
  readonly label: string;
  readonly count: number;
}

const MAX_BINS = 20;

/** Sorts values into at most twenty bins of equal width; a few different whole numbers get a bin each. */
export function binsOf(values: readonly number[], format: (value: number) => string): readonly Bin[] {
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  let isWhole = true;
  for (const value of values) {
    least = Math.min(least, value);
    most = Math.max(most, value);
    isWhole &&= Number.isInteger(value);
  }
  if (values.length === 0) return [];
  if (least === most) return [{ label: format(least), count: values.length }];
  // a bin of whole numbers has a whole number of them
  const span = isWhole ? most - least + 1 : most - least;
  const wanted = Math.min(MAX_BINS, Math.ceil(Math.sqrt(values.length)) + 1);
  const width = isWhole ? Math.ceil(span / wanted) : span / wanted;
  const size = isWhole ? Math.ceil(span / width) : wanted;
  const counts = new Array<number>(size).fill(0);
  for (const value of values) {
    const at = Math.min(size - 1, Math.floor((value - least) / width));
    counts[at] = (counts[at] ?? 0) + 1;
  }
  return counts.map((count, at) => {
    const [from, to] = [least + at * width, least + (at + 1) * width - (isWhole ? 1 : 0)];
    return { label: from === to ? format(from) : `${format(from)} – ${format(to)}`, count };
  });
}
