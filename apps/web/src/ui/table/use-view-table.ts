import {
  columnOrderingFeature,
  columnPinningFeature,
  columnResizingFeature,
  columnSizingFeature,
  columnVisibilityFeature,
  createSortedRowModel,
  functionalUpdate,
  type ReactTable,
  type RowData,
  rowSortingFeature,
  tableFeatures,
  useTable,
} from '@tanstack/react-table';
import { useMemo } from 'react';
import { type ColumnsView, readView, type ViewColumn, widthsText } from './view-columns.ts';

const features = tableFeatures({
  columnOrderingFeature,
  columnPinningFeature,
  columnVisibilityFeature,
  columnSizingFeature,
  columnResizingFeature,
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
});

/** A column with what its rows are ordered by. */
export interface SortedColumn<Row> extends ViewColumn {
  /** Absent: rows cannot be ordered by it. Rows without a value come last. */
  readonly sortBy?: (row: Row) => string | number | undefined;
}

export type ViewTable<Row extends RowData> = ReactTable<typeof features, Row>;

/** A table whose columns people choose, order, resize and pin. What they chose is in the address. */
export function useViewTable<Row extends RowData>({
  columns,
  defaults,
  rows,
  view,
  onView,
}: {
  readonly columns: readonly SortedColumn<Row>[];
  /** Keys of the columns that are shown without a choice. */
  readonly defaults: readonly string[];
  readonly rows: readonly Row[];
  readonly view: ColumnsView;
  readonly onView: (changes: ColumnsView) => void;
}): ViewTable<Row> {
  const definitions = useMemo(
    () =>
      columns.map(({ key, label, size, sortBy }) => ({
        id: key,
        header: label,
        size,
        minSize: 40,
        maxSize: 2_000,
        accessorFn: (row: Row) => sortBy?.(row),
        enableSorting: sortBy !== undefined,
        sortFn: ascending,
        sortUndefined: 'last' as const,
        sortDescFirst: false,
      })),
    [columns],
  );
  const read = readView(view, columns, defaults);
  const sorting =
    view.sort === undefined ? [] : [{ id: view.sort.replace(/^-/, ''), desc: view.sort.startsWith('-') }];
  return useTable<typeof features, Row>({
    features,
    columns: definitions,
    data: rows as Row[],
    columnResizeMode: 'onEnd',
    enableMultiSort: false,
    state: {
      columnOrder: [...read.shown],
      columnVisibility: Object.fromEntries(columns.map(({ key }) => [key, read.shown.includes(key)])),
      columnPinning: { start: [...read.pinned], end: [] },
      columnSizing: read.widths,
      sorting: sorting.filter(({ id }) => columns.some(({ key }) => key === id)),
    },
    onColumnOrderChange: (updater) =>
      onView({ columns: functionalUpdate(updater, [...read.shown]).join(',') }),
    onColumnSizingChange: (updater) =>
      onView({ widths: widthsText(functionalUpdate(updater, { ...read.widths })) }),
    onSortingChange: (updater) => {
      const [first] = functionalUpdate(updater, sorting);
      onView({ sort: first === undefined ? undefined : `${first.desc ? '-' : ''}${first.id}` });
    },
  });
}

interface Valued {
  getValue(id: string): unknown;
}

/** Numbers by size, texts by the alphabet. */
function ascending(a: Valued, b: Valued, id: string): number {
  const [one, other] = [a.getValue(id), b.getValue(id)];
  return typeof one === 'number' && typeof other === 'number'
    ? one - other
    : String(one).localeCompare(String(other));
}
