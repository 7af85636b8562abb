import { Group, Text, UnstyledButton } from '@mantine/core';
import { COLORS } from '../../ui/charts/chart-style.ts';
import { Drawing, PADDING, shortName, TITLE } from '../../ui/charts/save/drawing.tsx';
import { SaveChart } from '../../ui/charts/save/save-chart.tsx';
import { clampedInterval, formatCount, formatInterval, formatScore } from '../../ui/text/formats.ts';
import type { RunSearch } from '../runs-search.ts';
import { type Slice, type SliceKey, sliceFilter, sliceName } from './slices.ts';

/** The scores of slices by two values as a table whose cells are the darker the better. */
export function HeatMap({
  keys: [first, second],
  slices,
  onChoose,
}: {
  readonly keys: readonly [SliceKey, SliceKey];
  readonly slices: readonly Slice[];
  readonly onChoose: (filters: RunSearch) => void;
}) {
  const namesAt = (at: 0 | 1): readonly string[] => [
    ...new Set(slices.map(({ values }) => sliceName(values[at]))),
  ];
  const [rows, columns] = [namesAt(0), namesAt(1)];
  const cells = new Map(
    slices.map((slice) => [`${sliceName(slice.values[0])}\n${sliceName(slice.values[1])}`, slice]),
  );
  const cellOf = (row: string, column: string): Slice | undefined => cells.get(`${row}\n${column}`);
  const title = `Score by ${first.label} and ${second.label}`;
  return (
    <section className="scroll" aria-label={title} tabIndex={0}>
      <Group gap={4}>
        <Text span className="chart-title">
          {title}
        </Text>
        <SaveChart title={title} draw={() => <HeatDrawing {...{ title, rows, columns, cellOf }} />} />
      </Group>
      <table className="heat-map">
        <thead>
          <tr>
            <td />
            {columns.map((column) => (
              <th key={column} scope="col" dir="auto">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row}>
              <th scope="row" dir="auto">
                {row}
              </th>
              {columns.map((column) => {
                const slice = cellOf(row, column);
                const filters = slice && {
                  ...sliceFilter(first.value, slice.values[0]),
                  ...sliceFilter(second.value, slice.values[1]),
                };
                return (
                  <td key={column} style={{ background: shadeOf(slice?.mean) }}>
                    {slice?.mean == null || filters === undefined ? (
                      '–'
                    ) : (
                      <UnstyledButton fz="sm" onClick={() => onChoose(filters)}>
                        {formatScore(slice.mean)}
                        <Text span size="xs" display="block">
                          {intervalOf(slice)}
                        </Text>
                      </UnstyledButton>
                    )}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** How much of the colour the best score has: texts on it stay readable. */
const DEEPEST = 40;

/** The background of a cell for a share from 0 to 1. */
export const shadeOf = (mean: number | null | undefined): string | undefined =>
  mean == null
    ? undefined
    : `color-mix(in srgb, ${COLORS.bar} ${Math.round(DEEPEST * Math.min(1, Math.max(0, mean)))}%, transparent)`;

function intervalOf({ ci95, ok }: Slice): string {
  const interval = clampedInterval(ci95);
  return `${interval === null ? '' : `${formatInterval(interval)}, `}n = ${formatCount(ok)}`;
}

const [NAMES, CELL, ROW, TOP] = [180, 150, 40, 2 * TITLE] as const;
const MAX_NAME = 22;

/** The same for a file. */
function HeatDrawing({
  title,
  rows,
  columns,
  cellOf,
}: {
  readonly title: string;
  readonly rows: readonly string[];
  readonly columns: readonly string[];
  readonly cellOf: (row: string, column: string) => Slice | undefined;
}) {
  const [width, height] = [NAMES + CELL * columns.length + PADDING, TOP + ROW * rows.length + PADDING];
  return (
    <Drawing {...{ title, width, height }}>
      {columns.map((column, at) => (
        <text key={column} x={NAMES + CELL * at + 6} y={TOP - 10}>
          {shortName(column, MAX_NAME)}
        </text>
      ))}
      {rows.map((row, line) => (
        <g key={row}>
          <text x={PADDING} y={TOP + ROW * line + 24}>
            {shortName(row, MAX_NAME)}
          </text>
          {columns.map((column, at) => {
            const slice = cellOf(row, column);
            if (slice?.mean == null) return null;
            const [x, y] = [NAMES + CELL * at, TOP + ROW * line];
            const opacity = (DEEPEST / 100) * Math.min(1, Math.max(0, slice.mean));
            return (
              <g key={column}>
                <rect x={x} y={y} width={CELL - 2} height={ROW - 2} fill={COLORS.bar} fillOpacity={opacity} />
                <text x={x + 6} y={y + 16}>
                  {formatScore(slice.mean)}
                </text>
                <text x={x + 6} y={y + 31} fontSize={10}>
                  {intervalOf(slice)}
                </text>
              </g>
            );
          })}
        </g>
      ))}
    </Drawing>
  );
}
