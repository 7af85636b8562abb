import type { ResponseOf } from '@svc/client';
import { infiniteQueryOptions, keepPreviousData, queryOptions, useQueryClient } from '@tanstack/react-query';
import { get } from '../api/api.ts';
import type { Field } from '../ui/form/fields.tsx';
import { useNotify } from '../ui/layout/notices.tsx';
import { BY_CURSOR } from '../ui/layout/pager.tsx';
import { formatCount } from '../ui/text/formats.ts';
import { datasetRoute } from './dataset-search.ts';
import { type Dataset, readItem, type VersionOf } from './items/item-windows.ts';
import { type Overview, readOverview } from './overview/read-overview.ts';

/** One whole item of a version, by its hash or position; null without one. Until it is read, the one before it stays. */
export const itemQuery = ({ id, version }: VersionOf, item: string | undefined) =>
  queryOptions({
    queryKey: ['item', { id, version }, item],
    queryFn: ({ signal }) => readItem({ id, version }, item ?? '', signal),
    enabled: item !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  });

/** A dataset, by id or handle, as it is now or as a version of it was, by its number or the beginning of its hash. */
export const datasetQuery = (id: string | null, version?: string | undefined) =>
  queryOptions({
    queryKey: ['dataset', id, version ?? null],
    queryFn: ({ signal }): Promise<Dataset> =>
      get('/datasets/{id}', { path: { id: id ?? '' }, query: { version } }, signal),
    enabled: id !== null,
  });

export function overviewQuery(of: VersionOf | undefined, isLimited = true) {
  const { id = '', version = 0 } = of ?? {};
  return queryOptions({
    queryKey: ['overview', id, version, isLimited],
    queryFn: ({ signal }) => readOverview({ id, version }, isLimited, signal),
    enabled: of !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: (before: Overview | undefined, query) =>
      query?.queryKey[1] === id && query.queryKey[2] === version ? before : undefined,
  });
}

type Versions = ResponseOf<'/datasets/{id}/versions', 'get'>;
export type Version = Versions['data'][number];

const PAGE = 50;

/** The history of a dataset, newest first, page by page. Null reads nothing. */
export const versionsQuery = (id: string | null) =>
  infiniteQueryOptions({
    queryKey: ['versions', id],
    queryFn: ({ signal, pageParam: cursor }) =>
      get('/datasets/{id}/versions', { path: { id: id ?? '' }, query: { limit: PAGE, cursor } }, signal),
    ...BY_CURSOR,
    enabled: id !== null,
  });

/** What a version changed, in words: `1 added, 2 changed`. */
export function changeText(change: Version['change']): string {
  const parts = (['added', 'changed', 'removed'] as const)
    .filter((kind) => change[kind] > 0)
    .map((kind) => `${formatCount(change[kind])} ${kind}`);
  return parts.length === 0 ? 'no item differs' : parts.join(', ');
}

export interface Changed {
  readonly version: number;
  readonly change?: Version['change'];
}

/** Waits for a change of a dataset, reads again what shows the dataset, and shows its newest version. */
export function useChange(): (
  changing: Promise<Changed>,
  /** Position of the item that is open afterwards; by default the same item stays. */
  position?: string,
) => Promise<void> {
  const { id } = datasetRoute.useParams();
  const refresh = useRefresh();
  const navigate = datasetRoute.useNavigate();
  const notify = useNotify();
  return async (changing, position) => {
    const { version, change } = await changing;
    const next = position === undefined ? undefined : readItem({ id, version }, position, undefined);
    // the change is stored, whether or not that can be read
    const at = await next?.catch(() => null);
    await refresh();
    await navigate({
      resetScroll: false,
      replace: true,
      // what was typed is stored
      ignoreBlocker: true,
      search: ({ version: _shown, from: _from, to: _to, ...rest }) =>
        at === undefined ? rest : { ...rest, item: at?.item_hash },
    });
    notify(`Version ${version}${change === undefined ? '' : `: ${changeText(change)}`}.`);
  };
}

export function useRefresh(): () => Promise<void> {
  const queries = useQueryClient();
  return async () => {
    await Promise.all(
      ['dataset', 'datasets', 'versions'].map((name) => queries.invalidateQueries({ queryKey: [name] })),
    );
  };
}

export const MESSAGE_FIELD: Field = {
  name: 'message',
  label: 'Message',
  description: 'What the history says of the change',
  maxLength: 1000,
};
