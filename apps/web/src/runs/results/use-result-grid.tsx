import { Box, VisuallyHidden } from '@mantine/core';
import { type CSSProperties, type ReactNode, useMemo } from 'react';
import { HeaderCell } from '../../ui/table/header-cell.tsx';
import { useViewTable } from '../../ui/table/use-view-table.ts';
import type { ColumnsView } from '../../ui/table/view-columns.ts';
import { metaNameOf, SORTED_COLUMNS, scorerKey } from './column-keys.ts';
import type { ListedResult } from './listed-result.ts';
import { BLIND_COLUMNS, defaultColumns, type ResultColumn, resultColumns } from './result-columns.tsx';

/** Pixels of the mark in front of each row, and between columns. */
const [MARK, GAP, PADDING] = [18, 8, 8] as const;

/** How the list of results is laid out: its columns in their order and width, with their headers. */
export function useResultGrid(
  results: readonly ListedResult[],
  scorers: readonly string[],
  isBlind: boolean,
  view: ColumnsView,
  onView: (changes: ColumnsView) => void,
): {
  readonly all: readonly ResultColumn[];
  /** Keys of the metadata of the results that were read. */
  readonly metaKeys: readonly string[];
  /** Keys of the columns that are shown without a choice. */
  readonly defaults: readonly string[];
  readonly shown: readonly ResultColumn[];
  readonly headers: readonly ReactNode[];
  /** As in `grid-template-columns`. */
  readonly template: string;
  /** Pixels below which the list scrolls sideways. */
  readonly minWidth: number;
  /** Style of a cell that stays in place while the others scroll. */
  readonly styleOf: (key: string) => CSSProperties | undefined;
} {
  // a shown column stays where the results in memory lack its key
  const chosen = (view.columns ?? '').split(',').flatMap((key) => metaNameOf(key) ?? []);
  const metaKeys = [...new Set([...chosen, ...results.flatMap(({ meta }) => Object.keys(meta))])];
  const names = JSON.stringify([isBlind, scorers, metaKeys]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the columns depend on the names of scorers and metadata only
  const all = useMemo(() => resultColumns(metaKeys, scorers, isBlind), [names]);
  const sortable = useMemo(
    () =>
      all.map((column) =>
        !isBlind && (column.key in SORTED_COLUMNS || scorerKey.test(column.key))
          ? { ...column, sortBy: () => undefined }
          : column,
      ),
    [all, isBlind],
  );
  const defaults = isBlind ? BLIND_COLUMNS : defaultColumns(scorers);
  const table = useViewTable<ListedResult>({
    columns: sortable,
    defaults,
    rows: NO_ROWS,
    view,
    onView,
  });
  const headers = table.getHeaderGroups()[0]?.headers ?? [];
  const shown = headers.flatMap(({ column }) => all.find(({ key }) => key === column.id) ?? []);
  const columnOf = new Map(headers.map(({ column }) => [column.id, column]));
  const sizes = shown.map(({ key, share, size }) => {
    const column = columnOf.get(key);
    const isFixed =
      share === 0 || column?.getIsPinned() !== false || table.state.columnSizing[key] !== undefined;
    const width = column?.getSize() ?? size;
    return { width, text: isFixed ? `${width}px` : `minmax(${size}px, ${share}fr)` };
  });
  const styleOf = (key: string): CSSProperties | undefined => {
    const column = columnOf.get(key);
    if (column === undefined || column.getIsPinned() === false) return undefined;
    const before = column.getIndex('start');
    const start = PADDING + MARK + GAP + column.getStart('start') + before * GAP;
    return { position: 'sticky', insetInlineStart: start, background: 'var(--mantine-color-body)' };
  };
  return {
    all,
    metaKeys: all.flatMap(({ key }) => metaNameOf(key) ?? []),
    defaults,
    shown,
    headers: [
      <span key="mark">{!isBlind && <VisuallyHidden>Outcome</VisuallyHidden>}</span>,
      ...headers.map((header) => (
        <Box
          key={header.id}
          style={styleOf(header.column.id)}
          ta={shown.find(({ key }) => key === header.column.id)?.isNumber === true ? 'end' : undefined}
        >
          <HeaderCell<ListedResult> header={header} />
        </Box>
      )),
    ],
    template: `${MARK}px ${sizes.map(({ text }) => text).join(' ')}`,
    minWidth: sizes.reduce((sum, { width }) => sum + width + GAP, MARK + 2 * PADDING),
    styleOf,
  };
}

/** The rows are those of the virtual list, and the service orders them. */
const NO_ROWS: readonly ListedResult[] = [];
