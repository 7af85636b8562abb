import { Button, Code, Popover, Stack, Text } from '@mantine/core';
import { IconBrandPython } from '@tabler/icons-react';
import { CopyAction } from '../../ui/text/copy-action.tsx';
import type { Dataset } from '../items/item-windows.ts';

/** The program that loads this version in Python, to copy. */
export function UseInPython({ dataset: { id, handle, version_hash } }: { readonly dataset: Dataset }) {
  const program = [
    `import os; os.environ["HF_ENDPOINT"] = ${JSON.stringify(window.location.origin)}`,
    'from datasets import load_dataset',
    `dataset = load_dataset(${JSON.stringify(`svc/${handle ?? id}`)}, revision="${version_hash.slice(0, 40)}")`,
  ].join('\n');
  return (
    <Popover width={520} position="bottom-end" shadow="md" withinPortal trapFocus>
      <Popover.Target>
        <Button size="xs" variant="default" leftSection={<IconBrandPython size={16} />}>
          Use in Python
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="xs" pos="relative">
          <Code block>{program}</Code>
          <CopyAction
            text={program}
            label="Copy the program"
            variant="default"
            pos="absolute"
            top={4}
            right={4}
          />
          <Text size="sm" c="dimmed">
            Where the service has keys, set the variable HF_TOKEN to yours.
          </Text>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
