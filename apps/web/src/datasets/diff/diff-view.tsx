import { Group, SegmentedControl, Stack } from '@mantine/core';
import type { ResponseOf } from '@svc/client';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { get } from '../../api/api.ts';
import { BY_CURSOR, MoreButton } from '../../ui/layout/pager.tsx';
import { isShown, QueryState } from '../../ui/query-state.tsx';
import { useChangeSearch } from '../../ui/search-params.ts';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { formatCount } from '../../ui/text/formats.ts';
import { CHANGES, type DatasetSearch } from '../dataset-search.ts';
import { DatasetSelect } from '../dataset-select.tsx';
import type { Dataset, VersionOf } from '../items/item-windows.ts';
import { datasetQuery } from '../queries.ts';
import { VersionSelect } from '../versions/version-select.tsx';
import { ChangeCard, placeText } from './change-card.tsx';

type Diff = ResponseOf<'/datasets/{id}/diff/{other_id}', 'get'>;

const route = getRouteApi('/datasets/$id');

const PAGE = 50;

/** What another dataset, or a version of it, adds, removes and changes. */
export default function DiffTab({ dataset }: { readonly dataset: Dataset }) {
  const { other, to } = route.useSearch();
  const navigate = route.useNavigate();
  const change = useChangeSearch<DatasetSearch>(route);
  const found = useQuery(datasetQuery(other ?? null, to));
  const chosen = found.data;
  return (
    <Stack>
      <Group align="flex-end">
        <DatasetSelect
          label="Other dataset"
          placeholder="Choose a dataset"
          w={480}
          maw="100%"
          value={other ?? null}
          without={dataset.id}
          onChange={(value) =>
            void navigate({
              resetScroll: false,
              search: ({ version }) => ({ version, tab: 'diff', other: value ?? undefined }),
            })
          }
        />
        <VersionSelect
          label="Its version"
          id={other ?? null}
          value={to ?? null}
          onChange={(value) => change({ to: value ?? undefined })}
        />
      </Group>
      {other !== undefined && <QueryState query={found} />}
      {chosen !== undefined && <DiffView from={dataset} to={chosen} />}
    </Stack>
  );
}

/** What a dataset or version has other than another: counts by kind, and each difference with its texts. */
export function DiffView({ from, to }: { readonly from: VersionOf; readonly to: VersionOf }) {
  const { only } = route.useSearch();
  const change = useChangeSearch<DatasetSearch>(route);
  const found = useInfiniteQuery({
    queryKey: ['diff', from.id, from.version, to.id, to.version, only],
    queryFn: ({ signal, pageParam }) =>
      get(
        '/datasets/{id}/diff/{other_id}',
        {
          path: { id: from.id, other_id: to.id },
          query: {
            ...{ version: String(from.version), other_version: String(to.version) },
            ...{ only, limit: PAGE, cursor: pageParam },
          },
        },
        signal,
      ),
    ...BY_CURSOR,
    placeholderData: keepPreviousData,
  });
  if (!isShown(found)) return <QueryState query={found} />;
  const first = found.data.pages[0];
  const counts = first?.counts;
  const differences = found.data.pages.flatMap(({ data }) => data);
  return (
    <Stack gap="sm">
      {counts !== undefined && (
        <SegmentedControl
          className="wrapping"
          w="fit-content"
          size="xs"
          aria-label="Kind of difference"
          value={only ?? 'all'}
          onChange={(value) => change({ only: CHANGES.find((one) => one === value) })}
          data={[
            { value: 'all', label: `All (${formatCount(totalOf(counts))})` },
            ...CHANGES.map((kind) => ({ value: kind, label: `${kind} (${formatCount(counts[kind])})` })),
          ]}
        />
      )}
      <Dimmed role="status">{first !== undefined && summaryOf(first)}</Dimmed>
      <Stack component="ul" className="plain-list" gap="sm" aria-label="Differences">
        {differences.map((difference) => (
          <ChangeCard
            key={`${difference.change} ${placeText(difference)}`}
            difference={difference}
            from={from}
            to={to}
          />
        ))}
      </Stack>
      <MoreButton query={found}>More differences</MoreButton>
    </Stack>
  );
}

const totalOf = (counts: Diff['counts']): number => CHANGES.reduce((sum, kind) => sum + counts[kind], 0);

function summaryOf({ counts, sections }: Diff): string {
  const same = `${formatCount(counts.unchanged)} ${counts.unchanged === 1 ? 'item is' : 'items are'} the same`;
  const orders = sections.filter(({ order_changed }) => order_changed).map(({ name }) => name);
  return [
    totalOf(counts) === 0 ? `No item differs: ${same}.` : `${same}.`,
    ...(orders.length > 0 ? [`The order has changed in ${orders.join(', ')}.`] : []),
  ].join(' ');
}
