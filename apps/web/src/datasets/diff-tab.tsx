import { Button, Group, Stack, Table, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useApi } from '../api/api-context.tsx';
import { dataOf } from '../api/api-problem.ts';
import { ErrorView } from '../ui/error-view.tsx';
import { LinkAnchor } from '../ui/layout/links.tsx';
import { PageSkeleton } from '../ui/layout/page-skeleton.tsx';
import { WideTable } from '../ui/layout/wide-table.tsx';
import { formatCount } from '../ui/text/formats.ts';
import { DatasetSelect } from './dataset-select.tsx';
import type { Dataset } from './items/item-windows.ts';

const route = getRouteApi('/datasets/$id');

/** What another dataset adds, removes and moves, by item hash. */
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
        <WideTable label="Changes">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Change</Table.Th>
              <Table.Th>From</Table.Th>
              <Table.Th>To</Table.Th>
              <Table.Th>Item</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {changes.map(({ change, item_hash, from, to }) => (
              <Table.Tr key={`${change} ${item_hash} ${from?.order_index} ${to?.order_index}`}>
                <Table.Td>{change}</Table.Td>
                <Table.Td>{placeOf(from)}</Table.Td>
                <Table.Td>
                  {to === null ? (
                    '–'
                  ) : (
                    <LinkAnchor to="/datasets/$id" params={{ id: other }} size="sm">
                      {placeOf(to)}
                    </LinkAnchor>
                  )}
                </Table.Td>
                <Table.Td ff="monospace">{item_hash.slice(0, 12)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </WideTable>
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

const placeOf = (at: { readonly section?: string; readonly order_index?: number } | null): string =>
  at === null ? '–' : `${at.section} ${at.order_index}`;
