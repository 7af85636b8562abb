import { Box, Group, Title } from '@mantine/core';
import type { ReactNode } from 'react';

/** A titled part of a page, or with `order` 3 of what has a title itself. */
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
