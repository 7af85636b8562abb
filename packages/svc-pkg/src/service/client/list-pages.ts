import { iteratePages, type Page, type PageQuery } from '@svc/client';

/**
 * Reads a list of the service, page by page, up to `limit` entries.
 *
 * @param read requests a page
 * @returns the last page, with the entries of all
 * @throws ApiError `bad_response`; what `read` throws
 */
export async function listPages<P extends Page<unknown>>(
  limit: number,
  read: (page: PageQuery) => Promise<{ data?: P; response: Response }>,
): Promise<P> {
  const data: P['data'][number][] = [];
  let last: P | undefined;
  for await (const page of iteratePages(read, limit)) {
    data.push(...page.data);
    last = page;
  }
  return { ...(last as P), data: data.slice(0, limit) };
}
