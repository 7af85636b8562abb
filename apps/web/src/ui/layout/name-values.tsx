import { Card, SimpleGrid, Table, type TableProps, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Dimmed } from '../text/dimmed.ts';

export function NameValues(
  props: Omit<TableProps, 'children'> & {
    readonly rows: readonly (readonly [name: string, value: ReactNode])[];
    /** Whether the values are counts, which end at the same edge. */
    readonly hasCounts?: boolean;
  },
) {
  const { rows, hasCounts = false, ...rest } = props;
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

export type Fact = readonly [name: string, value: string, note?: ReactNode];

export const Facts = ({ facts, columns }: { readonly facts: readonly Fact[]; readonly columns: number }) => (
  <SimpleGrid cols={{ base: 2, sm: 3, lg: columns }} spacing="xs" component="dl" m={0}>
    {facts.map(([name, value, note]) => (
      <Card key={name} withBorder padding="xs">
        <Dimmed component="dt" size="xs">
          {name}
        </Dimmed>
        <Text component="dd" m={0} fw={600} size="sm" className="numbers break">
          {value}
          {note !== undefined && note !== '' && (
            <Dimmed span size="xs" fw={400} display="block">
              {note}
            </Dimmed>
          )}
        </Text>
      </Card>
    ))}
  </SimpleGrid>
);
