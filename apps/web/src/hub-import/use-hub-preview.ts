import type { ResponseOf } from '@svc/client';
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { send } from '../api/send.ts';
import type { Mapping } from '../mapping/mapping-fields.ts';
import type { ImportSearch } from './hub-source.ts';

export type HubPreview = ResponseOf<'/datasets/hub/preview', 'post'>;

/** A slice of a dataset of the hub. The token stays in the memory of the page. */
export interface HubSource extends ImportSearch {
  readonly token?: string | undefined;
}

const ROWS = 20;

/** The preview of a slice of a hub dataset; with a mapping, also its first rows as items. */
export function useHubPreview(source: HubSource, mapping: Mapping | null): UseQueryResult<HubPreview> {
  const { path, subset, split, revision, token } = source;
  return useQuery({
    queryKey: [
      'hub-preview',
      path,
      mapping === null ? 'columns' : 'items',
      subset,
      split,
      revision,
      token,
      mapping,
    ],
    queryFn: async ({ signal }) => {
      const body = {
        path: path ?? '',
        subset,
        split,
        revision,
        token,
        limit: ROWS,
        ...(mapping === null ? {} : { mapping }),
      };
      return await send('post', '/datasets/hub/preview', {}, body, signal);
    },
    enabled: path !== undefined,
    staleTime: 5 * 60_000,
    // what was there for the last slice or mapping stays until the next is there
    placeholderData: (before, query) => (query?.queryKey[1] === path ? before : undefined),
  });
}
