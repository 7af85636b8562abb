import { printableValue } from './printable-text.ts';

const MAX_CELL_LENGTH = 60;

/** Formats rows under their column names for people; long cells are cut, empty columns stay. */
export function formatTable(
  columns: readonly string[],
  rows: readonly (readonly (string | number | boolean | null | undefined)[])[],
): string {
  const texts = rows.map((row) => columns.map((_, index) => cellText(row[index])));
  const widths = columns.map((name, index) =>
    texts.reduce((width, row) => Math.max(width, row[index]?.length ?? 0), name.length),
  );
  const line = (cells: readonly string[]): string =>
    `${cells
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd()}\n`;
  return [line(columns), ...texts.map(line)].join('');
}

function cellText(value: string | number | boolean | null | undefined): string {
  const text = printableValue(value === null || value === undefined ? '' : String(value));
  return text.length > MAX_CELL_LENGTH ? `${text.slice(0, MAX_CELL_LENGTH - 1)}…` : text;
}
