import { Code, Group } from '@mantine/core';
import { CopyAction } from './copy-action.tsx';

/** A hash, an id or a command that can be copied whole, though only its beginning may be shown. */
export function CopyText({
  text,
  label,
  length,
}: {
  readonly text: string;
  /** Names what is copied, such as "hash". */
  readonly label: string;
  /** Characters that are shown; by default all of them. */
  readonly length?: number;
}) {
  return (
    <Group gap={4} wrap="nowrap" display="inline-flex" maw="100%">
      <Code title={text} className="ellipsis">
        {text.slice(0, length)}
      </Code>
      <CopyAction text={text} label={`Copy ${label}`} />
    </Group>
  );
}
