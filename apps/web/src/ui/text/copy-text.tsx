import { ActionIcon, Code, CopyButton, Group, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';

/** A hash, an id or a command that can be copied whole, though only its beginning may be shown. */
export function CopyText({
  text,
  label,
  shown = text,
}: {
  readonly text: string;
  /** Names what is copied, such as "hash". */
  readonly label: string;
  readonly shown?: string;
}) {
  return (
    <Group gap={4} wrap="nowrap" display="inline-flex" maw="100%">
      <Code title={text} className="ellipsis">
        {shown}
      </Code>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Tooltip label={copied ? 'Copied' : `Copy ${label}`}>
            <ActionIcon variant="subtle" color="gray" size="sm" onClick={copy} aria-label={`Copy ${label}`}>
              {copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
            </ActionIcon>
          </Tooltip>
        )}
      </CopyButton>
    </Group>
  );
}
