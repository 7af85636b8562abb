import { Button } from '@mantine/core';
import { IconX } from '@tabler/icons-react';

/** Takes all filters of a list away. */
export function ClearFilters({ onClear }: { readonly onClear: () => void }) {
  return (
    <Button size="xs" variant="subtle" leftSection={<IconX size={14} />} onClick={onClear}>
      Clear
    </Button>
  );
}
