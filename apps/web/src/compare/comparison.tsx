import { Card, SegmentedControl, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense, useCallback } from 'react';
import { useApi } from '../api/api-context.tsx';
import { dataOf } from '../api/api-problem.ts';
import type { JsonValue } from '../api/exact.ts';
import { nameOf, useRun } from '../runs/use-run.ts';
import { ErrorView } from '../ui/error-view.tsx';
import { PageSkeleton } from '../ui/layout/page-skeleton.tsx';
import { Panes } from '../ui/layout/panes.tsx';
import { formatCount, formatScore } from '../ui/text/formats.ts';
import { plainText } from '../ui/text/pretty-json.ts';
import { VirtualList } from '../ui/virtual-list.tsx';
import { DifferencePane } from './difference-pane.tsx';

const route = getRouteApi('/compare');

const ScoreSlope = lazy(() => import('../ui/charts/score-slope.tsx'));

const PAGE = 100;
const AHEAD = 50;

/** Two runs: the difference of their scores with its interval, and the items in which they differ. */
export function Comparison({ id, other }: { readonly id: string; readonly other: string }) {
  const api = useApi();
  const { only, item } = route.useSearch();
  const navigate = route.useNavigate();
  const [run, otherRun] = [useRun(id).data, useRun(other).data];
  const found = useInfiniteQuery({
    queryKey: ['compare', id, other, only],
    queryFn: ({ signal, pageParam }) =>
      dataOf(
        api.GET('/runs/{id}/compare/{other_id}', {
          params: { path: { id, other_id: other }, query: { only, limit: PAGE, cursor: pageParam } },
          signal,
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ meta }) => meta.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
  });
  const differences = found.data?.pages.flatMap(({ data }) => data) ?? [];
  const { fetchNextPage, hasNextPage, isFetchingNextPage } = found;
  const onRange = useCallback(
    (_first: number, last: number) => {
      if (hasNextPage && !isFetchingNextPage && last >= differences.length - AHEAD) void fetchNextPage();
    },
    [hasNextPage, isFetchingNextPage, fetchNextPage, differences.length],
  );
  if (found.error !== null) return <ErrorView error={found.error} onRetry={() => void found.refetch()} />;
  const scores = found.data?.pages[0];
  if (scores === undefined || run === undefined || otherRun === undefined) return <PageSkeleton rows={3} />;
  const [low, high] = scores.ci95 ?? [];
  const facts: readonly (readonly [string, string])[] = [
    [nameOf(run), formatScore(scores.mean)],
    [nameOf(otherRun), formatScore(scores.other_mean)],
    [
      'Difference',
      `${formatScore(scores.mean_difference)}${low === undefined || high === undefined ? '' : ` (${formatScore(low)} to ${formatScore(high)})`}`,
    ],
    ['Better, worse, equal', [scores.wins, scores.losses, scores.ties].map(formatCount).join(', ')],
    ['Items in both', formatCount(scores.paired)],
    ['p (McNemar)', scores.p_value === null ? '–' : scores.p_value.toPrecision(2)],
  ];
  const open = item === undefined ? undefined : differences[item];
  return (
    <Stack gap="sm">
      <Title order={2} size="h5" className="break">
        {nameOf(otherRun)} compared with {nameOf(run)}
      </Title>
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }} spacing="xs" component="dl" m={0}>
        {facts.map(([name, value], at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two runs may have the same name
          <Card key={at} withBorder padding="xs">
            <Text component="dt" size="xs" c="dimmed" className="break">
              {name}
            </Text>
            <Text component="dd" m={0} fw={600} size="sm">
              {value}
            </Text>
          </Card>
        ))}
      </SimpleGrid>
      <Suspense fallback={<PageSkeleton rows={3} />}>
        <ScoreSlope
          title="Score by section"
          before={run.scores.by_section ?? {}}
          after={otherRun.scores.by_section ?? {}}
        />
      </Suspense>
      <SegmentedControl
        aria-label="Which differences"
        size="xs"
        w="fit-content"
        value={only ?? 'all'}
        onChange={(value) =>
          void navigate({
            search: (before) => ({
              ...before,
              item: undefined,
              only: value === 'regressions' || value === 'improvements' ? value : undefined,
            }),
          })
        }
        data={[
          { value: 'all', label: 'All differences' },
          { value: 'regressions', label: 'Worse' },
          { value: 'improvements', label: 'Better' },
        ]}
      />
      <Panes
        label="Difference"
        isOpen={open !== undefined}
        onClose={() => void navigate({ search: (before) => ({ ...before, item: undefined }) })}
        list={
          differences.length === 0 ? (
            <Text p="md" size="sm" c="dimmed">
              No items differ.
            </Text>
          ) : (
            <VirtualList
              label="Items that differ"
              count={differences.length}
              selected={item}
              onSelect={(index) =>
                void navigate({ search: (before) => ({ ...before, item: index }), replace: true })
              }
              onRange={onRange}
              columns="minmax(0, 1fr) 110px 70px"
              renderRow={(index) => <Row difference={differences[index]} />}
            />
          )
        }
        entry={
          open === undefined ? (
            <Text c="dimmed" p="md" size="sm">
              Choose an item to see both outputs.
            </Text>
          ) : (
            <DifferencePane run={run} other={otherRun} difference={open} />
          )
        }
      />
    </Stack>
  );
}

function Row({
  difference,
}: {
  readonly difference:
    | {
        readonly item_id: unknown;
        readonly section: string;
        readonly order_index: number;
        readonly score: number;
        readonly other_score: number;
        readonly difference: number;
      }
    | undefined;
}) {
  if (difference === undefined) return <span>…</span>;
  const { item_id, section, order_index, score, other_score } = difference;
  return (
    <>
      <span>{plainText(item_id as JsonValue) || `${section} ${order_index}`}</span>
      <span>
        {formatScore(score)} → {formatScore(other_score)}
      </span>
      <span>{difference.difference > 0 ? 'better' : 'worse'}</span>
    </>
  );
}
