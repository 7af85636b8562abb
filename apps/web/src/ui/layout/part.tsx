import { Box, Title } from '@mantine/core';
import type { ReactNode } from 'react';

/** A titled part of a page, or with `order` 3 of what has a title itself. */
export function Part({
  title,
  order = 2,
  children,
}: {
  readonly title: string;
  readonly order?: 2 | 3;
  readonly children: ReactNode;
}) {
  return (
    <Box component="section">
      <Title order={order} size="xs" c="dimmed" mb={4}>
        {title}
      </Title>
      {children}
    </Box>
  );
}
