import { UnstyledButton } from '@mantine/core';
import { useDrag } from '@mantine/hooks';
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import type { RowData } from '@tanstack/react-table';
import { useRef, useState } from 'react';
import type { ViewTable } from './use-view-table.ts';
import { movedTo } from './view-columns.ts';

type HeaderOf<Row extends RowData> = ReturnType<ViewTable<Row>['getLeafHeaders']>[number];

/** Pixels that a pointer moves before it drags: less is a click. */
const DRAG_FROM = 5;

/**
 * The name of a column: a click orders the rows by it, a drag moves it to the place of another, and a drag of its edge
 * resizes it. The menu of columns does the same by keyboard.
 */
export function HeaderCell<Row extends RowData>({ header }: { readonly header: HeaderOf<Row> }) {
  const { column } = header;
  const sorted = column.getIsSorted();
  const label = String(column.columnDef.header);
  const Arrow = sorted === 'desc' ? IconArrowDown : IconArrowUp;
  const cell = useRef<HTMLSpanElement>(null);
  const hasMoved = useRef(false);
  const [movedBy, setMovedBy] = useState(0);
  const drag = useDrag<HTMLSpanElement>(
    ({ movement: [x], event: { clientX }, last, canceled }) => {
      hasMoved.current = true;
      setMovedBy(last ? 0 : x);
      const target = last && !canceled ? columnAt(cell.current, clientX) : undefined;
      if (target !== undefined)
        column.table.setColumnOrder((order) => [...movedTo(order, column.id, target)]);
    },
    { axis: 'x', threshold: DRAG_FROM },
  );
  return (
    <span ref={cell} className="header-cell" data-column={column.id}>
      <span
        ref={drag.ref}
        className="header-name"
        style={movedBy === 0 ? undefined : { transform: `translateX(${movedBy}px)` }}
        onPointerDownCapture={() => {
          hasMoved.current = false;
        }}
        onClickCapture={(event) => {
          // the end of a drag is not a click
          if (hasMoved.current) event.stopPropagation();
        }}
      >
        {column.getCanSort() ? (
          <UnstyledButton fz="inherit" fw={700} onClick={column.getToggleSortingHandler()}>
            {label}
            {sorted !== false && (
              <Arrow size={12} aria-label={sorted === 'desc' ? 'descending' : 'ascending'} />
            )}
          </UnstyledButton>
        ) : (
          label
        )}
      </span>
      <span
        className="header-edge"
        aria-hidden="true"
        onMouseDown={header.getResizeHandler()}
        onTouchStart={header.getResizeHandler()}
        onDoubleClick={() => column.resetSize()}
      />
    </span>
  );
}

/** The column of the same table whose header is above or below a place of the window; undefined without one. */
function columnAt(cell: HTMLElement | null, x: number): string | undefined {
  const headers = cell?.closest('.list-header')?.querySelectorAll<HTMLElement>('[data-column]') ?? [];
  return [...headers].find((header) => {
    const { left, right } = header.getBoundingClientRect();
    return x >= left && x < right;
  })?.dataset['column'];
}
