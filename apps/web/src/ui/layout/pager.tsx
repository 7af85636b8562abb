import { Button, Group } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import { IconChevronLeft, IconChevronRight } from '../icons.tsx';
import { SmallButton } from '../small-button.tsx';
import { Dimmed } from '../text/dimmed.ts';
import { formatCountOf } from '../text/formats.ts';

/** Goes through the pages of a list by its cursors. Going back is going back in the history of the browser. */
export function Pager({
  total,
  what,
  isFirst,
  nextCursor,
  onCursor,
}: {
  readonly total: number;
  /** What is listed, such as "dataset". */
  readonly what: string;
  readonly isFirst: boolean;
  readonly nextCursor: string | null;
  readonly onCursor: (cursor: string | undefined) => void;
}) {
  const { history } = useRouter();
  return (
    <Group justify="space-between" component="nav" aria-label={`Pages of ${what}s`}>
      <Dimmed>{formatCountOf(total, what)}</Dimmed>
      {(!isFirst || nextCursor !== null) && (
        <Group gap="xs">
          <Button size="xs" variant="subtle" disabled={isFirst} onClick={() => onCursor(undefined)}>
            Newest
          </Button>
          <SmallButton
            disabled={isFirst}
            onClick={() => history.back()}
            leftSection={<IconChevronLeft size={14} />}
          >
            Back
          </SmallButton>
          <SmallButton
            disabled={nextCursor === null}
            onClick={() => nextCursor !== null && onCursor(nextCursor)}
            rightSection={<IconChevronRight size={14} />}
          >
            Next
          </SmallButton>
        </Group>
      )}
    </Group>
  );
}
