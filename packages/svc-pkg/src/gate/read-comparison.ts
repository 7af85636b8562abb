import type { ResponseOf } from '@svc/client';
import { given } from '../given.ts';
import { listPages } from '../service/client/list-pages.ts';
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
  const query = { only: 'regressions', ...given({ scorer, cluster_by: clusterBy }) } as const;
  return await listPages(maxItems, (page) =>
    service.api.GET('/runs/{id}/compare/{other_id}', { params: { path, query: { ...query, ...page } } }),
  );
}
