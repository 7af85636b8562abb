import { useQuery } from '@tanstack/react-query';
import { useApi } from '../api/api-context.tsx';
import { dataOf } from '../api/api-problem.ts';
import { isItemHash } from '../datasets/items/item-hash.ts';

/** Datasets in which an id is looked for, besides the one of the page: the newest ones. */
const SEARCHED_DATASETS = 5;
const ITEMS_EACH = 3;
const ID_IN_PATH = /^\/(datasets|runs)\/([0-9a-f-]{36})$/;

/** An item with this id or hash. */
interface FoundItem {
  readonly datasetId: string;
  readonly datasetName: string;
  readonly hash: string;
  readonly label: string;
}

/** The items with this id or hash, of the dataset whose page or run is open and of the newest datasets. */
export function useFoundItems(text: string, path: string): readonly FoundItem[] {
  const api = useApi();
  const found = useQuery({
    queryKey: ['palette-items', text, path],
    queryFn: async ({ signal }) => {
      const [, kind, id] = ID_IN_PATH.exec(path) ?? [];
      const open =
        id === undefined
          ? []
          : kind === 'datasets'
            ? [id]
            : [(await dataOf(api.GET('/runs/{id}', { params: { path: { id } }, signal }))).dataset_id];
      const query = { limit: SEARCHED_DATASETS };
      const newest = (await dataOf(api.GET('/datasets', { params: { query }, signal }))).data;
      const ids = [...new Set([...open, ...newest.map((dataset) => dataset.id)])];
      return (await Promise.all(ids.map((one) => findIn(one, signal)))).flat();
    },
    // a name with spaces is none of an item
    enabled: text !== '' && !/\s/.test(text),
    staleTime: 30_000,
  });
  return found.data ?? [];

  async function findIn(id: string, signal: AbortSignal): Promise<readonly FoundItem[]> {
    const isHash = isItemHash(text);
    const by = isHash ? { item_hash: text } : { item_id: text };
    const query = { ...by, limit: ITEMS_EACH, assets: 'link' as const };
    const { data } = await dataOf(
      api.GET('/datasets/{id}/items', { params: { path: { id }, query }, signal }),
    );
    if (data.length === 0) return [];
    const { name } = await dataOf(api.GET('/datasets/{id}', { params: { path: { id } }, signal }));
    // equal items have one address
    return [...new Set(data.map(({ item_hash }) => item_hash))].map((hash) => ({
      datasetId: id,
      datasetName: name,
      hash,
      label: `Item ${isHash ? hash.slice(0, 12) : text}`,
    }));
  }
}
