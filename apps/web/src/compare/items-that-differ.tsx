import { Box, Text } from '@mantine/core';
import type { JsonValue } from '@svc/jsonl-v23/json';
import { IconArrowDown, IconArrowUp, IconEqual } from '@tabler/icons-react';
import { useQueries } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useCallback, useState } from 'react';
import { useApi } from '../api/api-context.tsx';
import { dataOf } from '../api/api-problem.ts';
import { listedResult } from '../runs/results/listed-result.ts';
import type { Run } from '../runs/use-run.ts';
import { ErrorView } from '../ui/error-view.tsx';
import { PageSkeleton } from '../ui/layout/page-skeleton.tsx';
import { Panes } from '../ui/layout/panes.tsx';
import { Dimmed } from '../ui/text/dimmed.ts';
import { formatScore } from '../ui/text/formats.ts';
import { ItemId } from '../ui/text/item-id.tsx';
import { plainText } from '../ui/text/pretty-json.ts';
import { useChangeSearch } from '../ui/use-change-search.ts';
import { useChosenRow } from '../ui/use-chosen-row.ts';
import { VirtualList } from '../ui/virtual-list.tsx';
import type { CompareSearch } from './compare-search.ts';
import { DifferencePane } from './difference-pane.tsx';
import { type Difference, useDifferences } from './use-differences.ts';

const route = getRouteApi('/compare');

/** The items in which two runs differ, and the outputs of all runs for the open one. */
export function ItemsThatDiffer({
  runs,
  first,
  other,
}: {
  readonly runs: readonly Run[];
  readonly first: Run;
  readonly other: Run;
}) {
  const { only, by, scorer, item } = route.useSearch();
  const change = useChangeSearch<CompareSearch>(route);
  const differences = useDifferences(first.id, other.id, { only, by, scorer });
  const { total, at, error, onRange: onWindows } = differences;
  const [[from, to], setRange] = useState<readonly [number, number]>([0, 0]);
  const questions = useQuestions(
    first,
    Array.from({ length: to - from + 1 }, (_, row) => at(from + row)?.item_hash ?? []).flat(),
  );
  const onRange = useCallback(
    (shown: number, last: number) => {
      setRange([shown, last]);
      onWindows(shown, last);
    },
    [onWindows],
  );
  const { selected, select } = useChosenRow({
    keyAt: (index) => at(index)?.item_hash,
    indexOf: (hash) => differences.rows().find(([, { item_hash }]) => item_hash === hash)?.[0],
    chosen: item,
    onChoose: (hash) => change({ item: hash }, { replace: item !== undefined }),
  });
  if (error !== null) return <ErrorView error={error} onRetry={() => void differences.refresh()} />;
  if (total === undefined) return <PageSkeleton rows={3} />;
  return (
    <Panes
      label="Difference"
      isOpen={item !== undefined}
      onClose={() => change({ item: undefined })}
      list={
        total === 0 ? (
          <Dimmed p="md">No items differ.</Dimmed>
        ) : (
          <VirtualList
            key={JSON.stringify([only, by, scorer])}
            label="Items that differ"
            total={total}
            selected={selected}
            onSelect={select}
            onRange={onRange}
            columns="minmax(0, 1fr) minmax(44%, 3fr) 104px 16px"
            renderRow={(index) => (
              <Row difference={at(index)} question={questions.get(at(index)?.item_hash ?? '') ?? ''} />
            )}
          />
        )
      }
      entry={
        item === undefined ? (
          <Dimmed p="md">Choose an item to see the outputs side by side.</Dimmed>
        ) : (
          <DifferencePane
            runs={runs}
            other={other}
            scorer={scorer}
            itemHash={item}
            pair={by === undefined || selected === undefined ? undefined : at(selected)}
          />
        )
      }
    />
  );
}

/** What the items with these hashes ask, as far as it was read: a comparison has no items. */
function useQuestions(run: Run, hashes: readonly string[]): ReadonlyMap<string, string> {
  const api = useApi();
  const found = useQueries({
    queries: hashes.map((item_hash) => ({
      queryKey: ['question', run.id, item_hash],
      queryFn: async ({ signal }: { readonly signal: AbortSignal }) => {
        const query = { item_hash, include: 'item' as const, limit: 1 };
        const { data } = await dataOf(
          api.GET('/runs/{id}/results', { params: { path: { id: run.id }, query }, signal }),
        );
        return data[0] === undefined ? '' : listedResult(data[0]).question;
      },
      staleTime: Number.POSITIVE_INFINITY,
    })),
  });
  return new Map(hashes.map((hash, at) => [hash, found[at]?.data ?? '']));
}

function Row({
  difference,
  question,
}: {
  readonly difference: Difference | undefined;
  readonly question: string;
}) {
  if (difference === undefined) return <span>…</span>;
  const { item_id, section, order_index, score, other_score } = difference;
  return (
    <>
      <span dir="auto">
        <ItemId id={plainText(item_id as JsonValue) || `${section} ${order_index}`} />
      </span>
      <span dir="auto">{question}</span>
      <Text span size="xs" className="numbers">
        {formatScore(score)} → {formatScore(other_score)}
      </Text>
      <Change difference={difference.difference} />
    </>
  );
}

/** How the other run differs, as a mark with a colour: words would take the room of the question. */
function Change({ difference }: { readonly difference: number }) {
  const [Icon, color, words] =
    difference === 0
      ? ([IconEqual, 'gray', 'other output'] as const)
      : difference > 0
        ? ([IconArrowUp, 'teal', 'better'] as const)
        : ([IconArrowDown, 'red', 'worse'] as const);
  return (
    <Box component="span" display="flex" title={words}>
      <Icon role="img" size={16} color={`var(--mantine-color-${color}-6)`} aria-label={words} />
    </Box>
  );
}
