import { badResponse, unwrap } from './api-error.ts';

/** A page of a list. */
export interface Page<T> {
  readonly data: readonly T[];
  readonly meta: { readonly next_cursor: string | null };
}

/** Which page of a list to read. */
export interface PageQuery {
  readonly limit: number;
  readonly cursor?: string;
}

const PAGE = 100;

/**
 * The pages of a list, each read when you ask for it.
 *
 * @param read requests a page
 * @param maxEntries to read; default all
 * @throws ApiError; what `read` throws
 * @example
 * const query = { status: 'failed' } as const;
 * const pages = iteratePages((page) => client.GET('/runs', { params: { query: { ...query, ...page } } }));
 * for await (const { data } of pages) for (const { id } of data) console.log(id);
 */
export async function* iteratePages<P extends Page<unknown>>(
  read: (page: PageQuery) => Promise<{ data?: P; error?: unknown; response: Response }>,
  maxEntries: number = Number.POSITIVE_INFINITY,
): AsyncGenerator<P, void, undefined> {
  let left = maxEntries;
  let cursor: string | null = null;
  do {
    const reply: Awaited<ReturnType<typeof read>> = await read({
      limit: Math.min(PAGE, left),
      ...(cursor !== null && { cursor }),
    });
    const page: P = unwrap(reply);
    if (!Array.isArray(page.data) || page.meta?.next_cursor === undefined) {
      throw badResponse(reply.response.status, reply.response.url, 'no list');
    }
    yield page;
    left -= page.data.length;
    cursor = page.data.length === 0 ? null : page.meta.next_cursor;
  } while (cursor !== null && left > 0);
}
