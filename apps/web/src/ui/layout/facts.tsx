import { Card, SimpleGrid, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Dimmed } from '../text/dimmed.ts';

/** A number with its name, and what explains it. */
export type Fact = readonly [name: string, value: string, note?: ReactNode];

/** Facts as a list of cards: in columns, of which wide windows have so many, or as a class lays them out. */
export function Facts({
  facts,
  columns,
  className,
}: {
  readonly facts: readonly Fact[];
  readonly columns?: number;
  readonly className?: string;
}) {
  const cards = facts.map(([name, value, note]) => (
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
  ));
  if (columns === undefined) return <dl className={className}>{cards}</dl>;
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: columns }} spacing="xs" component="dl" m={0}>
      {cards}
    </SimpleGrid>
  );
}
