import type { JsonValue } from '@svc/jsonl-v23/json';
import type { Scores } from '@svc/jsonl-v23/runs';
import { JsonText, type RunFailure, type RunItem, type StoredOutput } from '../../evaluation/index.ts';
import { readLinkedFiles } from '../assets/linked-files-column.ts';
import type { StoreContext } from '../context.ts';
import { readStoredJson } from '../database/read-stored-json.ts';
import { itemTooLarge } from '../database/values.ts';
import type { ItemPosition } from '../items/item-ranges.ts';
import {
  type ItemCandidate,
  type ItemLimits,
  planItems,
  readPlannedItems,
} from '../items/read-item-texts.ts';
import { createReadQuery, type ReadQuery } from '../postgres/read-query.ts';
import { type AddingScorers, addingScorersOf, lacksScores } from './adding-scorers.ts';
import { findMissing, MISSING_PER_QUERY } from './missing-results.ts';
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

/** Items that are planned together. */
const PAGE_ITEMS = 500;

/** Reads the items of a run that lack a result, or whose result is to be replaced, in order, a page at a time. */
export async function* readRunItems(
  { pool, ...limits }: StoreContext,
  run: Run,
  signal: AbortSignal,
): AsyncGenerator<RunItem, void, undefined> {
  const query = createReadQuery(pool, signal);
  const all = Array.from({ length: run.repetitions }, (_, index) => index + 1);
  // So many that all repetitions of an item are found together.
  const limit = (): number => Math.max(MISSING_PER_QUERY, run.repetitions);
  for await (const { found } of findMissing(query, run, { limit })) {
    const missing = [...Map.groupBy(found, keyOf).values()];
    for (let start = 0; start < missing.length; ) {
      const positions = missing.slice(start, start + PAGE_ITEMS).map(([first]) => first as ResultKey);
      const items = await readItemsAt(query, limits, versionOf(run), positions);
      for (const [index, { item }] of items.entries()) {
        signal.throwIfAborted();
        const lacking = new Set(missing[start + index]?.map(({ repetition }) => repetition));
        if (item !== null) yield { ...item, doneRepetitions: all.filter((n) => !lacking.has(n)) };
      }
      start += items.length;
    }
  }
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

const PAGE_RESULTS = 100;
/** Longer outputs stay JSON text: threads read them. */
export const MAX_INLINE_CHARS: number = 64 * 1024;

/** Reads items for what asks or scores them: as many as fit into a page, in order; null for one that is not there. */
export async function readItemsAt<T extends ItemPosition>(
  query: ReadQuery,
  limits: ItemLimits,
  version: VersionOfRun,
  positions: readonly T[],
): Promise<readonly { readonly at: T; readonly item: RunItemTexts | null }[]> {
  const candidates = await readCandidatesAt(query, version, positions);
  const plan = planItems(candidates, limits, 'embed');
  const rows = await readPlannedItems(query, plan);
  const items = new Map(rows.map((row) => [keyOf(row), toRunItem(row, limits)]));
  const left = new Set(candidates.slice(plan.items.length).map(keyOf));
  const end = positions.findIndex((position) => left.has(keyOf(position)));
  return (end === -1 ? positions : positions.slice(0, end)).map((at) => {
    return { at, item: items.get(keyOf(at)) ?? null };
  });
}

type RunItemTexts = ReturnType<typeof toRunItem>;

/**
 * Reads the outputs of another run that a run scores again, or its own that further scorers score, each with its item, in
 * order, a page at a time: one entry for each that lacks a result, or these scores.
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
    const items = await readItemsAt(query, limits, versionOf(run), results);
    for (const { at: result, item } of items) {
      signal.throwIfAborted();
      after = positionOf(result);
      if (item !== null) yield { ...item, doneRepetitions: [], outputs: [toStoredOutput(result, adding)] };
    }
    if (adding !== null && !plan.hasMore && items.length === results.length) return;
  }
}

/** Results of the source whose keys are compared with the keys of the run together. */
const COMPARED_RESULTS = 1_000;

const keysWhere = (
  condition: string,
): string => `SELECT section_order_index AS "sectionOrderIndex", order_index AS "orderIndex", repetition
  FROM run_results result WHERE run_id = $1 AND (section_order_index, order_index, repetition) > ($2::int, $3::int, $4::int) ${condition}`;

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
