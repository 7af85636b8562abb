import { Button, type ButtonProps } from '@mantine/core';
import type { ReactNode } from 'react';

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
