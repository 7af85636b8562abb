import { Anchor, Drawer, Group, Text } from '@mantine/core';
import { getMember, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { get } from '../api/api.ts';
import { questionOf } from '../datasets/items/item-reading.ts';
import { nameOf, type Result, type Run } from '../runs/queries.ts';
import { Mark } from '../runs/results/listed-result.tsx';
import { SmallButton } from '../ui/buttons.tsx';
import { BackAndNext } from '../ui/layout/pager.tsx';
import { QueryState } from '../ui/query-state.tsx';
import { ItemId } from '../ui/table/cells.tsx';
import { DataTable } from '../ui/table/data-table.tsx';
import { Dimmed, Note } from '../ui/text/dimmed.ts';
import { formatCount, formatScore, plainText } from '../ui/text/formats.ts';
import { type CompareSearch, compareRoute, useChangeCompare } from './compare-search.ts';
import { DifferencePane, readPair } from './difference-pane.tsx';
import type { Difference } from './summary-sentence.ts';

/** Items of a page: the texts of each are asked for one by one. */
const PAGE = 25;
const SHOWN = 400;

export function ItemsThatDiffer(props: {
  readonly runs: readonly Run[];
  readonly first: Run;
  readonly other: Run;
}) {
  const { runs, first, other } = props;
  const { only, by, scorer, item, page = 1 } = compareRoute.useSearch();
  const change = useChangeCompare();
  const query = { only, pair_by: by, scorer, limit: PAGE, offset: (page - 1) * PAGE };
  const found = useQuery({
    queryKey: ['differences', first.id, other.id, query],
    queryFn: ({ signal }) =>
      get('/runs/{id}/compare/{other_id}', { path: { id: first.id, other_id: other.id }, query }, signal),
    placeholderData: keepPreviousData,
  });
  const rows = found.data?.data ?? [];
  const total = found.data?.meta.total_items ?? 0;
  const texts = usePairs(first, other, rows, by);
  const open = (hash: string | undefined): void =>
    change({ item: hash }, { replace: item !== undefined && hash !== undefined });
  const at = rows.findIndex(({ item_hash }) => item_hash === item);
  const step = (to: 1 | -1) => (): void => open(rows[at + to]?.item_hash ?? item);
  if (found.data === undefined) return <QueryState query={found} rows={3} />;
  if (total === 0) return <Dimmed>No items differ.</Dimmed>;
  const textOf = (row: Difference, of: (texts: PairTexts) => string) => (
    <Text component="div" size="sm" lineClamp={4} dir="auto" className="lines break" flex={1}>
      {of(texts.get(row.item_hash) ?? NO_TEXTS)}
    </Text>
  );
  const text = { wraps: true, size: 140, share: 2 } as const;
  const output = (run: Run, nth: 0 | 1) => ({
    ...{ key: `output-${nth}`, label: nameOf(run), ...text },
    cell: (row: Difference) => (
      <Group gap={6} wrap="nowrap" align="flex-start">
        <Mark result={{ status: 'ok', passed: nth === 0 ? row.passed : row.other_passed }} />
        {textOf(row, ({ outputs }) => outputs[nth])}
        <Note>{formatScore(nth === 0 ? row.score : row.other_score)}</Note>
      </Group>
    ),
  });
  const from = (page - 1) * PAGE;
  return (
    <>
      <DataTable
        label="Items that differ"
        columns={[
          {
            label: 'Item',
            size: 110,
            cell: ({ item_id, section, order_index, item_hash }: Difference) => (
              <Anchor component="button" type="button" size="sm" onClick={() => open(item_hash)}>
                <ItemId id={plainText(item_id as JsonValue) || `${section} ${order_index}`} />
              </Anchor>
            ),
          },
          { label: 'Question', ...text, cell: (row) => textOf(row, ({ question }) => question) },
          { label: 'Expected', ...text, cell: (row) => textOf(row, ({ expected }) => expected) },
          output(first, 0),
          output(other, 1),
        ]}
        rows={rows}
        keyOf={({ item_hash, order_index }) => `${item_hash} ${order_index}`}
        {...(item !== undefined && { open: at < 0 ? null : at })}
        onOpen={(_, row) => open(row?.item_hash)}
        isTall
      />
      {total > PAGE && (
        <Group justify="space-between" component="nav" aria-label="Pages of items" mt="xs">
          <Dimmed>
            {formatCount(from + 1)} to {formatCount(Math.min(total, from + PAGE))} of {formatCount(total)}
          </Dimmed>
          <Group gap="xs">
            <BackAndNext
              onBack={page === 1 ? undefined : () => change({ page: page - 1 })}
              onNext={from + PAGE >= total ? undefined : () => change({ page: page + 1 })}
            />
          </Group>
        </Group>
      )}
      <Drawer
        opened={item !== undefined}
        onClose={() => open(undefined)}
        position="right"
        size="min(1100px, 94vw)"
        title={
          <Group gap="xs">
            <Text span fw={600} dir="auto">
              {plainText((rows[at]?.item_id ?? 'Item') as JsonValue, 60)}
            </Text>
            {at >= 0 && (
              <>
                <Dimmed span>
                  {formatCount(from + at + 1)} of {formatCount(total)}
                </Dimmed>
                <SmallButton label="Previous" disabled={at === 0} onClick={step(-1)} />
                <SmallButton label="Next" disabled={at === rows.length - 1} onClick={step(1)} />
              </>
            )}
          </Group>
        }
        closeButtonProps={{ 'aria-label': 'Close' }}
        transitionProps={{ duration: 0 }}
        padding="sm"
      >
        {item !== undefined && (
          <section aria-label="Difference">
            <DifferencePane
              runs={runs}
              other={other}
              scorer={scorer}
              itemHash={item}
              pair={by === undefined ? undefined : rows[at]}
            />
          </section>
        )}
      </Drawer>
    </>
  );
}

type PairTexts = Awaited<ReturnType<typeof readTexts>>;

const NO_TEXTS: PairTexts = { question: '…', expected: '', outputs: ['', ''] };

/** The texts of pairs by the hash of the item in the first run, as far as they were read: a comparison has none. */
function usePairs(first: Run, other: Run, differences: readonly Difference[], by: CompareSearch['by']) {
  const found = useQueries({
    queries: differences.map((difference) => ({
      queryKey: ['pair', first.id, other.id, by, difference.item_hash, difference.order_index],
      queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
        readTexts([first, other], difference, by, signal),
      staleTime: Number.POSITIVE_INFINITY,
    })),
  });
  return new Map(
    differences.flatMap(({ item_hash }, at) => {
      const texts = found[at]?.data;
      return texts === undefined ? [] : [[item_hash, texts] as const];
    }),
  );
}

async function readTexts(
  runs: readonly [Run, Run],
  difference: Difference,
  by: CompareSearch['by'],
  signal: AbortSignal,
) {
  const pair = by === undefined ? undefined : difference;
  const [of, ofOther] = await Promise.all(
    runs.map((run, at) => readPair(run, difference.item_hash, at === 1 ? pair : undefined, signal)),
  );
  const item = (of?.[0]?.item ?? ofOther?.[0]?.item ?? {}) as JsonObject;
  const outputOf = (results: readonly Result[] | undefined): string =>
    plainText((results?.[0]?.output ?? null) as JsonValue, SHOWN);
  return {
    question: questionOf(item, SHOWN),
    expected: plainText(getMember(item, 'answer'), SHOWN),
    outputs: [outputOf(of), outputOf(ofOther)] as const,
  };
}
