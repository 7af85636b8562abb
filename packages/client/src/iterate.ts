import { type Item, readItems } from '@svc/jsonl-v23';
import { ApiError, badResponse, requireId } from './api-error.ts';
import type { ApiClient } from './create-api-client.ts';
import { iteratePages } from './iterate-pages.ts';
import type { ResponseOf } from './response-of.ts';

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
