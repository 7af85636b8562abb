/** What `useInfiniteQuery` needs to read the pages of a list of the API one after the other. */
export const BY_CURSOR = {
  initialPageParam: undefined as string | undefined,
  getNextPageParam: ({ meta }: { readonly meta: { readonly next_cursor: string | null } }) =>
    meta.next_cursor ?? undefined,
};
