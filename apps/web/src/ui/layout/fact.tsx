import { Card, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** A number with its name, and what explains it, in a list of such facts. */
export function Fact({
  name,
  value,
  note,
}: {
  readonly name: string;
  readonly value: string;
  readonly note?: ReactNode;
}) {
  return (
    <Card withBorder padding="xs">
      <Text component="dt" size="xs" c="dimmed">
        {name}
      </Text>
      <Text component="dd" m={0} fw={600} size="sm" className="numbers break">
        {value}
        {note !== undefined && note !== '' && (
          <Text span size="xs" c="dimmed" fw={400} display="block">
            {note}
          </Text>
        )}
      </Text>
    </Card>
  );
}
