import type { DatasetSummary } from '@svc/client';
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useApi } from '../api/api-context.tsx';
import { dataOf } from '../api/api-problem.ts';
import type { Run } from './use-run.ts';

/** Gives the dataset of a run, with the version where there are several. */
export type DatasetOf = (run: Run) => string;

/** Names of the newest datasets; others go by the beginning of their hash, and all by an ellipsis until the names are read. */
export function useDatasetNames(): DatasetOf {
  const { data, isPending } = useQuery(useNewestDatasets());
  return useMemo(() => namesOf(data?.data, isPending), [data, isPending]);
}

/** The same for what is saved: waits for the names. */
export function useReadDatasetNames(): () => Promise<DatasetOf> {
  const client = useQueryClient();
  const newest = useNewestDatasets();
  return async () => {
    await client.prefetchQuery({ ...newest, staleTime: Number.POSITIVE_INFINITY });
    return namesOf(client.getQueryData(newest.queryKey)?.data, false);
  };
}

function useNewestDatasets() {
  const api = useApi();
  return queryOptions({
    queryKey: ['datasets', { limit: 100 }],
    queryFn: ({ signal }) => dataOf(api.GET('/datasets', { params: { query: { limit: 100 } }, signal })),
  });
}

function namesOf(
  datasets: readonly Pick<DatasetSummary, 'id' | 'name' | 'version_count'>[] = [],
  isPending: boolean,
): DatasetOf {
  const known = new Map(datasets.map((dataset) => [dataset.id, dataset]));
  return ({ dataset_id, dataset_version, dataset_version_hash }) => {
    const dataset = known.get(dataset_id);
    if (dataset === undefined) return isPending ? '…' : dataset_version_hash.slice(0, 10);
    return dataset.version_count === 1 ? dataset.name : `${dataset.name}, version ${dataset_version}`;
  };
}
