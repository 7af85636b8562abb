import { UnstyledButton, VisuallyHidden } from '@mantine/core';
import { useDrag } from '@mantine/hooks';
import type { RowData } from '@tanstack/react-table';
import { useRef, useState } from 'react';
import { Icon } from '../icons.tsx';
import type { HeaderOf, KeyedColumn } from './table-model.ts';
import { movedTo } from './view-columns.ts';

/** Pixels that a pointer moves before it drags: less is a click. */
const DRAG_FROM = 5;

/**
 * The heading of a column: a click orders the rows by it. Where columns are chosen, a drag moves it to the place of
 * another, and a drag of its edge resizes it. The menu of columns does the same by keyboard.
 */
export function Heading<Row>(props: {
  readonly header: HeaderOf<RowData>;
  readonly column: KeyedColumn<Row> | undefined;
  readonly canMove: boolean;
}) {
  const { header, column, canMove } = props;
  const sorted = header.column.getIsSorted();
  const canSort = header.column.getCanSort();
  const { label = '', note, isNumber = false, isLabelHidden = false } = column ?? {};
  // screen readers call a heading without a name empty
  if (label === '') return <td />;
  const name = canSort ? (
    <UnstyledButton fz="inherit" fw="inherit" c="inherit" onClick={header.column.getToggleSortingHandler()}>
      {label}
      {sorted !== false && <Icon name={sorted === 'desc' ? 'arrowDown' : 'arrowUp'} size={12} aria-hidden />}
    </UnstyledButton>
  ) : isLabelHidden ? (
    <VisuallyHidden>{label}</VisuallyHidden>
  ) : (
    label
  );
  return (
    <th
      scope="col"
      className={isNumber ? 'numbers' : undefined}
      data-column={header.column.id}
      aria-sort={
        canSort ? (sorted === false ? 'none' : sorted === 'desc' ? 'descending' : 'ascending') : undefined
      }
    >
      {canMove ? <Moved header={header}>{name}</Moved> : name}
      {note}
      {canMove && (
        <span
          className="heading-edge"
          aria-hidden="true"
          onMouseDown={header.getResizeHandler()}
          onTouchStart={header.getResizeHandler()}
          onDoubleClick={() => header.column.resetSize()}
        />
      )}
    </th>
  );
}

function Moved(props: { readonly header: HeaderOf<RowData>; readonly children: React.ReactNode }) {
  const { children } = props;
  const { column } = props.header;
  const hasMoved = useRef(false);
  const [movedBy, setMovedBy] = useState(0);
  const drag = useDrag<HTMLSpanElement>(
    ({ movement: [x], event: { clientX, target }, last, canceled }) => {
      hasMoved.current = true;
      setMovedBy(last ? 0 : x);
      const other = last && !canceled && target instanceof Element ? columnAt(target, clientX) : undefined;
      if (other !== undefined) column.table.setColumnOrder((order) => [...movedTo(order, column.id, other)]);
    },
    { axis: 'x', threshold: DRAG_FROM },
  );
  return (
    <span
      ref={drag.ref}
      className="heading-name"
      style={movedBy === 0 ? undefined : { transform: `translateX(${movedBy}px)` }}
      onPointerDownCapture={() => {
        hasMoved.current = false;
      }}
      onClickCapture={(event) => {
        // the end of a drag is not a click
        if (hasMoved.current) event.stopPropagation();
      }}
    >
      {children}
    </span>
  );
}

/** The column of the same table whose heading is above or below a place of the window; undefined without one. */
function columnAt(within: Element, x: number): string | undefined {
  const headings = within.closest('thead')?.querySelectorAll<HTMLElement>('[data-column]') ?? [];
  return [...headings].find((heading) => {
    const { left, right } = heading.getBoundingClientRect();
    return x >= left && x < right;
  })?.dataset['column'];
}
