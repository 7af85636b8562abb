import { Code, Popover, Stack } from '@mantine/core';
import { IconBrandPython } from '@tabler/icons-react';
import { useApi } from '../../api/api-context.tsx';
import { SmallButton } from '../../ui/small-button.tsx';
import { CopyAction } from '../../ui/text/copy-action.tsx';
import { Dimmed } from '../../ui/text/dimmed.ts';
import type { Dataset } from '../items/item-windows.ts';

/** The program that loads this version in Python, to copy. */
export function UseInPython({ dataset: { id, handle, version_hash } }: { readonly dataset: Dataset }) {
  const api = useApi();
  const path = { repo: handle ?? id, revision: version_hash.slice(0, 40) };
  const program = [
    `import os; os.environ["HF_ENDPOINT"] = ${JSON.stringify(window.location.origin)}`,
    'from datasets import load_dataset',
    `dataset = load_dataset(${JSON.stringify(`svc/${path.repo}`)}, revision="${path.revision}")`,
  ].join('\n');
  return (
    <Popover
      width={520}
      position="bottom-end"
      shadow="md"
      withinPortal
      trapFocus
      // The service makes the files of a version with the first request, and the library does not wait for large ones.
      onOpen={() => void api.GET('/api/datasets/svc/{repo}/revision/{revision}', { params: { path } })}
    >
      <Popover.Target>
        <SmallButton leftSection={<IconBrandPython size={16} />}>Use in Python</SmallButton>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="xs" pos="relative">
          <Code block>{program}</Code>
          <CopyAction text={program} label="Copy the program" isInCorner />
          <Dimmed>Where the service has keys, set the variable HF_TOKEN to yours.</Dimmed>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
