import type { DatasetSummary, Paths, ResponseOf } from '@svc/client';
import {
  keepPreviousData,
  type QueryClient,
  queryOptions,
  type UseQueryResult,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useEffect, useMemo, useRef } from 'react';
import { apiQuery, get, isRefusal } from '../api/api.ts';
import { useEvents } from '../api/streams.ts';
import { datasetQuery } from '../datasets/queries.ts';
import { useCan } from '../session/session.tsx';

export type Run = ResponseOf<'/runs/{id}', 'get'>;
export type Result = ResponseOf<'/runs/{id}/results', 'get'>['data'][number];

/** A run with how fast it is; only the events of a run that works say so. */
export type WatchedRun = Run & {
  readonly progress?: { readonly results_per_minute: number | null; readonly remaining_ms: number | null };
};

/** Events have only counts: scores by group and latencies of an active run are read at this interval. */
const REFRESH_MS = 3_000;

export function useRun(id: string): UseQueryResult<WatchedRun> {
  const queries = useQueryClient();
  const found = useQuery({
    ...runQuery(id),
    refetchInterval: ({ state }) => (state.data?.finished_at === null ? REFRESH_MS : false),
  });
  const isActive = found.data !== undefined && found.data.finished_at === null;
  useEvents<WatchedRun>(isActive ? `/runs/${id}/events` : null, (run) => followRun(queries, run));
  // whatever says first that the run has ended
  const wasActive = useRef(isActive);
  useEffect(() => {
    if (wasActive.current && !isActive) void queries.invalidateQueries({ queryKey: ['results', id] });
    wasActive.current = isActive;
  }, [queries, id, isActive]);
  return found;
}

/** Takes over what an event says. It lacks the parts that are only read with a run, or has null in their place. */
function followRun(queries: QueryClient, run: WatchedRun): void {
  const queryKey = ['run', run.id];
  const known = Object.entries(run.scores).filter(([, value]) => value !== null);
  const readAtMs = queries.getQueryState(queryKey)?.dataUpdatedAt ?? 0;
  queries.setQueryData<WatchedRun>(
    queryKey,
    (before) => ({
      ...before,
      ...run,
      scores: { ...run.scores, ...before?.scores, ...Object.fromEntries(known) },
      scorers: { ...before?.scorers, ...run.scorers },
    }),
    // when the whole run was read
    { updatedAt: readAtMs },
  );
  if (run.finished_at === null) {
    // each event restarts the interval of the query, which never ends while results keep coming
    if (Date.now() - readAtMs >= REFRESH_MS)
      void queries.refetchQueries({ queryKey, exact: true }, { cancelRefetch: false });
    return;
  }
  void queries.invalidateQueries({ queryKey });
}

export function askedBy({ config }: { readonly config: object }): {
  readonly type?: string;
  readonly base_url?: string;
  readonly model?: string;
  readonly label?: string;
  readonly auth?: string;
  readonly api_key_env?: string | null;
} {
  return (config as { readonly provider?: object }).provider ?? {};
}

export const modelOf = (run: Pick<Run, 'config'>): string | null => askedBy(run).model ?? null;

export const tokensOf = ({ usage }: Pick<Run, 'usage'>): number => usage.input_tokens + usage.output_tokens;

/** The names of the scorers of a run, the main one first; none if it has one score only. */
export function scorersOf({ config, scorers }: Pick<Run, 'config' | 'scorers'>): readonly string[] {
  const { scorers: stated, added_scorers } = config as {
    readonly scorers?: readonly { readonly name?: unknown }[] | null;
    readonly added_scorers?: readonly { readonly name?: unknown }[] | null;
  };
  const names = [...(stated ?? []), ...(added_scorers ?? [])].map(({ name }) => String(name));
  return [...new Set([...names, ...Object.keys(scorers)])];
}

/** What a run of a provider without a model is called. */
const PROVIDER_NAMES: Readonly<Record<string, string>> = {
  item_field: 'Answers in the items',
  echo: 'Echo',
  external: 'From outside',
};

/** The name of a run: its own, else what its provider is, with the end of its id to tell it from others. */
export function nameOf(run: Pick<Run, 'id' | 'name' | 'config'>): string {
  if (run.name !== null) return run.name;
  const { type = '', model, label } = askedBy(run);
  const base = model ?? label ?? PROVIDER_NAMES[type] ?? 'Run';
  return `${base} #${run.id.slice(-4)}`;
}

type RunsQuery = NonNullable<Paths['/runs']['get']['parameters']['query']>;

/** The newest runs that a query of the API asks for. Lists lack latencies. */
export const runsQuery = (query: RunsQuery) =>
  queryOptions({ queryKey: ['runs', query], queryFn: ({ signal }) => get('/runs', { query }, signal) });

/** How many of the newest runs are offered, and looked at for suggestions. */
const RECENT = 100;

/** The newest runs; none until they are read. */
export function useRecentRuns(): readonly Run[] {
  return useQuery(runsQuery({ limit: RECENT })).data?.data ?? [];
}

/** A provider that the operator configured, or a server of earlier runs, and its models. */
export type Provider = ResponseOf<'/providers', 'get'>['data'][number];

export function useProviders() {
  const canEdit = useCan('editor');
  return useQuery({ ...apiQuery(['providers'], '/providers', {}), enabled: canEdit });
}

export const runQuery = (id: string) =>
  queryOptions({
    queryKey: ['run', id],
    queryFn: ({ signal }): Promise<WatchedRun> => get('/runs/{id}', { path: { id } }, signal),
  });

/** Runs in the order in which they are compared: the oldest is the baseline. */
export const olderFirst = (runs: readonly Run[]): readonly Run[] =>
  runs.toSorted((a, b) => (a.created_at < b.created_at ? -1 : 1));

/** The address of a comparison of runs that were chosen in a list, in which they are. */
export const comparisonOf = (runs: readonly Run[], chosen: readonly string[]): string => {
  const known = olderFirst(runs.filter(({ id }) => chosen.includes(id))).map(({ id }) => id);
  return [...known, ...chosen.filter((id) => !known.includes(id))].join(',');
};

/** How many labels the results of a run have, by person and by type of failure. */
export const labelsQuery = ({ id }: Pick<Run, 'id'>) =>
  queryOptions({
    queryKey: ['labels', id],
    queryFn: async ({ signal }) =>
      (await get('/runs/{id}/labels', { path: { id }, query: { limit: 1 } }, signal)).summary,
  });

export type ResultsQuery = NonNullable<Paths['/runs/{id}/results']['get']['parameters']['query']>;

export async function* readResults(id: string, filters: ResultsQuery = {}): AsyncGenerator<Result> {
  let cursor: string | undefined;
  do {
    const query = { ...filters, include: 'item' as const, limit: 100, cursor };
    const { data, meta } = await get('/runs/{id}/results', { path: { id }, query });
    yield* data;
    cursor = meta.next_cursor ?? undefined;
  } while (cursor !== undefined);
}

/** Gives the dataset of a run, with the version where there are several. */
export type DatasetOf = (run: Run) => string;

/** Names of the datasets of runs: an ellipsis until they are read, and the beginning of the hash where they cannot be. */
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
