import { unwrap } from './api-error.ts';
import type { ApiClient } from './create-api-client.ts';
import type { ResponseOf } from './response-of.ts';

export type ListedItem = ResponseOf<'/datasets/{id}/items', 'get'>['data'][number];
export type RunResult = ResponseOf<'/runs/{id}/results', 'get'>['data'][number];

export interface IterateOptions {
  /** Only this section. */
  readonly section?: string;
  readonly signal?: AbortSignal;
}

const PAGE = 100;

interface Page<T> {
  readonly data: readonly T[];
  readonly meta: { readonly next_cursor: string | null };
}

/**
 * The items of a dataset, in section and item order, a page at a time. Numbers are JavaScript's: read
 * `/datasets/{id}/items.jsonl` with `@svc/jsonl-v23` for every digit.
 *
 * @throws ApiError; the signal's reason
 */
export function iterateItems(
  client: ApiClient,
  datasetId: string,
  { section, signal }: IterateOptions = {},
): AsyncGenerator<ListedItem, void, undefined> {
  return iterate(async (cursor) =>
    unwrap(
      await client.GET('/datasets/{id}/items', {
        params: {
          path: { id: datasetId },
          query: { limit: PAGE, ...cursor, ...(section !== undefined && { section }) },
        },
        ...(signal && { signal }),
      }),
    ),
  );
}

/** The results of a run, in item order. @throws as `iterateItems` */
export function iterateResults(
  client: ApiClient,
  runId: string,
  { signal }: Pick<IterateOptions, 'signal'> = {},
): AsyncGenerator<RunResult, void, undefined> {
  return iterate(async (cursor) =>
    unwrap(
      await client.GET('/runs/{id}/results', {
        params: { path: { id: runId }, query: { limit: PAGE, ...cursor } },
        ...(signal && { signal }),
      }),
    ),
  );
}

async function* iterate<T>(
  read: (cursor: { readonly cursor?: string }) => Promise<Page<T>>,
): AsyncGenerator<T, void, undefined> {
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Page<T> = await read(cursor === '' ? {} : { cursor });
    yield* page.data;
    cursor = page.meta.next_cursor;
  }
}
