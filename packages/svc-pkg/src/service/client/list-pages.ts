import { iteratePages, type Page, type PageQuery } from '@svc/client';

/** A list of the service, as far as it was asked for. */
export interface Listing<T> {
  readonly data: readonly T[];
  /** Entries of the whole list; null if the service does not say. */
  readonly total: number | null;
}

type ListPage<T> = Page<T> & { readonly meta: { readonly total_items?: number | null } };

/**
 * Reads a list of the service, page by page, up to `limit` entries.
 *
 * @param read requests a page
 * @throws ApiError `bad_response`; what `read` throws
 */
export async function listPages<T>(
  limit: number,
  read: (page: PageQuery) => Promise<{ data?: ListPage<T>; response: Response }>,
): Promise<Listing<T>> {
  const data: T[] = [];
  let total: number | null = null;
  for await (const page of iteratePages(read, limit)) {
    data.push(...page.data);
    total = page.meta.total_items ?? null;
  }
  return { data: data.slice(0, limit), total };
}
