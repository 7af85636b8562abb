import { Table, type TableProps } from '@mantine/core';
import type { ReactNode } from 'react';

/** A table of names and their values, without headers. */
export function NameValues({
  rows,
  hasCounts = false,
  ...rest
}: Omit<TableProps, 'children'> & {
  readonly rows: readonly (readonly [name: string, value: ReactNode])[];
  /** Whether the values are counts, which end at the same edge. */
  readonly hasCounts?: boolean;
}) {
  return (
    <Table w="auto" tabularNums {...rest}>
      <Table.Tbody>
        {rows.map(([name, value]) => (
          <Table.Tr key={name}>
            <Table.Th {...(hasCounts && { fw: 400, className: 'break' })}>{name}</Table.Th>
            <Table.Td
              {...(hasCounts ? { ta: 'end', style: { whiteSpace: 'nowrap' } } : { className: 'break' })}
            >
              {value}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
