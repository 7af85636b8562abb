import type { DatasetSummary } from '@svc/client';
import { queryOptions, useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { get } from '../api/api.ts';
import type { Dataset } from '../datasets/items/item-windows.ts';
import type { Run } from './queries.ts';

/** Gives the dataset of a run, with the version where there are several. */
export type DatasetOf = (run: Run) => string;

/** What names a dataset. */
type Named = Pick<DatasetSummary, 'id' | 'name' | 'version_count'>;

/**
 * Names of the datasets of runs: the newest ones are read together, and others one by one. A dataset goes by an ellipsis until
 * its name is read, and by the beginning of its hash where that cannot be read.
 */
export function useDatasetNames(runs: readonly Run[]): DatasetOf {
  const { newest, one } = useNameQueries();
  const { data, isPending } = useQuery(newest);
  const known = data?.data;
  const others = useQueries({
    queries: isPending ? [] : othersOf(runs, known).map(one),
    combine: (found) => ({
      read: found.flatMap((query) => query.data ?? []),
      isPending: found.some((query) => query.isPending),
    }),
  });
  return useMemo(
    () => namesOf([...(known ?? []), ...others.read], isPending || others.isPending),
    [known, isPending, others],
  );
}

/** The same for what is saved: waits for the names. */
export function useReadDatasetNames(): (runs: readonly Run[]) => Promise<DatasetOf> {
  const client = useQueryClient();
  const { newest, one } = useNameQueries();
  return async (runs) => {
    const staleTime = Number.POSITIVE_INFINITY;
    await client.prefetchQuery({ ...newest, staleTime });
    const known = client.getQueryData(newest.queryKey)?.data;
    const others = othersOf(runs, known).map(one);
    await Promise.all(others.map((other) => client.prefetchQuery({ ...other, staleTime })));
    return namesOf(
      [...(known ?? []), ...others.flatMap(({ queryKey }) => client.getQueryData(queryKey) ?? [])],
      false,
    );
  };
}

function useNameQueries() {
  return {
    newest: queryOptions({
      queryKey: ['datasets', { limit: 100 }],
      queryFn: ({ signal }) => get('/datasets', { query: { limit: 100 } }, signal),
    }),
    one: (id: string) =>
      queryOptions({
        queryKey: ['dataset', id, null],
        queryFn: ({ signal }): Promise<Dataset> => get('/datasets/{id}', { path: { id } }, signal),
      }),
  };
}

/** Ids of the datasets of runs that are not known. */
const othersOf = (runs: readonly Run[], known: readonly Named[] = []): readonly string[] =>
  [...new Set(runs.map(({ dataset_id }) => dataset_id))].filter((id) => known.every((one) => one.id !== id));

function namesOf(datasets: readonly Named[], isPending: boolean): DatasetOf {
  const known = new Map(datasets.map((dataset) => [dataset.id, dataset]));
  return ({ dataset_id, dataset_version, dataset_version_hash }) => {
    const dataset = known.get(dataset_id);
    if (dataset === undefined) return isPending ? '…' : dataset_version_hash.slice(0, 10);
    return dataset.version_count === 1 ? dataset.name : `${dataset.name}, version ${dataset_version}`;
  };
}
