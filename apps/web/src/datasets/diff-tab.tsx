import { Button, Group, Stack, Text } from '@mantine/core';
import type { ResponseOf } from '@svc/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useApi } from '../api/api-context.tsx';
import { dataOf } from '../api/api-problem.ts';
import { ErrorView } from '../ui/error-view.tsx';
import { type Column, Columns } from '../ui/layout/columns.tsx';
import { LinkAnchor } from '../ui/layout/links.tsx';
import { PageSkeleton } from '../ui/layout/page-skeleton.tsx';
import { formatCount } from '../ui/text/formats.ts';
import { DatasetSelect } from './dataset-select.tsx';
import type { Dataset } from './items/item-windows.ts';

type Change = ResponseOf<'/datasets/{id}/diff/{other_id}', 'get'>['data'][number];

const route = getRouteApi('/datasets/$id');

/** What another dataset adds, removes, changes and moves. */
export default function DiffTab({ dataset }: { readonly dataset: Dataset }) {
  const { other } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Stack>
      <DatasetSelect
        label="Other dataset"
        placeholder="Choose a dataset"
        maw={480}
        value={other ?? null}
        without={dataset.id}
        onChange={(value) =>
          void navigate({ resetScroll: false, search: { tab: 'diff', other: value ?? undefined } })
        }
      />
      {other !== undefined && <Diff id={dataset.id} other={other} />}
    </Stack>
  );
}

function Diff({ id, other }: { readonly id: string; readonly other: string }) {
  const api = useApi();
  const found = useInfiniteQuery({
    queryKey: ['diff', id, other],
    queryFn: ({ signal, pageParam }) =>
      dataOf(
        api.GET('/datasets/{id}/diff/{other_id}', {
          params: { path: { id, other_id: other }, query: { limit: 100, cursor: pageParam } },
          signal,
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ meta }) => meta.next_cursor ?? undefined,
  });
  if (found.isPending) return <PageSkeleton />;
  if (found.error !== null) return <ErrorView error={found.error} onRetry={() => void found.refetch()} />;
  const counts = found.data.pages[0]?.counts;
  const changes = found.data.pages.flatMap(({ data }) => data);
  const columns: readonly Column<Change>[] = [
    { header: 'Change', cell: ({ change }) => change },
    { header: 'From', wraps: true, cell: (change) => locationOf(placesOf(change).from) },
    {
      header: 'To',
      wraps: true,
      cell: (change) =>
        placesOf(change).to === null ? (
          '–'
        ) : (
          <LinkAnchor to="/datasets/$id" params={{ id: other }} size="sm">
            {locationOf(placesOf(change).to)}
          </LinkAnchor>
        ),
    },
    {
      header: 'Item',
      wraps: true,
      cell: (change) => (
        <Text span size="sm" ff="monospace">
          {change.change === 'changed' ? pointersOf(change) : change.item_hash.slice(0, 12)}
        </Text>
      ),
    },
  ];
  return (
    <>
      <Group gap="lg">
        {Object.entries(counts ?? {}).map(([name, count]) => (
          <Text key={name} size="sm">
            <b>{formatCount(count)}</b> {name}
          </Text>
        ))}
      </Group>
      {changes.length > 0 && (
        <Columns
          label="Changes"
          columns={columns}
          rows={changes}
          keyOf={(change) =>
            `${change.change} ${locationOf(placesOf(change).from)} ${locationOf(placesOf(change).to)}`
          }
        />
      )}
      {found.hasNextPage && (
        <Button
          variant="default"
          loading={found.isFetchingNextPage}
          onClick={() => void found.fetchNextPage()}
        >
          More changes
        </Button>
      )}
    </>
  );
}

function placesOf(change: Change) {
  if (change.change !== 'changed') return { from: change.from, to: change.to };
  const { section, order_index, other_order_index } = change;
  return { from: { section, order_index }, to: { section, order_index: other_order_index } };
}

/** The members that differ. */
const pointersOf = ({ fields }: Extract<Change, { change: 'changed' }>): string =>
  fields.map(({ pointer }) => pointer || 'the whole item').join(' ');

const locationOf = (at: { readonly section?: string; readonly order_index?: number } | null): string =>
  at === null ? '–' : `${at.section} ${at.order_index}`;
