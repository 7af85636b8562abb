import { Skeleton, Stack } from '@mantine/core';

/** A placeholder for a page while its data loads. */
export function PageSkeleton({ rows = 6 }: { readonly rows?: number }) {
  return (
    <Stack gap="sm" p="md" aria-busy="true" aria-label="Loading" role="status">
      <Skeleton height={24} width="30%" />
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows of nothing have nothing else
        <Skeleton key={row} height={32} />
      ))}
    </Stack>
  );
}
