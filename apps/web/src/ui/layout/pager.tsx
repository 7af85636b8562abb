import { Button, type ButtonProps, Group } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import type { ReactNode } from 'react';
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

/** Reads the next page of a list; nothing if there is none. */
export function MoreButton({
  query: { hasNextPage, isFetchingNextPage, fetchNextPage },
  children,
  ...rest
}: Pick<ButtonProps, 'size'> & {
  readonly query: {
    readonly hasNextPage: boolean;
    readonly isFetchingNextPage: boolean;
    readonly fetchNextPage: () => Promise<unknown>;
  };
  readonly children: ReactNode;
}) {
  if (!hasNextPage) return null;
  return (
    <Button
      variant="default"
      w="fit-content"
      loading={isFetchingNextPage}
      onClick={() => void fetchNextPage()}
      {...rest}
    >
      {children}
    </Button>
  );
}

/** What `useInfiniteQuery` needs to read the pages of a list of the API one after the other. */
export const BY_CURSOR = {
  initialPageParam: undefined as string | undefined,
  getNextPageParam: ({ meta }: { readonly meta: { readonly next_cursor: string | null } }) =>
    meta.next_cursor ?? undefined,
};
