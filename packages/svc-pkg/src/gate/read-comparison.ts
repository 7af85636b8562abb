import type { ResponseOf } from '@svc/client';
import { given } from '../given.ts';
import type { ServiceClient } from '../service/client/service-client.ts';
import { runParams } from '../service/runs/run-response.ts';

export type Comparison = ResponseOf<'/runs/{id}/compare/{other_id}', 'get'>;

/** What two runs are compared by. */
export interface ComparisonQuery {
  /** Name of a scorer; the main ones without it. */
  readonly scorer?: string | undefined;
  /** JSON Pointer, or `none`; that of both runs without it. */
  readonly clusterBy?: string | undefined;
}

const PAGE = 100;

/**
 * Compares two runs.
 *
 * @param maxItems largest number of items that got worse, in item order
 * @throws as `ServiceClient.send`
 */
export async function readComparison(
  service: ServiceClient,
  { id, otherId }: { readonly id: string; readonly otherId: string },
  { scorer, clusterBy }: ComparisonQuery,
  maxItems = 1,
): Promise<Comparison> {
  const path = { ...runParams(id).path, other_id: runParams(otherId).path.id };
  const read = async (cursor?: string): Promise<Comparison> => {
    const query = {
      only: 'regressions',
      limit: Math.min(PAGE, maxItems),
      ...given({ scorer, cursor }),
    } as const;
    const params = { path, query: { ...query, ...given({ cluster_by: clusterBy }) } };
    return (await service.read(service.api.GET('/runs/{id}/compare/{other_id}', { params }))).value;
  };
  const found = await read();
  const data = [...found.data];
  for (let cursor = found.meta.next_cursor; cursor != null && data.length < maxItems; ) {
    const page = await read(cursor);
    data.push(...page.data);
    cursor = page.meta.next_cursor;
  }
  return { ...found, data: data.slice(0, maxItems) };
}
