import { createHash } from 'node:crypto';
import type { ReadQuery } from '@svc/postgres';
import type { StoreContext } from '../../context.ts';
import { joinPositions } from '../../sections/hash-blocks.ts';
import type { ResultBlock, ResultPosition } from '../run-results.ts';
import type { CountedBlock, CountedBlocks } from './counted-blocks.ts';
import { knownTotal, type RunTotals } from './known-total.ts';
import {
  isBeyondAscii,
  type ResultsConditions,
  resultsFilter,
  type TextTraits,
  wantedText,
} from './results-filter.ts';

/** Where the results of a page are, and how many there are in all. */
export interface FoundResults {
  readonly total: number;
  /** Blocks that have enough of them for the page; undefined if they are frequent enough to look for them in order. */
  readonly within: readonly ResultBlock[] | undefined;
  /** What a later page needs to know to trust the total. */
  readonly countedFor: string;
}

/** The total that an earlier page found, as its cursor has it. */
export interface CountedBefore {
  readonly total: number;
  readonly countedFor: string;
}

/** Of fewer than one in so many, a page is found by a pass over all, which several processes of the database share. */
const SPARSE = 1_000;
const BLOCK_ITEMS = 1_024;

const SAMPLE_RESULTS = 500;
/** Longer outputs are left out. */
const MAX_SAMPLE_BYTES = 10_000;

/**
 * Finds the results for a page. Many filters have a total that is known, from the run, its summary or an earlier page, and
 * let enough results pass to look for them in order. Any other filter needs one pass over all results of the run, which
 * counts those that pass in blocks of items: the total, and where the results of the page are. The counts are kept, since
 * clients read the same page again and again.
 */
export async function findResults(
  query: ReadQuery,
  { searches, counted }: Pick<StoreContext, 'searches'> & { readonly counted: CountedBlocks },
  run: RunTotals,
  request: {
    readonly conditions: ResultsConditions;
    readonly after: ResultPosition;
    readonly limit: number;
    readonly before: CountedBefore | undefined;
    readonly signal: AbortSignal | undefined;
  },
): Promise<FoundResults> {
  const { conditions, after, limit, before, signal } = request;
  const countedFor = keyOf(run, conditions);
  const known = knownTotal(run, conditions) ?? (before?.countedFor === countedFor ? before.total : undefined);
  if (known === 0) return { total: 0, within: [], countedFor };
  const results = run.ok + run.failed + run.unscored;
  if (known !== undefined && known * SPARSE >= results)
    return { total: known, within: undefined, countedFor };
  let blocks = counted.get(countedFor);
  if (blocks === undefined) {
    using _permit = await searches.acquire(signal);
    blocks = await countBlocks(query, run.id, conditions);
    counted.set(countedFor, blocks);
  }
  const total = blocks.reduce((sum, { count }) => sum + count, 0);
  return { total, within: blocksOfPage(blocks, after, limit), countedFor };
}

async function countBlocks(
  query: ReadQuery,
  runId: string,
  conditions: ResultsConditions,
): Promise<readonly CountedBlock[]> {
  const { q } = conditions;
  const traits = q === undefined ? undefined : await sampleTexts(query, runId, q);
  const { sql, values } = resultsFilter(conditions, 2, traits);
  const parameters = [runId, ...values];
  const { itemHash } = conditions;
  const passing =
    itemHash === undefined
      ? `SELECT section_order_index, order_index FROM run_results result WHERE run_id = $1 ${sql}`
      : resultsWithHash(itemHash, sql, (value) => `$${parameters.push(value)}`);
  return await query<CountedBlock>(
    `SELECT section_order_index AS section, block * ${BLOCK_ITEMS} AS first, block * ${BLOCK_ITEMS} + ${BLOCK_ITEMS - 1} AS last,
       count::float8 AS count
     FROM (
       SELECT section_order_index, order_index / ${BLOCK_ITEMS} AS block, count(*) AS count FROM (${passing}) AS passing
       GROUP BY 1, 2
     ) AS blocks ORDER BY 1, 2`,
    parameters,
  );
}

/**
 * The results of items with a hash: by the blocks in which items are looked up, and all results of items that have none.
 *
 * @param filter which results pass; it asks for the whole hash
 */
function resultsWithHash(hash: string, filter: string, parameter: (value: unknown) => string): string {
  const ofDataset = 's.dataset_id = (SELECT dataset_id FROM runs WHERE id = $1)';
  return `SELECT result.section_order_index, result.order_index FROM sections s ${joinPositions(hash, parameter)}
      JOIN run_results result ON result.run_id = $1 AND result.section_order_index = s.order_index
        AND result.order_index = found.item
    WHERE ${ofDataset} ${filter}
    UNION ALL
    SELECT others.section_order_index, others.order_index FROM sections s CROSS JOIN LATERAL (
      SELECT result.section_order_index, result.order_index FROM run_results result
      WHERE result.run_id = $1 AND result.section_order_index = s.order_index
        AND result.order_index >= s.hashed_items ${filter} OFFSET 0
    ) AS others
    WHERE ${ofDataset} AND s.hashed_items < s.item_count`;
}

/** Looks at some outputs of a run, to choose the cheapest way to search all of them. */
async function sampleTexts(query: ReadQuery, runId: string, q: string): Promise<TextTraits> {
  const [found] = await query<TextTraits>(
    `SELECT coalesce(avg((position($2::text IN output) > 0)::int) > 0.5, false) AS "mostContainIt",
       coalesce(avg((${isBeyondAscii('output')})::int) < 0.5, false) AS "mostAreAscii"
     FROM (SELECT output FROM run_results WHERE run_id = $1 LIMIT ${SAMPLE_RESULTS}) AS sample
     WHERE octet_length(output) <= ${MAX_SAMPLE_BYTES}`,
    [runId, wantedText(q)],
  );
  return found as TextTraits;
}

/** The blocks that have a page and one result more; the first one may begin before the page. */
function blocksOfPage(
  blocks: readonly CountedBlock[],
  [section, item]: ResultPosition,
  limit: number,
): readonly ResultBlock[] {
  const page: CountedBlock[] = [];
  let count = 0;
  for (const block of blocks) {
    if (block.section < section || (block.section === section && block.last < item)) continue;
    page.push(block);
    const isWhole = block.section > section || block.first > item;
    if (isWhole) count += block.count;
    if (count > limit) break;
  }
  return page;
}

/** Names a filter and the state of the results that it was applied to. */
function keyOf(run: RunTotals, conditions: ResultsConditions): string {
  const text = JSON.stringify([run.id, run.version, conditions]);
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}
