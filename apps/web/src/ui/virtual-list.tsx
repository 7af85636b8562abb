import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef } from 'react';

/** Height of a row in pixels: a million of them stay below the height that browsers can lay out. */
const ROW_HEIGHT = 32;

/** Rows that one list can show: the height of a page is limited to some 33 million pixels. */
export const MAX_ROWS = 1_000_000;

const PAGE_ROWS = 10;

/**
 * A list of any length, of which only what is visible is in the page. Its rows are chosen by a click, or with the arrow
 * keys, Page Up, Page Down, Home and End.
 */
export function VirtualList({
  label,
  count,
  selected,
  onSelect,
  onRange,
  renderRow,
  columns,
}: {
  readonly label: string;
  readonly count: number;
  /** Position of the chosen row. */
  readonly selected: number | undefined;
  readonly onSelect: (index: number) => void;
  /** Tells which rows are in the page. */
  readonly onRange?: (first: number, last: number) => void;
  readonly renderRow: (index: number) => ReactNode;
  /** Widths of the cells, as `grid-template-columns`. */
  readonly columns: string;
}) {
  const scroller = useRef<HTMLDivElement>(null);
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

  const onKeyDown = (event: KeyboardEvent): void => {
    const next = nextOf(event.key, selected, count);
    if (next === undefined) return;
    event.preventDefault();
    onSelect(next);
  };
  // not before its row is in the page
  const isSelectedShown = rows.some(({ index }) => index === selected);
  return (
    <div
      ref={scroller}
      className="virtual-list"
      role="listbox"
      aria-label={label}
      tabIndex={0}
      aria-activedescendant={isSelectedShown ? `${id}-${selected}` : undefined}
      onKeyDown={onKeyDown}
    >
      <div role="presentation" className="virtual-list-body" style={{ height: list.getTotalSize() }}>
        {rows.map(({ index, start }) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the list handles the keys of its rows
          <div
            key={index}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === selected}
            aria-posinset={index + 1}
            aria-setsize={count}
            className="list-row virtual-list-row"
            style={{ transform: `translateY(${start}px)`, gridTemplateColumns: columns }}
            onClick={() => onSelect(index)}
          >
            {renderRow(index)}
          </div>
        ))}
      </div>
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
