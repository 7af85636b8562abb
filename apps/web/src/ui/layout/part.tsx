import { Box, Title } from '@mantine/core';
import type { ReactNode } from 'react';

/** A titled part of an item or a result. */
export function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <Box component="section">
      <Title order={3} size="xs" c="dimmed" mb={4}>
        {title}
      </Title>
      {children}
    </Box>
  );
}
