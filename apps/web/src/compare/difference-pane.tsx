import { SimpleGrid, Stack } from '@mantine/core';
import type { JsonObject, JsonValue } from '@svc/jsonl-v23/json';
import { useQuery } from '@tanstack/react-query';
import { Fragment } from 'react';
import { get } from '../api/api.ts';
import { ItemViewer } from '../datasets/items/item-viewer.tsx';
import { readItem } from '../datasets/items/item-windows.ts';
import { nameOf, type Result, type Run } from '../runs/queries.ts';
import { Part } from '../ui/layout/page.tsx';
import { isShown, QueryState } from '../ui/query-state.tsx';
import { DiffedText } from '../ui/text/diffed-text.tsx';
import { Dimmed } from '../ui/text/dimmed.ts';
import { formatScore, textOrJson } from '../ui/text/formats.ts';
import type { Difference } from './summary-sentence.ts';

const MAX_REPETITIONS = 100;

/** What differs is marked in so many repetitions: finding it takes more than linear time. */
const MAX_MARKED = 10;

export function DifferencePane(props: {
  readonly runs: readonly Run[];
  /** The run that the first one is compared with: its differences are marked in the output of the first. */
  readonly other: Run;
  /** Whose scores are shown; the main one's by default. */
  readonly scorer: string | undefined;
  readonly itemHash: string;
  /** Where the other run has the item, if its content is not the same. */
  readonly pair: Difference | undefined;
}) {
  const { runs, other, scorer, itemHash, pair } = props;
  const ids = runs.map(({ id }) => id);
  const found = useQuery({
    queryKey: ['difference', ids, itemHash, pair?.other_section, pair?.other_order_index],
    queryFn: ({ signal }) =>
      Promise.all(runs.map((run) => readPair(run, itemHash, run === other ? pair : undefined, signal))),
  });
  if (!isShown(found)) return <QueryState query={found} rows={4} />;
  const results = found.data;
  const outputs = results.map((of) => of.map(({ output }) => textOrJson((output ?? null) as JsonValue)));
  // a run without repetitions has one output for all outputs of the other
  const outputOf = (at: number, nth: number): string => outputs[at]?.[nth] ?? outputs[at]?.[0] ?? '';
  const holder = results.findIndex(([result]) => result?.item != null);
  const item = (results[holder]?.[0]?.item ?? null) as JsonObject | null;
  return (
    <Stack gap={0}>
      <SimpleGrid cols={{ base: 1, md: Math.min(3, runs.length) }} p="md">
        {runs.map((run, at) => (
          <Part key={run.id} title={`${nameOf(run)}: ${formatScore(meanOf(results[at] ?? [], scorer))}`}>
            {results[at]?.map((result, nth, { length }) => {
              const text = outputOf(at, nth);
              const isMarked = nth < MAX_MARKED;
              return (
                <Fragment key={result.repetition}>
                  {length > 1 && (
                    <Dimmed size="xs">
                      Repetition {result.repetition}: {formatScore(scoreOf(result, scorer))}
                    </Dimmed>
                  )}
                  <DiffedText
                    text={text}
                    before={isMarked ? outputOf(0, nth) : text}
                    after={isMarked && at === 0 ? outputOf(runs.indexOf(other), nth) : text}
                    side={at === 0 ? 'removed' : 'added'}
                  />
                </Fragment>
              );
            })}
            {results[at]?.length === 0 && <Dimmed>This run has no result for the item.</Dimmed>}
          </Part>
        ))}
      </SimpleGrid>
      {item === null ? (
        <Dimmed p="md">The item cannot be shown.</Dimmed>
      ) : (
        <ItemViewer item={item} datasetId={runs[holder]?.dataset_id} hash={itemHash} />
      )}
    </Stack>
  );
}

const scoreOf = (result: Result, scorer: string | undefined): number | null | undefined =>
  scorer === undefined ? result.score : result.scores?.[scorer]?.score;

function meanOf(results: readonly Result[], scorer: string | undefined): number | undefined {
  const scores = results.flatMap((result) => scoreOf(result, scorer) ?? []);
  return scores.length === 0 ? undefined : scores.reduce((sum, score) => sum + score, 0) / scores.length;
}

/** The results of a run for an item, or for its pair where the content of that is another. */
export async function readPair(
  run: Run,
  itemHash: string,
  pair: Difference | undefined,
  signal: AbortSignal,
): Promise<readonly Result[]> {
  const item_hash = pair === undefined ? itemHash : await readHash(run, pair, signal);
  if (item_hash === '') return [];
  const query = { item_hash, include: 'item', limit: MAX_REPETITIONS } as const;
  const { data } = await get('/runs/{id}/results', { path: { id: run.id }, query }, signal);
  // of equal items the first
  return data.filter(
    ({ section, order_index }) => section === data[0]?.section && order_index === data[0].order_index,
  );
}

async function readHash(
  { dataset_id: id, dataset_version: version }: Run,
  { other_section, other_order_index }: Difference,
  signal: AbortSignal,
): Promise<string> {
  const query = { version: String(version) };
  const { sections } = await get('/datasets/{id}', { path: { id }, query }, signal);
  const order = sections.find(({ name }) => name === other_section)?.order_index;
  const found = await readItem({ id, version }, `${order}-${other_order_index}`, signal);
  return found?.item_hash ?? '';
}
