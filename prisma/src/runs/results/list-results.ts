import type { RunResultStatus } from '@svc/evaluation';
import type { StoreContext } from '../../context.ts';
import { decodeCursor, encodeCursor, type Page, type PageRequest } from '../../database/page.ts';
import { createReadQuery, type ReadQuery } from '../../database/read-query.ts';
import { isUuid } from '../../database/values.ts';
import type { ListedItem } from '../../datasets/list-items.ts';
import {
  type ListedResult,
  planResults,
  positionOf,
  type ResultPosition,
  readPlannedResults,
} from '../run-results.ts';
import { runNotFound } from '../run-row.ts';
import type { RunSummary } from '../scores/summarize-run.ts';
import { itemsOfResults } from './items-of-results.ts';
import { type ResultsConditions, resultsFilter } from './results-filter.ts';

export interface ResultsRequest extends PageRequest, ResultsConditions {
  /** Whether each result comes with its item. */
  readonly includeItems?: boolean | undefined;
}

/** A result of a page, with its item where that was asked for. */
export interface ResultWithItem extends ListedResult {
  /** Null without a payload where the item is too large; absent where it was not asked for. */
  readonly item?: ListedItem | null | undefined;
}

/** A page of results, whose memory is accounted for until it is released. */
export interface ResultsPage extends Page<ResultWithItem> {
  /** Whether the page is large, so that it should be sent in pieces. */
  readonly isLarge: boolean;
  /** Call it when the page was sent, or is not needed. */
  release(): void;
}

/** See `RunStore.listResults`. */
export async function listResults(
  {
    pool,
    searches,
    largePages,
    maxItemBytes,
  }: Pick<StoreContext, 'pool' | 'searches' | 'largePages' | 'maxItemBytes'>,
  id: string,
  { limit, cursor, signal, includeItems = false, ...conditions }: ResultsRequest,
): Promise<ResultsPage> {
  const after: ResultPosition =
    cursor === undefined ? [-1, -1, -1] : decodeCursor('results', ['index', 'index', 'index'], cursor);
  const query = createReadQuery(pool, signal);
  const run = await readRun(query, id);
  // The run has the totals of one filter alone; any other needs a pass over all of its results.
  const known = knownTotal(run, conditions);
  using _permit = known === undefined ? await searches.acquire(signal) : undefined;
  const totalItems = known ?? (await countResults(query, id, conditions));
  const filter = resultsFilter(conditions, 7);
  const plan = await planResults(query, { runId: id, after, limit, filter, maxBytes: maxItemBytes });
  const permits = plan.unreadBytes > 0 ? await largePages.acquire(signal, plan.unreadBytes) : undefined;
  let release = (): void => permits?.[Symbol.dispose]();
  try {
    let results: readonly ResultWithItem[] = await readPlannedResults(query, id, plan);
    let hasMore = plan.hasMore;
    let isLarge = plan.unreadBytes > 0;
    if (includeItems) {
      const found = await itemsOfResults(query, { largePages, maxItemBytes }, run.datasetId, results, signal);
      const releaseResults = release;
      release = () => {
        releaseResults();
        found.release();
      };
      isLarge ||= found.isLarge;
      hasMore ||= found.results.length < results.length;
      results = found.results;
    }
    const last = results.at(-1);
    return {
      data: results,
      nextCursor: hasMore && last !== undefined ? encodeCursor('results', positionOf(last)) : null,
      totalItems,
      isLarge,
      release,
    };
  } catch (error) {
    release();
    throw error;
  }
}

interface RunCounts {
  readonly datasetId: string;
  readonly ok: number;
  readonly failed: number;
  readonly unscored: number;
  readonly passed: number;
  readonly scored: number;
  /** Of these results; null while there is none. */
  readonly summary: string | null;
}

async function readRun(query: ReadQuery, id: string): Promise<RunCounts> {
  const [run] = isUuid(id)
    ? await query<RunCounts>(
        `SELECT dataset_id AS "datasetId", ok, failed, unscored, passed, scored,
           CASE WHEN summary_of = results_version || ':' || ok + failed + unscored THEN summary END AS summary
         FROM runs WHERE id = $1`,
        [id],
      )
    : [];
  if (run === undefined) throw runNotFound(id);
  return run;
}

/** The total that the run or its summary has; undefined if results must be counted. */
function knownTotal(run: RunCounts, conditions: ResultsConditions): number | undefined {
  const given = Object.entries(conditions).filter(([, value]) => value !== undefined);
  const [name, value] = given[0] ?? [];
  if (given.length > 1) return undefined;
  if (name === undefined) return run.ok + run.failed + run.unscored;
  if (name === 'status') return run[value as RunResultStatus];
  // A score without a verdict neither passed nor failed; only imported runs have such.
  if (name === 'passed' && value === true) return run.passed;
  if (run.summary === null || !['section', 'type', 'tag', 'finishReason'].includes(name)) return undefined;
  const { scores, finish_reasons } = JSON.parse(run.summary) as RunSummary;
  const groups = { section: scores.by_section, type: scores.by_type, tag: scores.by_tag };
  const text = String(value);
  if (name === 'finishReason') return Object.hasOwn(finish_reasons, text) ? finish_reasons[text] : undefined;
  const group = groups[name as keyof typeof groups];
  return Object.hasOwn(group, text) ? group[text]?.results : undefined;
}

async function countResults(query: ReadQuery, id: string, conditions: ResultsConditions): Promise<number> {
  const { sql, values } = resultsFilter(conditions, 2);
  const [row] = await query<{ count: string }>(
    `SELECT count(*) FROM run_results result WHERE run_id = $1 ${sql}`,
    [id, ...values],
  );
  return Number(row?.count ?? 0);
}
