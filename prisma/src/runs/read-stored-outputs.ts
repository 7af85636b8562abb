import { JsonText, type RunFailure, type RunItem, type StoredOutput } from '@svc/evaluation';
import type { JsonObject, JsonValue } from '@svc/jsonl-v23/json';
import { createReadQuery, type ReadQuery } from '@svc/postgres';
import type { StoreContext } from '../context.ts';
import { boundedName } from '../database/item-size.ts';
import { readStoredJson } from '../database/read-stored-json.ts';
import {
  type ItemCandidate,
  type ItemLimits,
  itemCandidates,
  planItems,
  readPlannedItems,
} from '../items/read-item-texts.ts';
import { isItemAt, ofRun } from '../items/version-sql.ts';
import { type AddingScorers, addingScorersOf, lacksScores } from './adding-scorers.ts';
import { isToReplace } from './insert-results.ts';
import { toRunItem } from './read-run-items.ts';
import {
  planResults,
  positionOf,
  type ResultPosition,
  readPlannedResults,
  type StoredResult,
} from './run-results.ts';
import type { Run } from './run-row.ts';

/** Maximum results of one query. */
const PAGE_RESULTS = 100;
/** Longer outputs stay JSON text: threads read them. */
export const MAX_INLINE_CHARS: number = 64 * 1024;

/** Results of the source run, $7 this run, that this run has no result for. */
const IS_TO_DO = {
  joins: '',
  sql: `AND NOT EXISTS (SELECT FROM run_results mine JOIN runs run ON run.id = mine.run_id WHERE mine.run_id = $7
    AND mine.section_order_index = result.section_order_index AND mine.order_index = result.order_index
    AND mine.repetition = result.repetition AND NOT (${isToReplace('mine', 'run')}))`,
} as const;

/** The items at positions of run $1: $2 the sections, $3 the items. */
const ITEMS = `${itemCandidates(
  `SELECT i.part_id AS "partId", i.ordinal, ${boundedName('s.name')} AS section, s.order_index AS "sectionOrderIndex",
     wanted.item AS "orderIndex", i.byte_length, i.payload, i.answer, i.checker, i.assets, i.linked_files, i.linked_bytes, 1 AS one
   FROM (SELECT DISTINCT * FROM unnest($2::int[], $3::int[])) AS wanted (section, item)
     JOIN runs run ON run.id = $1 JOIN version_sections s ON ${ofRun('run')} AND s.order_index = wanted.section
     JOIN items i ON ${isItemAt('wanted.item')}`,
  'one',
)} ORDER BY "sectionOrderIndex", "orderIndex"`;

type ItemRow = ItemCandidate & { readonly sectionOrderIndex: number };

/** Where an item is in the version of a run. */
export interface ItemPosition {
  readonly sectionOrderIndex: number;
  readonly orderIndex: number;
}

/** Reads the items of a run at some positions, for what scores them: of as many as fit into a page, and one at least. */
export async function readItemsAt(
  query: ReadQuery,
  limits: ItemLimits,
  runId: string,
  positions: readonly ItemPosition[],
): Promise<{ readonly items: ReadonlyMap<string, RunItemTexts>; readonly left: ReadonlySet<string> }> {
  const candidates = await query<ItemRow>(ITEMS, [
    runId,
    positions.map(({ sectionOrderIndex }) => sectionOrderIndex),
    positions.map(({ orderIndex }) => orderIndex),
  ]);
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
  { pool, ...limits }: Pick<StoreContext, 'pool' | 'maxItemBytes' | 'maxWholeBytes'>,
  run: Run,
  sourceRunId: string,
  signal: AbortSignal,
): AsyncGenerator<RunItem, void, undefined> {
  const query = createReadQuery(pool, signal);
  const adding = addingScorersOf(run);
  const filter = adding === null ? { ...IS_TO_DO, values: [run.id] } : lacksScores(adding, 7);
  let after: ResultPosition = [-1, -1, -1];
  for (;;) {
    signal.throwIfAborted();
    const plan = await planResults(query, {
      runId: sourceRunId,
      after,
      limit: PAGE_RESULTS,
      filter,
      maxBytes: limits.maxItemBytes,
    });
    const results = await readPlannedResults(query, sourceRunId, plan);
    if (results.length === 0) return;
    const { items, left } = await readItemsAt(query, limits, run.id, results);
    for (const result of results) {
      signal.throwIfAborted();
      if (left.has(keyOf(result))) break;
      after = positionOf(result);
      const item = items.get(keyOf(result));
      if (item === undefined) continue;
      yield { ...item, doneRepetitions: [], outputs: [toStoredOutput(result, adding)] };
    }
    if (!plan.hasMore && left.size === 0) return;
  }
}

/** Names a position. */
export const keyOf = (at: ItemPosition): string => `${at.sectionOrderIndex} ${at.orderIndex}`;

function toStoredOutput(result: StoredResult, adding: AddingScorers | null): StoredOutput {
  const { output, error, isTooLarge } = result;
  return {
    ...(adding !== null && { scoredBy: scoredBy(result, adding) }),
    repetition: result.repetition,
    itemId: result.itemId === null ? null : readStoredJson(result.itemId),
    output: output === null ? null : readOutput(output),
    failure: isTooLarge ? TOO_LARGE : output === null ? failureOf(error) : null,
    finishReason: result.finishReason,
    latencyMs: result.latencyMs,
    usage: null,
    traceId: result.traceId,
    omittedAssets:
      result.omittedAssets === null ? null : (readStoredJson(result.omittedAssets) as readonly string[]),
  };
}

/** The scorers that need not score a result again. */
function scoredBy({ scores, status }: StoredResult, { main }: AddingScorers): readonly string[] {
  const named = scores === null ? [] : Object.keys(readStoredJson(scores) as JsonObject);
  return main === null || status === 'unscored'
    ? named.filter((name) => name !== main?.name)
    : [...named, main.name];
}

const TOO_LARGE: RunFailure = { code: 'item_too_large', message: 'The stored output is too large.' };
const WITHOUT_OUTPUT: RunFailure = { code: 'internal', message: 'The source run has no output.' };

/** A stored output; a long one stays text. */
export function readOutput(json: string): JsonValue | JsonText {
  return json.length > MAX_INLINE_CHARS ? new JsonText(json) : readStoredJson(json);
}

function failureOf(error: string | null): RunFailure {
  return error === null ? WITHOUT_OUTPUT : (readStoredJson(error) as unknown as RunFailure);
}
