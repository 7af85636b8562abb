import { UnstyledButton } from '@mantine/core';
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import type { RowData } from '@tanstack/react-table';
import type { ViewTable } from './use-view-table.ts';

type HeaderOf<Row extends RowData> = ReturnType<ViewTable<Row>['getLeafHeaders']>[number];

/** The name of a column: a click orders the rows by it, a drag of its edge resizes it. */
export function HeaderCell<Row extends RowData>({ header }: { readonly header: HeaderOf<Row> }) {
  const { column } = header;
  const sorted = column.getIsSorted();
  const label = String(column.columnDef.header);
  const Arrow = sorted === 'desc' ? IconArrowDown : IconArrowUp;
  return (
    <span className="header-cell">
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
