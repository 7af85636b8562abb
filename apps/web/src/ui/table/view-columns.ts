export interface ViewColumn {
  readonly key: string;
  readonly label: string;
  /** Pixels, before it is resized. */
  readonly size: number;
}

/** What an address states of the columns of a table. */
export interface ColumnsView {
  /** Keys of the shown columns in their order, joined by commas. */
  readonly columns?: string | undefined;
  /** Widths in pixels of resized columns: `question.320,got.200`. */
  readonly widths?: string | undefined;
  /** Key of the column that orders the rows, with a leading `-` for descending. */
  readonly sort?: string | undefined;
}

const [MIN_WIDTH, MAX_WIDTH] = [40, 2_000] as const;

/** Reads a view; keys that no column has are left out. */
export function readView(
  { columns, widths }: ColumnsView,
  all: readonly ViewColumn[],
  defaults: readonly string[],
): { readonly shown: readonly string[]; readonly widths: Readonly<Record<string, number>> } {
  const known = (list: string | undefined): readonly string[] => [
    ...new Set((list ?? '').split(',').filter((key) => all.some((column) => column.key === key))),
  ];
  const shown = known(columns);
  return {
    shown: shown.length === 0 ? defaults : shown,
    widths: Object.fromEntries(
      (widths ?? '').split(',').flatMap((one) => {
        // a key may have dots
        const dot = one.lastIndexOf('.');
        const [key, width] = [one.slice(0, Math.max(0, dot)), one.slice(dot + 1)];
        return known(key).length === 1 && /^\d{1,5}$/.test(width) ? [[key, bounded(Number(width))]] : [];
      }),
    ),
  };
}

const bounded = (width: number): number => Math.round(Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, width)));

export const widthsText = (widths: Readonly<Record<string, number>>): string | undefined =>
  Object.entries(widths)
    .map(([key, width]) => `${key}.${bounded(width)}`)
    .join(',') || undefined;

/** The keys of the columns that have room: among columns that can be left out, the last ones go. */
export function fitting(
  columns: readonly (Pick<ViewColumn, 'key' | 'size'> & { readonly isOptional?: boolean })[],
  room: number,
): readonly string[] {
  const width = columns.reduce((sum, { size }) => sum + size, 0);
  const last = columns.findLastIndex(({ isOptional }) => isOptional === true);
  return width <= room || last === -1
    ? columns.map(({ key }) => key)
    : fitting(columns.toSpliced(last, 1), room);
}

/** The width in pixels of each column: resized ones keep theirs, and columns with a share divide the remaining room. */
export function shareWidths(
  columns: readonly (Pick<ViewColumn, 'key' | 'size'> & { readonly share?: number })[],
  resized: Readonly<Record<string, number>>,
  room: number,
): ReadonlyMap<string, number> {
  const least = columns.map(({ key, size, share = 0 }) => ({
    key,
    width: resized[key] ?? size,
    share: resized[key] === undefined ? share : 0,
  }));
  const left = Math.max(0, room - least.reduce((sum, { width }) => sum + width, 0));
  const shares = least.reduce((sum, { share }) => sum + share, 0);
  return new Map(
    least.map(({ key, width, share }) => [key, share === 0 ? width : width + (left * share) / shares]),
  );
}

/** The keys with one of them a place before or after. */
export const moved = (keys: readonly string[], key: string, by: -1 | 1): readonly string[] =>
  movedTo(keys, key, keys[keys.indexOf(key) + by] ?? '');

/** The keys with one of them at the place of another. */
export function movedTo(keys: readonly string[], key: string, other: string): readonly string[] {
  const to = keys.indexOf(other);
  return keys.includes(key) && to !== -1 ? keys.filter((one) => one !== key).toSpliced(to, 0, key) : keys;
}
