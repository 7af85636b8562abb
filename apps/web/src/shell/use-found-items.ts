import type { ApiClient } from '@svc/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi } from '../api/api-context.tsx';
import { dataOf } from '../api/api-problem.ts';
import { isItemHash } from '../datasets/items/item-hash.ts';

/** Datasets in which an id is looked for at most: the newest ones, after that of the page. */
const MAX_SEARCHED = 1_000;
const PAGE = 100;
/** Datasets that are looked through at a time. */
const AT_A_TIME = 6;
const ITEMS_EACH = 3;
/** With so many found, the rest is not looked through. */
const ENOUGH = 6;
const ID_IN_PATH = /^\/(datasets|runs)\/([0-9a-f-]{36})$/;

/** An item with this id or hash. */
interface FoundItem {
  readonly datasetId: string;
  readonly datasetName: string;
  readonly hash: string;
  readonly label: string;
}

/** The items that were found, and in how many of all datasets they were looked for. */
interface Search {
  readonly found: readonly FoundItem[];
  readonly looked: number;
  readonly total: number;
}

const NOTHING: Search = { found: [], looked: 0, total: 0 };

/** The items with this id or hash: of the dataset whose page or run is open, then of all others, the newest first. */
export function useFoundItems(text: string, path: string): Search & { readonly isLooking: boolean } {
  const api = useApi();
  const [progress, setProgress] = useState({ of: '', search: NOTHING });
  const search = useQuery({
    queryKey: ['palette-items', text, path],
    queryFn: ({ signal }) =>
      findItems(api, text, path, signal, (found) => setProgress({ of: text, search: found })),
    // a name with spaces is none of an item
    enabled: text !== '' && !/\s/.test(text),
    staleTime: 30_000,
  });
  return {
    ...(search.data ?? (progress.of === text ? progress.search : NOTHING)),
    isLooking: search.isFetching,
  };
}

async function findItems(
  api: ApiClient,
  text: string,
  path: string,
  signal: AbortSignal,
  onProgress: (search: Search) => void,
): Promise<Search> {
  const isHash = isItemHash(text);
  const findIn = async (id: string, known?: string): Promise<readonly FoundItem[]> => {
    const by = isHash ? { item_hash: text } : { item_id: text };
    const query = { ...by, limit: ITEMS_EACH, assets: 'link' as const };
    const { data } = await dataOf(
      api.GET('/datasets/{id}/items', { params: { path: { id }, query }, signal }),
    );
    if (data.length === 0) return [];
    const name =
      known ?? (await dataOf(api.GET('/datasets/{id}', { params: { path: { id } }, signal }))).name;
    // equal items have one address
    return [...new Set(data.map(({ item_hash }) => item_hash))].map((hash) => ({
      datasetId: id,
      datasetName: name,
      hash,
      label: `Item ${isHash ? hash.slice(0, 12) : text}`,
    }));
  };
  const [, kind, id] = ID_IN_PATH.exec(path) ?? [];
  const open =
    id === undefined || kind === 'datasets'
      ? id
      : (await dataOf(api.GET('/runs/{id}', { params: { path: { id } }, signal }))).dataset_id;
  let search: Search = { ...NOTHING, found: open === undefined ? [] : await findIn(open) };
  let cursor: string | undefined;
  do {
    const query = { limit: PAGE, cursor };
    const { data, meta } = await dataOf(api.GET('/datasets', { params: { query }, signal }));
    for (let at = 0; at < data.length && search.found.length < ENOUGH; at += AT_A_TIME) {
      const some = data.slice(at, at + AT_A_TIME);
      const found = await Promise.all(some.map((one) => (one.id === open ? [] : findIn(one.id, one.name))));
      search = {
        found: [...search.found, ...found.flat()],
        looked: search.looked + some.length,
        total: meta.total_items,
      };
      onProgress(search);
    }
    cursor = meta.next_cursor ?? undefined;
  } while (cursor !== undefined && search.looked < MAX_SEARCHED && search.found.length < ENOUGH);
  return search;
}
