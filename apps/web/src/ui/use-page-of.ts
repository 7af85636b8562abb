import { useEffect } from 'react';

/** A list that is read page by page. */
export interface Pages {
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  readonly isError: boolean;
  fetchNextPage(): unknown;
}

/** Reads on up to the entry that an address names, which may be of a later page. */
export function usePageOf(index: number | undefined, readCount: number, pages: Pages): void {
  const { hasNextPage, isFetchingNextPage, isError, fetchNextPage } = pages;
  const isLater = index !== undefined && index >= readCount;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each page that was read asks for the next one
  useEffect(() => {
    if (isLater && hasNextPage && !isFetchingNextPage && !isError) fetchNextPage();
  }, [isLater, readCount, hasNextPage, isFetchingNextPage, isError, fetchNextPage]);
}
