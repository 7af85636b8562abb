import { Group, Stack, Text } from '@mantine/core';
import type { JsonValue } from '@svc/jsonl-v23/json';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useCallback } from 'react';
import { useApi } from '../../api/api-context.tsx';
import { dataOf } from '../../api/api-problem.ts';
import { ErrorView } from '../../ui/error-view.tsx';
import { Panes } from '../../ui/layout/panes.tsx';
import { formatCount, formatScore } from '../../ui/text/formats.ts';
import { plainText } from '../../ui/text/pretty-json.ts';
import { usePageOf } from '../../ui/use-page-of.ts';
import { VirtualList } from '../../ui/virtual-list.tsx';
import type { RunSearch } from '../runs-search.ts';
import type { Result, Run } from '../use-run.ts';
import { ResultFilters } from './result-filters.tsx';
import { ResultPane } from './result-pane.tsx';

const route = getRouteApi('/runs/$id');

const PAGE = 100;
/** Rows from the end of what was read at which the next page is asked for. */
const AHEAD = 50;

/** The results of a run: filters, a list of any length, and the open result with its item. */
export function ResultsTab({ run }: { readonly run: Run }) {
  const api = useApi();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { status, passed, section, type, tag, finish_reason, q } = search;
  const filters = {
    status,
    passed: passed === undefined ? undefined : passed === 'true',
    section,
    type,
    tag,
    finish_reason,
    q,
  };
  const found = useInfiniteQuery({
    queryKey: ['results', run.id, filters],
    queryFn: async ({ signal, pageParam }) =>
      await dataOf(
        api.GET('/runs/{id}/results', {
          params: { path: { id: run.id }, query: { ...filters, limit: PAGE, cursor: pageParam } },
          signal,
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ meta }) => meta.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
  });
  const results = found.data?.pages.flatMap(({ data }) => data) ?? [];
  const total = found.data?.pages.at(-1)?.meta.total_items ?? 0;
  const { fetchNextPage, hasNextPage, isFetchingNextPage } = found;
  const onRange = useCallback(
    (_first: number, last: number) => {
      if (hasNextPage && !isFetchingNextPage && last >= results.length - AHEAD) void fetchNextPage();
    },
    [hasNextPage, isFetchingNextPage, fetchNextPage, results.length],
  );
  const change = (changes: Partial<RunSearch>): void =>
    void navigate({
      resetScroll: false,
      search: (before) => ({ ...before, result: undefined, ...changes }),
      replace: true,
    });
  const open = search.result === undefined ? undefined : results[search.result];
  usePageOf(search.result, results.length, found);
  return (
    <Stack gap="sm">
      <Group gap="xs">
        <ResultFilters run={run} search={search} onChange={change} />
        <Text size="sm" c="dimmed" aria-live="polite">
          {formatCount(total)} {total === 1 ? 'result' : 'results'}
        </Text>
      </Group>
      {found.error !== null && <ErrorView error={found.error} onRetry={() => void found.refetch()} />}
      <Panes
        label="Result"
        isOpen={open !== undefined}
        onClose={() => change({})}
        list={
          <VirtualList
            key={JSON.stringify(filters)}
            label="Results"
            count={results.length}
            selected={search.result}
            onSelect={(index) =>
              void navigate({
                resetScroll: false,
                search: (before) => ({ ...before, result: index }),
                replace: true,
              })
            }
            onRange={onRange}
            columns="100px minmax(0, 1fr) 64px"
            renderRow={(index) => <Row result={results[index]} />}
          />
        }
        entry={
          open === undefined ? (
            <Text c="dimmed" p="md" size="sm">
              Choose a result from the list. The arrow keys move through it.
            </Text>
          ) : (
            <ResultPane run={run} result={open} />
          )
        }
      />
    </Stack>
  );
}

function Row({ result }: { readonly result: Result | undefined }) {
  if (result === undefined) return <span>…</span>;
  const shown = result.status === 'failed' ? result.error?.message : plainText(result.output as JsonValue);
  return (
    <>
      <Text span size="xs" c="dimmed" ff="monospace">
        {plainText((result.item_id ?? result.order_index) as JsonValue)}
      </Text>
      <Text
        span
        size="sm"
        c={result.status === 'failed' ? 'var(--mantine-color-error)' : undefined}
        className="ellipsis"
      >
        {shown}
      </Text>
      <Text span size="xs" ta="end">
        {result.passed === true ? '✓ ' : result.passed === false ? '✗ ' : ''}
        {formatScore(result.score)}
      </Text>
    </>
  );
}
