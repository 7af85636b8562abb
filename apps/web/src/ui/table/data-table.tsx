import { Checkbox } from '@mantine/core';
import { useElementSize, useMergedRef } from '@mantine/hooks';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useId, useRef } from 'react';
import { Dimmed } from '../text/dimmed.ts';
import { formatCount } from '../text/formats.ts';
import { Heading } from './heading.tsx';
import { type KeyedColumn, type TableColumns, useTableModel } from './table-model.ts';
import { type RowActions, useGrid } from './use-grid.ts';

/** Height of a row in pixels: a million of them stay below the height that browsers can lay out. */
const ROW_HEIGHT = 28;

/** Rows that one table can show: the height of a page is limited to some 33 million pixels. */
export const MAX_ROWS = 1_000_000;

/** Pixels of the checkbox of a row. */
const CHECKBOX = 32;

const NO_ROWS: readonly never[] = [];

/** Rows in memory, or a list of any length with some of its rows in memory. */
type RowsOf<Row> =
  | { readonly rows: readonly Row[] }
  | {
      /** Rows of the list; the first {@link MAX_ROWS} are shown. */
      readonly total: number;
      /** Undefined until it is read. */
      readonly at: (index: number) => Row | undefined;
      /** Tells which rows are in the page. */
      readonly onRange?: (first: number, last: number) => void;
    };

type DataTableProps<Row> = RowsOf<Row> &
  TableColumns<Row> &
  RowActions<Row> & {
    readonly label: string;
    readonly nameOf?: (row: Row) => string;
    readonly isTall?: boolean;
    /** Whether the table takes the room that the window leaves, and scrolls in it; else it is as high as its rows. */
    readonly fills?: boolean;
    /** In pixels, of a table that does not fill the window: more rows scroll below their headings. */
    readonly maxHeight?: number;
    readonly caption?: ReactNode;
    /** What stands in place of a table without rows; by default its headings. */
    readonly empty?: string | undefined;
  };

/**
 * The table of the console. Where rows can be opened or chosen it is a grid: the arrow keys, Page Up, Page Down, Home and
 * End move through it, as `j` and `k` do from anywhere in the page, which give it the focus.
 */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, onChoose, nameOf, isTall = false, fills = false, maxHeight, caption, empty } = props;
  const size = useElementSize<HTMLElement>();
  const scroller = useRef<HTMLElement>(null);
  const table = useRef<HTMLTableElement>(null);
  const id = useId();
  const extra = onChoose === undefined ? 0 : CHECKBOX;
  // columns that share the room have a width of their own, whatever they hold
  const isFixed = fills || props.columns.some(({ share }) => share !== undefined);
  const isWhole = 'rows' in props;
  const model = useTableModel(
    props,
    isWhole ? props.rows : NO_ROWS,
    isFixed ? size.width - extra : undefined,
  );
  const total = isWhole ? model.rows.length : props.total;
  const count = Math.min(total, MAX_ROWS);
  const at = isWhole ? (index: number): Row | undefined => model.rows[index] : props.at;
  const onRange = isWhole ? undefined : props.onRange;
  const list = useVirtualizer({
    count,
    enabled: fills,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 8,
  });
  const shown = fills
    ? list.getVirtualItems()
    : Array.from({ length: count }, (_, index) => ({ index, start: 0, end: 0 }));
  const [first, last] = [shown[0]?.index ?? 0, shown.at(-1)?.index ?? 0];
  useEffect(() => onRange?.(first, last), [first, last, onRange]);
  const grid = useGrid(props, table, count, at);
  const { isGrid, current } = grid;
  useEffect(() => {
    if (current === undefined || current >= count) return;
    if (fills && !isTall) showRow(scroller.current, current);
    else if (fills) list.scrollToIndex(current);
    else table.current?.querySelector('[data-current]')?.scrollIntoView({ block: 'nearest' });
  }, [current, count, fills, isTall, list]);
  const spans = model.columns.length + (onChoose === undefined ? 0 : 1);
  const box = useMergedRef(scroller, size.ref);
  if (total === 0 && empty !== undefined) return <Dimmed>{empty}</Dimmed>;
  return (
    <section
      ref={box}
      className={fills ? 'data-table fills' : 'data-table'}
      style={{ maxHeight }}
      aria-label={isGrid ? undefined : label}
      tabIndex={isGrid ? undefined : 0}
    >
      <table
        ref={table}
        {...(isGrid && {
          role: 'grid',
          tabIndex: 0,
          onKeyDown: grid.onKeyDown,
          'aria-multiselectable': onChoose !== undefined,
          // not before its row is in the page
          'aria-activedescendant': shown.some(({ index }) => index === current)
            ? `${id}-${current}`
            : undefined,
        })}
        aria-label={label}
        aria-rowcount={total + 1}
        data-fixed={isFixed}
        style={isFixed ? { width: model.width + extra } : undefined}
      >
        {caption}
        {isFixed && (
          <colgroup>
            {extra > 0 && <col style={{ width: extra }} />}
            {model.columns.map(({ key }) => (
              <col key={key} style={{ width: model.widthOf(key) }} />
            ))}
          </colgroup>
        )}
        <thead>
          <tr aria-rowindex={1}>
            {onChoose !== undefined && <ChooseAll {...props} onChoose={onChoose} keys={grid.keys()} />}
            {model.headers.map((header) => (
              <Heading
                key={header.id}
                header={header}
                column={model.columnOf(header.column.id)}
                canMove={
                  fills && props.onView !== undefined && model.columnOf(header.column.id)?.isAlways !== true
                }
              />
            ))}
          </tr>
        </thead>
        <tbody>
          <Space height={shown[0]?.start ?? 0} spans={spans} />
          {shown.map(({ index }) => {
            const row = at(index);
            return (
              <tr
                key={index}
                id={`${id}-${index}`}
                ref={fills && isTall ? list.measureElement : undefined}
                data-index={index}
                data-current={index === current || undefined}
                aria-rowindex={index + 2}
                aria-selected={
                  isGrid ? (onChoose === undefined ? index === current : grid.isChosen(index)) : undefined
                }
                className={isTall ? 'tall' : undefined}
                onClick={grid.isBeside ? () => props.onOpen?.(index, row) : undefined}
              >
                {onChoose !== undefined && (
                  <td>
                    {row !== undefined && (
                      <Checkbox
                        size="xs"
                        aria-label={`Choose ${nameOf?.(row) ?? `row ${index + 1}`}`}
                        checked={grid.isChosen(index)}
                        onChange={() => grid.toggle(index)}
                        onClick={(event) => event.stopPropagation()}
                      />
                    )}
                  </td>
                )}
                <Cells row={row} index={index} columns={model.columns} />
              </tr>
            );
          })}
          <Space height={fills ? list.getTotalSize() - (shown.at(-1)?.end ?? 0) : 0} spans={spans} />
        </tbody>
      </table>
      {total > count && (
        <Dimmed size="xs" px="xs" py={4}>
          The list shows the first {formatCount(count)} of {formatCount(total)}. Filters and another order
          show others.
        </Dimmed>
      )}
    </section>
  );
}

function ChooseAll({
  chosen = [],
  onChoose,
  keys,
}: {
  readonly chosen?: readonly string[] | undefined;
  readonly onChoose: (keys: readonly string[]) => void;
  readonly keys: readonly string[];
}) {
  const isAll = keys.length > 0 && keys.every((key) => chosen.includes(key));
  return (
    <th scope="col">
      <Checkbox
        size="xs"
        aria-label="Choose all rows"
        checked={isAll}
        indeterminate={!isAll && chosen.length > 0}
        onChange={() => onChoose(isAll ? [] : keys)}
      />
    </th>
  );
}

function Cells<Row>(props: {
  /** Undefined until it is read. */
  readonly row: Row | undefined;
  readonly index: number;
  readonly columns: readonly KeyedColumn<Row>[];
}) {
  const { row, index, columns } = props;
  return columns.map(({ key, cell, isNumber = false, wraps = false }) => (
    <td
      key={key}
      dir={isNumber ? undefined : 'auto'}
      className={isNumber ? 'numbers' : wraps ? 'wraps' : 'one-line'}
    >
      {row === undefined ? '…' : cell(row, index)}
    </td>
  ));
}

function Space({ height, spans }: { readonly height: number; readonly spans: number }) {
  if (height <= 0) return null;
  return (
    // biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: it is no row
    <tr role="presentation" className="space">
      <td role="presentation" colSpan={spans} style={{ height }} />
    </tr>
  );
}

function showRow(scroller: HTMLElement | null, index: number): void {
  if (scroller === null) return;
  const top = index * ROW_HEIGHT;
  // the headings stay above the rows
  const bottom = top + ROW_HEIGHT + (scroller.querySelector('thead')?.clientHeight ?? ROW_HEIGHT);
  if (top < scroller.scrollTop) scroller.scrollTop = top;
  else if (bottom > scroller.scrollTop + scroller.clientHeight)
    scroller.scrollTop = bottom - scroller.clientHeight;
}
