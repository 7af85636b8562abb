import {
  Box,
  type BoxProps,
  type MantineBreakpoint,
  Table,
  type TableProps,
  UnstyledButton,
} from '@mantine/core';
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import type { ReactNode } from 'react';

/** A column of a table: its header, and what a row shows in it. */
export interface Column<Row, Sort extends string = string> {
  /** Differs from that of every other column; empty for a column of controls. */
  readonly header: string;
  /** Follows the header. */
  readonly note?: ReactNode;
  readonly cell: (row: Row) => ReactNode;
  /** Numbers end at the same edge. */
  readonly align?: 'end';
  readonly width?: number | string;
  readonly minWidth?: number;
  readonly maxWidth?: number;
  /** Whether a text takes several lines; by default it stays in one. */
  readonly wraps?: boolean;
  readonly visibleFrom?: MantineBreakpoint;
  /** The order after a click on the header, and after the next one; a leading `-` is descending. */
  readonly sort?: readonly [first: Sort, second: Sort];
}

interface Sorting<Sort> {
  readonly sort?: Sort;
  readonly onSort?: (sort: Sort) => void;
}

interface ColumnsProps<Row, Sort extends string> extends Sorting<Sort>, Omit<TableProps, 'children'> {
  readonly label: string;
  readonly columns: readonly Column<Row, Sort>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row, index: number) => string | number;
  /** A title in the table itself. */
  readonly caption?: ReactNode;
  /** In pixels: where the window is narrower, the table scrolls sideways, also by keyboard. */
  readonly minWidth?: number;
  /** In pixels: where there are more rows, they scroll below their headers. */
  readonly maxHeight?: number;
}

/** A table that is described by its columns. */
export function Columns<Row, Sort extends string = string>({
  label,
  columns,
  rows,
  keyOf,
  caption,
  minWidth,
  maxHeight,
  sort,
  onSort,
  ...rest
}: ColumnsProps<Row, Sort>) {
  return (
    <Box component="section" className="scroll" mah={maxHeight} aria-label={label} tabIndex={0}>
      <Table miw={minWidth} tabularNums stickyHeader={maxHeight !== undefined} {...rest}>
        {caption}
        <Table.Thead>
          <Table.Tr>
            {columns.map((column) => (
              <Header
                key={column.header}
                column={column}
                {...(sort !== undefined && { sort })}
                {...(onSort !== undefined && { onSort })}
              />
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row, index) => (
            <Table.Tr key={keyOf(row, index)}>
              {columns.map((column) => (
                <Table.Td
                  key={column.header}
                  className={column.wraps === true ? 'break' : 'one-line'}
                  dir={column.align === undefined ? 'auto' : undefined}
                  {...styleOf(column)}
                >
                  {column.cell(row)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Box>
  );
}

function Header<Row, Sort extends string>({
  column,
  sort,
  onSort,
}: { readonly column: Column<Row, Sort> } & Sorting<Sort>) {
  const { header, note, sort: orders } = column;
  if (header === '') return <Table.Td {...styleOf(column)} />;
  if (orders === undefined)
    return (
      <Table.Th {...styleOf(column)}>
        {header} {note}
      </Table.Th>
    );
  const [first, second] = orders;
  const isSorted = sort === first || sort === second;
  const isDescending = sort?.startsWith('-') === true;
  const Arrow = isDescending ? IconArrowDown : IconArrowUp;
  return (
    <Table.Th
      aria-sort={isSorted ? (isDescending ? 'descending' : 'ascending') : 'none'}
      {...styleOf(column)}
    >
      <UnstyledButton fz="sm" fw={700} ta="inherit" onClick={() => onSort?.(sort === first ? second : first)}>
        {header} {isSorted && <Arrow size={12} aria-hidden />}
      </UnstyledButton>
    </Table.Th>
  );
}

/** Pixels that a text of several lines has at least: words of a usual length stay whole. */
const WRAPPED_WIDTH = 100;

function styleOf<Row, Sort extends string>({
  align,
  width,
  wraps = false,
  minWidth = wraps ? WRAPPED_WIDTH : undefined,
  maxWidth,
  visibleFrom,
}: Column<Row, Sort>): BoxProps {
  return {
    ...(align !== undefined && { ta: align }),
    ...(width !== undefined && { w: width }),
    ...(minWidth !== undefined && { miw: minWidth }),
    ...(maxWidth !== undefined && { maw: maxWidth }),
    ...(visibleFrom !== undefined && { visibleFrom }),
  };
}
