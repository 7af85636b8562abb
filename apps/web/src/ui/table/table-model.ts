import {
  columnOrderingFeature,
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
import { type ReactNode, useMemo } from 'react';
import { type ColumnsView, fitting, readView, shareWidths, widthsText } from './view-columns.ts';

export interface Column<Row> {
  /** Names it in the address; by default its label. */
  readonly key?: string | undefined;
  /** Differs from every other column's; empty for a column of controls. */
  readonly label: string;
  readonly note?: ReactNode;
  readonly isLabelHidden?: boolean;
  readonly cell: (row: Row, index: number) => ReactNode;
  /** Least width in pixels: the width itself without a share of the room that is left. */
  readonly size?: number;
  readonly share?: number;
  readonly isNumber?: boolean;
  readonly isAlways?: boolean;
  /** Whether the column is left out where there is no room for all, unless people chose it. */
  readonly isOptional?: boolean;
  readonly wraps?: boolean;
  /** What rows in memory are ordered by. Rows without a value come last. */
  readonly sortBy?: (row: Row) => string | number | undefined;
  /** Whether the caller orders the rows by it. */
  readonly isSorted?: boolean;
}

export type KeyedColumn<Row> = Column<Row> & { readonly key: string; readonly size: number };

export interface TableColumns<Row> {
  readonly columns: readonly Column<Row>[];
  /** Keys of the columns that are shown without a choice; all by default. */
  readonly defaults?: readonly string[] | undefined;
  /** What the address states of the columns and the order, and what changes it. */
  readonly view?: ColumnsView | undefined;
  readonly onView?: ((changes: ColumnsView) => void) | undefined;
}

const SIZE = 100;

const features = tableFeatures({
  columnOrderingFeature,
  columnVisibilityFeature,
  columnSizingFeature,
  columnResizingFeature,
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
});

export type HeaderOf<Row extends RowData> = ReturnType<
  ReactTable<typeof features, Row>['getLeafHeaders']
>[number];

/** A column with its key: its label, where it has none. */
export const keyed = <Row>(column: Column<Row>): KeyedColumn<Row> => ({
  ...column,
  key: column.key ?? column.label,
  size: column.size ?? SIZE,
});

/**
 * The columns, order and widths of a table, as people chose them in the address. Without `room`, in pixels, columns are as
 * wide as what they hold.
 */
export function useTableModel<Row>(
  { columns: stated, defaults, view = {}, onView }: TableColumns<Row>,
  data: readonly Row[],
  room: number | undefined,
) {
  const columns = useMemo(() => stated.map(keyed), [stated]);
  const definitions = useMemo(
    () =>
      columns.map(({ key, label, size, sortBy, isNumber = false, isSorted = false }) => ({
        id: key,
        header: label,
        size,
        minSize: 40,
        maxSize: 2_000,
        accessorFn: (row: RowData) => sortBy?.(row as Row),
        enableSorting: onView !== undefined && (isSorted || sortBy !== undefined),
        sortFn: ascending,
        sortUndefined: 'last' as const,
        // the largest numbers of what is in memory come first
        sortDescFirst: isNumber && sortBy !== undefined,
      })),
    [columns, onView],
  );
  const chosen = readView(view, columns, defaults ?? columns.map(({ key }) => key));
  const always = columns.flatMap(({ key, isAlways = false }) => (isAlways ? [key] : []));
  const all = { ...chosen, shown: [...new Set([...always, ...chosen.shown])] };
  const columnOf = new Map(columns.map((column) => [column.key, column]));
  const asked = all.shown.flatMap((key) => columnOf.get(key) ?? []);
  const read =
    view.columns === undefined && room !== undefined && room > 0
      ? { ...all, shown: fitting(asked, room) }
      : all;
  const shown = read.shown.flatMap((key) => columnOf.get(key) ?? []);
  const widths = shareWidths(shown, read.widths, room ?? 0);
  const sizes = Object.fromEntries(widths);
  const sorting =
    view.sort === undefined ? [] : [{ id: view.sort.replace(/^-/, ''), desc: view.sort.startsWith('-') }];
  const table = useTable<typeof features, RowData>({
    features,
    columns: definitions,
    data: data as RowData[],
    columnResizeMode: 'onEnd',
    enableMultiSort: false,
    manualSorting: !columns.some(({ sortBy }) => sortBy !== undefined),
    state: {
      columnOrder: [...read.shown],
      columnVisibility: Object.fromEntries(columns.map(({ key }) => [key, read.shown.includes(key)])),
      // a drag begins at what is seen
      columnSizing: sizes,
      sorting: sorting.filter(({ id }) => columns.some(({ key }) => key === id)),
    },
    onColumnOrderChange: (updater) =>
      onView?.({ columns: functionalUpdate(updater, [...read.shown]).join(',') }),
    onColumnSizingChange: (updater) => {
      const next = functionalUpdate(updater, sizes);
      const resized = Object.entries(next).filter(
        ([key, width]) => key in read.widths || width !== sizes[key],
      );
      onView?.({ widths: widthsText(Object.fromEntries(resized)) });
    },
    onSortingChange: (updater) => {
      const [first] = functionalUpdate(updater, sorting);
      onView?.({ sort: first === undefined ? undefined : `${first.desc ? '-' : ''}${first.id}` });
    },
  });
  const headers = table.getHeaderGroups()[0]?.headers ?? [];
  return {
    headers,
    columns: shown,
    columnOf: (key: string) => columnOf.get(key),
    widthOf: (key: string) => widths.get(key),
    width: [...widths.values()].reduce((sum, one) => sum + one, 0),
    rows: table.getRowModel().rows.map(({ original }) => original as Row),
  };
}

interface Valued {
  getValue(id: string): unknown;
}

function ascending(a: Valued, b: Valued, id: string): number {
  const [one, other] = [a.getValue(id), b.getValue(id)];
  return typeof one === 'number' && typeof other === 'number'
    ? one - other
    : String(one).localeCompare(String(other));
}
