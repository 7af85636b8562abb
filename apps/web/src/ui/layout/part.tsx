import { Box, Group, Text, Title } from '@mantine/core';
import { type ReactNode, useState } from 'react';

/** A titled part of a page, or with `order` 3 of what has a title itself; nothing without content. */
export function Part({
  title,
  order = 2,
  aside,
  children,
}: {
  readonly title: string;
  readonly order?: 2 | 3;
  /** Follows the title. */
  readonly aside?: ReactNode;
  readonly children: ReactNode;
}) {
  if (children === false) return null;
  return (
    <Box component="section">
      <Group gap={4} mb={4}>
        <Title order={order} size="xs" c="dimmed">
          {title}
        </Title>
        {aside}
      </Group>
      {children}
    </Box>
  );
}

/** A part that is in the page once it is opened; none without what it is of. */
export function Folded<Of>({
  title,
  of,
  children,
}: {
  readonly title: string;
  readonly of: Of | null;
  readonly children: (of: Of) => ReactNode;
}) {
  const [isOpen, setOpen] = useState(false);
  if (of === null || (Array.isArray(of) && of.length === 0)) return null;
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <Text span size="sm">
          {title}
        </Text>
      </summary>
      {isOpen && children(of)}
    </details>
  );
}
