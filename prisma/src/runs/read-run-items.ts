import { JsonText, type RunFailure, type RunItem, type StoredOutput } from '@svc/evaluation';
import type { Scores } from '@svc/jsonl-v23/internal';
import type { JsonValue } from '@svc/jsonl-v23/json';
import { readLinkedFiles } from '../assets/linked-files-column.ts';
import type { StoreContext } from '../context.ts';
import { readStoredJson } from '../database/read-stored-json.ts';
import { itemTooLarge } from '../database/values.ts';
import { type ItemPosition, ofVersion } from '../items/item-ranges.ts';
import {
  type ItemCandidate,
  type ItemLimits,
  planItems,
  readPlannedItems,
} from '../items/read-item-texts.ts';
import { createReadQuery, type ReadQuery } from '../postgres/read-query.ts';
import { type AddingScorers, addingScorersOf, lacksScores } from './adding-scorers.ts';
import { keyOf, readCandidatesAt } from './read-items-at.ts';
import { filterByKeys } from './results/results-filter.ts';
import {
  planResults,
  positionOf,
  type ResultKey,
  type ResultPosition,
  type ResultsFilter,
  readPlannedResults,
  type StoredResult,
} from './run-results.ts';
import { isToReplace, type Retry, type Run, readRetry, type VersionOfRun, versionOf } from './run-row.ts';

/** Positions of a section that one query looks at. */
const POSITIONS_PER_QUERY = 500;

/** Reads the items of a run that lack a result, or whose result is to be replaced, in order, a page at a time. */
export async function* readRunItems(
  { pool, ...limits }: StoreContext,
  run: Run,
  signal: AbortSignal,
): AsyncGenerator<RunItem, void, undefined> {
  const query = createReadQuery(pool, signal);
  const version = versionOf(run);
  const retry = await readRetry(query, run.id);
  if (retry === null) return;
  const sections = await query<{ readonly orderIndex: number; readonly itemCount: number }>(SECTIONS, [
    version.datasetId,
    version.version,
  ]);
  for (const { orderIndex: section, itemCount } of sections) {
    for (let from = 0; from < itemCount; ) {
      signal.throwIfAborted();
      const to = Math.min(from + POSITIONS_PER_QUERY, itemCount);
      const { positions, done } = await findItems(query, run, retry, { section, from, to });
      const candidates = await readCandidatesAt(query, version, positions);
      const plan = planItems(candidates, limits, 'embed');
      for (const row of await readPlannedItems(query, plan)) {
        signal.throwIfAborted();
        yield { ...toRunItem(row, limits), doneRepetitions: done.get(row.orderIndex) ?? [] };
      }
      from = candidates[plan.items.length]?.orderIndex ?? to;
    }
  }
}

/** Finds the positions of a part of a section whose items a run has to do, and which repetitions of them are done. */
async function findItems(
  query: ReadQuery,
  { id, hasSelection, repetitions }: Run,
  { retries, only }: Retry,
  { section, from, to }: { readonly section: number; readonly from: number; readonly to: number },
): Promise<{
  readonly positions: readonly ItemPosition[];
  readonly done: ReadonlyMap<number, readonly number[]>;
}> {
  const range = [id, section, from, to];
  const chosen = hasSelection
    ? (await query<{ readonly orderIndex: number }>(CHOSEN, range)).map(({ orderIndex }) => orderIndex)
    : Array.from({ length: to - from }, (_, index) => from + index);
  if (chosen.length === 0) return { positions: [], done: new Map() };
  const rows = await query<{ readonly orderIndex: number; readonly repetitions: readonly number[] }>(DONE, [
    ...range,
    retries,
    only,
  ]);
  const done = new Map(rows.map((row) => [row.orderIndex, row.repetitions]));
  const positions = chosen
    .filter((orderIndex) => (done.get(orderIndex)?.length ?? 0) < repetitions)
    .map((orderIndex) => ({ sectionOrderIndex: section, orderIndex }));
  return { positions, done };
}

/** An item that was read for a worker, without its embedded files; with them it must not be too large. */
export function toRunItem(
  row: ItemCandidate & { readonly sectionOrderIndex: number; readonly isTruncated: boolean },
  { maxItemBytes, maxWholeBytes }: ItemLimits,
): Omit<RunItem, 'doneRepetitions'> {
  const { section, sectionOrderIndex, orderIndex, payload, answer, checker, assets, isTruncated } = row;
  const at = { section, sectionOrderIndex, orderIndex };
  if (payload === null || isTruncated) {
    const { message } = itemTooLarge('Item', row, payload === null ? maxItemBytes : maxWholeBytes);
    return { ...at, parts: null, failure: { code: 'item_too_large', message } };
  }
  const linkedFiles = readLinkedFiles(row.linkedFiles);
  return { ...at, parts: { payload, answer, checker, assets }, linkedFiles };
}

/** The sections of a version, $1 and $2. */
const SECTIONS = `SELECT s.order_index AS "orderIndex", s.item_count AS "itemCount"
  FROM version_sections s WHERE ${ofVersion('$1', '$2')} ORDER BY s.order_index`;

/** The positions of section $2 that run $1 selected, from position $3 up to, not including, position $4. */
const CHOSEN = `SELECT order_index AS "orderIndex" FROM run_items
  WHERE run_id = $1 AND section_order_index = $2 AND order_index >= $3 AND order_index < $4 ORDER BY order_index`;

/** Its repetitions of these that are done; $5 and $6 the retry. */
const DONE = `SELECT order_index AS "orderIndex", array_agg(repetition ORDER BY repetition) AS repetitions
  FROM run_results result WHERE run_id = $1 AND section_order_index = $2 AND order_index >= $3 AND order_index < $4
    AND NOT (${isToReplace('result', { retries: '$5', only: '$6' })}) GROUP BY order_index`;

const PAGE_RESULTS = 100;
/** Longer outputs stay JSON text: threads read them. */
export const MAX_INLINE_CHARS: number = 64 * 1024;

/** Reads the items of a run at some positions, for what scores them: of as many as fit into a page, and one at least. */
export async function readItemsAt(
  query: ReadQuery,
  limits: ItemLimits,
  version: VersionOfRun,
  positions: readonly ItemPosition[],
): Promise<{ readonly items: ReadonlyMap<string, RunItemTexts>; readonly left: ReadonlySet<string> }> {
  const candidates = await readCandidatesAt(query, version, positions);
  const plan = planItems(candidates, limits, 'embed');
  const rows = await readPlannedItems(query, plan);
  return {
    items: new Map(rows.map((row) => [keyOf(row), toRunItem(row, limits)])),
    left: new Set(candidates.slice(plan.items.length).map(keyOf)),
  };
}

type RunItemTexts = ReturnType<typeof toRunItem>;

/**
 * Reads the outputs of another run that a run scores again, or its own that further scorers score, each with its item, in order, a page at a time: one entry for
 * each repetition that lacks a result, or these scores.
 */
export async function* readStoredOutputs(
  { pool, ...limits }: StoreContext,
  run: Run,
  sourceRunId: string,
  signal: AbortSignal,
): AsyncGenerator<RunItem, void, undefined> {
  const query = createReadQuery(pool, signal);
  const adding = addingScorersOf(run);
  const retry = await readRetry(query, run.id);
  if (retry === null) return;
  let after: ResultPosition = [-1, -1, -1];
  for (;;) {
    signal.throwIfAborted();
    let filter: ResultsFilter;
    if (adding === null) {
      const { last, keys } = await findOutputs(query, run.id, sourceRunId, { after, retry });
      if (last === undefined) return;
      if (keys.length === 0) {
        after = last;
        continue;
      }
      filter = filterByKeys(keys, 7);
    } else filter = lacksScores(adding, 7);
    const plan = await planResults(query, {
      runId: sourceRunId,
      after,
      limit: PAGE_RESULTS,
      filter,
      maxBytes: limits.maxItemBytes,
    });
    const results = await readPlannedResults(query, sourceRunId, plan);
    if (results.length === 0) return;
    const { items, left } = await readItemsAt(query, limits, versionOf(run), results);
    for (const result of results) {
      signal.throwIfAborted();
      if (left.has(keyOf(result))) break;
      after = positionOf(result);
      const item = items.get(keyOf(result));
      if (item === undefined) continue;
      yield { ...item, doneRepetitions: [], outputs: [toStoredOutput(result, adding)] };
    }
    if (adding !== null && !plan.hasMore && left.size === 0) return;
  }
}

/** Results of the source whose keys are compared with the keys of the run together. */
const COMPARED_RESULTS = 1_000;

const keysWhere = (
  condition: string,
): string => `SELECT section_order_index AS "sectionOrderIndex", order_index AS "orderIndex", repetition
  FROM run_results result WHERE run_id = $1 AND (section_order_index, order_index, repetition) > ($2::int, $3::int, $4::int) ${condition}`;

/** The next results of the source run. */
const SOURCE = keysWhere(`ORDER BY section_order_index, order_index, repetition LIMIT ${COMPARED_RESULTS}`);
/** Results of a run up to the position $5 to $7, $8 and $9 the retry. */
const OWN = keysWhere(`AND (section_order_index, order_index, repetition) <= ($5::int, $6::int, $7::int)
    AND NOT (${isToReplace('result', { retries: '$8', only: '$9' })})`);

/** The next results of the source for which a run has none: at most a page, and how far the search came. */
async function findOutputs(
  query: ReadQuery,
  runId: string,
  sourceRunId: string,
  { after, retry }: { readonly after: ResultPosition; readonly retry: Retry },
): Promise<{ readonly last: ResultPosition | undefined; readonly keys: readonly ResultPosition[] }> {
  const source = (await query<ResultKey>(SOURCE, [sourceRunId, ...after])).map(positionOf);
  const last = source.at(-1);
  if (last === undefined) return { last, keys: [] };
  const own = await query<ResultKey>(OWN, [runId, ...after, ...last, retry.retries, retry.only]);
  const done = new Set(own.map((key) => positionOf(key).join(' ')));
  const keys = source.filter((key) => !done.has(key.join(' ')));
  return { last, keys: keys.slice(0, PAGE_RESULTS) };
}

function toStoredOutput(result: StoredResult, adding: AddingScorers | null): StoredOutput {
  const { output, error, isTooLarge } = result;
  return {
    ...(adding !== null && { scoredBy: scoredBy(result, adding) }),
    repetition: result.repetition,
    itemId: result.itemId === null ? null : readStoredJson(result.itemId),
    output: output === null ? null : readOutput(output),
    reasoning: readReasoning(result.reasoning),
    failure: isTooLarge ? TOO_LARGE : output === null ? failureOf(error) : null,
    finishReason: result.finishReason,
    latencyMs: result.latencyMs,
    usage: null,
    traceId: result.traceId,
    redacted: adding === null ? result.redacted : 0,
    omittedAssets:
      result.omittedAssets === null ? null : (readStoredJson(result.omittedAssets) as readonly string[]),
  };
}

/** The scorers that need not score a result again. */
function scoredBy({ scores, status }: StoredResult, { main }: AddingScorers): readonly string[] {
  const given = scores === null ? [] : Object.entries(readStoredJson(scores) as unknown as Scores);
  const named = given.filter(([, { error }]) => error === undefined).map(([name]) => name);
  return main === null || status === 'unscored'
    ? named.filter((name) => name !== main?.name)
    : [...named, main.name];
}

const TOO_LARGE: RunFailure = { code: 'item_too_large', message: 'The stored output is too large.' };
const WITHOUT_OUTPUT: RunFailure = { code: 'internal', message: 'The source run has no output.' };

/** A stored reasoning, see {@link readOutput}. */
export const readReasoning = (json: string | null): string | JsonText | null =>
  json === null ? null : (readOutput(json) as string | JsonText);

/** A stored output; a long one stays text. */
export function readOutput(json: string): JsonValue | JsonText {
  return json.length > MAX_INLINE_CHARS ? new JsonText(json) : readStoredJson(json);
}

function failureOf(error: string | null): RunFailure {
  return error === null ? WITHOUT_OUTPUT : (readStoredJson(error) as unknown as RunFailure);
}
