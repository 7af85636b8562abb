import type { DatasetSummary } from '@svc/client';
import {
  keepPreviousData,
  type QueryClient,
  queryOptions,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useMemo } from 'react';
import { datasetQuery } from '../datasets/queries.ts';
import type { Run } from './queries.ts';
import { get, isRefusal } from '../api/api.ts';

/** Gives the dataset of a run, with the version where there are several. */
export type DatasetOf = (run: Run) => string;

/**
 * Names of the datasets of runs. A dataset goes by an ellipsis until its name is read, and by the beginning of its hash where
 * that cannot be read.
 */
export function useDatasetNames(runs: readonly Run[]): DatasetOf {
  const names = namesQuery(useQueryClient(), runs);
  const { data, isPending, isPlaceholderData } = useQuery({ ...names, placeholderData: keepPreviousData });
  const isAwaited = isPending || isPlaceholderData;
  return useMemo(() => namesOf(data, isAwaited), [data, isAwaited]);
}

/** The same for what is saved: waits for the names. */
export function useReadDatasetNames(): (runs: readonly Run[]) => Promise<DatasetOf> {
  const client = useQueryClient();
  return async (runs) => {
    const names = await client.ensureQueryData(namesQuery(client, runs)).catch(() => []);
    return namesOf(names, false);
  };
}

/** The newest datasets, which are read together, and others of some runs, which are read one by one. */
function namesQuery(client: QueryClient, runs: readonly Run[]) {
  const ids = [...new Set(runs.map(({ dataset_id }) => dataset_id))].sort();
  return queryOptions({
    queryKey: ['datasets', 'names', ids],
    enabled: ids.length > 0,
    queryFn: async ({ signal }) => {
      const { data } = await get('/datasets', { query: { limit: 100 } }, signal);
      const others = ids.filter((id) => data.every((one) => one.id !== id));
      const read = others.map((id) =>
        client.fetchQuery(datasetQuery(id)).catch((error: unknown) => {
          if (isRefusal(error, 404)) return [];
          throw error;
        }),
      );
      return [...data, ...(await Promise.all(read)).flat()];
    },
  });
}

function namesOf(
  datasets: readonly Pick<DatasetSummary, 'id' | 'name' | 'version_count'>[] | undefined,
  isAwaited: boolean,
): DatasetOf {
  const known = new Map(datasets?.map((dataset) => [dataset.id, dataset]));
  return ({ dataset_id, dataset_version, dataset_version_hash }) => {
    const dataset = known.get(dataset_id);
    if (dataset === undefined) return isAwaited ? '…' : dataset_version_hash.slice(0, 10);
    return dataset.version_count === 1 ? dataset.name : `${dataset.name}, version ${dataset_version}`;
  };
}
