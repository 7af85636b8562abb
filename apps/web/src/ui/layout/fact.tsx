import { Card, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Dimmed } from '../text/dimmed.ts';

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
  );
}
