import { type Item, readItems } from '@svc/jsonl-v23';
import { ApiError, badResponse, requireId, unwrap } from './api-error.ts';
import type { ApiClient, ResponseOf } from './create-api-client.ts';

export type RunResult = ResponseOf<'/runs/{id}/results', 'get'>['data'][number];

export interface IterateOptions {
  /** Only this section. */
  readonly section?: string;
  /** `embed` (default): files of items as base64 text; `link`: a link in place of each. */
  readonly assets?: 'embed' | 'link';
  readonly signal?: AbortSignal;
}

/**
 * The items of a dataset, in section and item order, with every digit of their numbers. One request, which is read as it
 * arrives.
 *
 * @throws TypeError for an empty id; ApiError; JsonlError for an invalid line; the signal's reason
 */
export function iterateItems(
  client: ApiClient,
  datasetId: string,
  options: IterateOptions = {},
): AsyncGenerator<Item, void, undefined> {
  return readLines(client, requireId(datasetId, 'datasetId'), options);
}

async function* readLines(
  client: ApiClient,
  id: string,
  { section, assets, signal }: IterateOptions,
): AsyncGenerator<Item, void, undefined> {
  const query = { ...(section !== undefined && { section }), ...(assets !== undefined && { assets }) };
  const { data, error, response } = await client.GET('/datasets/{id}/items.jsonl', {
    params: { path: { id }, query },
    parseAs: 'stream',
    ...(signal && { signal }),
  });
  if (!response.ok) throw new ApiError(response.status, error);
  if (!response.headers.get('content-type')?.startsWith('application/jsonl')) {
    await response.body?.cancel();
    throw badResponse(response.status, response.url, 'no JSON Lines');
  }
  // A dataset without items has no body.
  if (data == null) return;
  for await (const { item } of readItems(data, signal === undefined ? {} : { signal })) {
    yield item;
  }
}

/** The results of a run, in item order. @throws TypeError for an empty id; ApiError; the signal's reason */
export function iterateResults(
  client: ApiClient,
  runId: string,
  { signal }: Pick<IterateOptions, 'signal'> = {},
): AsyncGenerator<RunResult, void, undefined> {
  return readResults(client, requireId(runId, 'runId'), signal);
}

async function* readResults(
  client: ApiClient,
  id: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<RunResult, void, undefined> {
  const pages = iteratePages((query) =>
    client.GET('/runs/{id}/results', { params: { path: { id }, query }, ...(signal && { signal }) }),
  );
  for await (const { data } of pages) yield* data;
}

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
