import { useHotkeys } from '@mantine/hooks';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef } from 'react';
import { Dimmed } from './text/dimmed.ts';
import { formatCount } from './text/formats.ts';

/** Height of a row in pixels: a million of them stay below the height that browsers can lay out. */
const ROW_HEIGHT = 32;

/** Rows that one list can show: the height of a page is limited to some 33 million pixels. */
export const MAX_ROWS = 1_000_000;

const PAGE_ROWS = 10;

/**
 * A list of any length; only its visible part is in the page. Its rows are chosen by a click, or with the arrow
 * keys, Page Up, Page Down, Home and End, and from anywhere in the page with j and k, which give it the focus.
 */
export function VirtualList({
  label,
  total,
  selected,
  onSelect,
  onRange,
  renderRow,
  columns,
  headers,
  minWidth,
}: {
  readonly label: string;
  /** Rows of the list; the first {@link MAX_ROWS} are shown. */
  readonly total: number;
  /** Position of the chosen row. */
  readonly selected: number | undefined;
  readonly onSelect: (index: number) => void;
  /** Tells which rows are in the page. */
  readonly onRange?: (first: number, last: number) => void;
  readonly renderRow: (index: number) => ReactNode;
  /** Widths of the cells, as `grid-template-columns`. */
  readonly columns: string;
  /** The row above the rows, one node for each cell. It scrolls sideways with them. */
  readonly headers?: readonly ReactNode[];
  /** In pixels: where there is less room, the rows scroll sideways. */
  readonly minWidth?: number;
}) {
  const count = Math.min(total, MAX_ROWS);
  const scroller = useRef<HTMLDivElement>(null);
  const header = useRef<HTMLDivElement>(null);
  const id = useId();
  const list = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 8,
  });
  const rows = list.getVirtualItems();
  const first = rows[0]?.index ?? 0;
  const last = rows.at(-1)?.index ?? 0;
  useEffect(() => onRange?.(first, last), [first, last, onRange]);
  useEffect(() => {
    if (selected !== undefined && selected < count) showRow(scroller.current, selected);
  }, [selected, count]);

  const move = (key: string): boolean => {
    const next = nextOf(key, selected, count);
    if (next !== undefined) onSelect(next);
    return next !== undefined;
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (move(event.key)) event.preventDefault();
  };
  const moveFromPage = (key: string): void => {
    move(key);
    // an open entry keeps the focus: the same keys scroll it
    if (document.activeElement?.closest('section.pane')) return;
    scroller.current?.focus({ preventScroll: true });
  };
  useHotkeys([
    ['j', () => moveFromPage('ArrowDown')],
    ['k', () => moveFromPage('ArrowUp')],
  ]);
  // not before its row is in the page
  const isSelectedShown = rows.some(({ index }) => index === selected);
  const rowStyle = { gridTemplateColumns: columns, minWidth };
  return (
    <div className="virtual-list-frame">
      {headers !== undefined && (
        <div ref={header} className="list-headers">
          <div className="list-row list-header" style={rowStyle}>
            {headers}
          </div>
        </div>
      )}
      <div
        ref={scroller}
        className="virtual-list"
        role="listbox"
        aria-label={label}
        tabIndex={0}
        aria-activedescendant={isSelectedShown ? `${id}-${selected}` : undefined}
        onKeyDown={onKeyDown}
        onScroll={({ currentTarget }) => {
          if (header.current !== null) header.current.scrollLeft = currentTarget.scrollLeft;
        }}
      >
        <div
          role="presentation"
          className="virtual-list-body"
          style={{ height: list.getTotalSize(), minWidth }}
        >
          {rows.map(({ index, start }) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the list handles the keys of its rows
            // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus, which a row would take away with it
            <div
              key={index}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === selected}
              aria-posinset={index + 1}
              aria-setsize={total}
              className="list-row virtual-list-row"
              style={{ transform: `translateY(${start}px)`, gridTemplateColumns: columns }}
              onClick={() => onSelect(index)}
            >
              {renderRow(index)}
            </div>
          ))}
        </div>
      </div>
      {total > count && (
        <Dimmed size="xs" px="xs" py={4}>
          The list shows the first {formatCount(count)} of {formatCount(total)}. Filters and another order
          show others.
        </Dimmed>
      )}
    </div>
  );
}

/** Scrolls a row into view, as little as that takes. All rows have one height. */
function showRow(scroller: HTMLElement | null, index: number): void {
  if (scroller === null) return;
  const top = index * ROW_HEIGHT;
  const bottom = top + ROW_HEIGHT;
  if (top < scroller.scrollTop) scroller.scrollTop = top;
  else if (bottom > scroller.scrollTop + scroller.clientHeight)
    scroller.scrollTop = bottom - scroller.clientHeight;
}

function nextOf(key: string, selected: number | undefined, count: number): number | undefined {
  if (count === 0) return undefined;
  const at = selected ?? -1;
  const targets: Readonly<Record<string, number>> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    PageDown: at + PAGE_ROWS,
    PageUp: at - PAGE_ROWS,
    Home: 0,
    End: count - 1,
  };
  const target = targets[key];
  return target === undefined ? undefined : Math.min(count - 1, Math.max(0, target));
}
