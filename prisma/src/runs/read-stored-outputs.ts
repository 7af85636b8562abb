import { JsonText, type RunFailure, type RunItem, type StoredOutput } from '@svc/evaluation';
import type { Scores } from '@svc/jsonl-v23/internal';
import type { JsonValue } from '@svc/jsonl-v23/json';
import type { StoreContext } from '../context.ts';
import { readStoredJson } from '../database/read-stored-json.ts';
import type { ItemPosition } from '../items/item-ranges.ts';
import { type ItemLimits, planItems, readPlannedItems } from '../items/read-item-texts.ts';
import { createReadQuery, type ReadQuery } from '../postgres/read-query.ts';
import { type AddingScorers, addingScorersOf, lacksScores } from './adding-scorers.ts';
import { keyOf, readCandidatesAt } from './read-items-at.ts';
import { toRunItem } from './read-run-items.ts';
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

/** Maximum results of one query. */
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
      const { last, keys } = await findToDo(query, run.id, sourceRunId, { after, retry });
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
async function findToDo(
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
