import type { RunResultStatus } from '@svc/evaluation';
import type { ReadQuery } from '@svc/postgres';
import { boundedName, boundedText, itemTooLarge } from '../database/item-size.ts';
import { EAGER_BYTES, MAX_PAGE_BYTES } from '../database/read-item-texts.ts';

/** A result as it is stored: what was JSON is JSON text. */
export interface StoredResult {
  readonly section: string;
  readonly sectionOrderIndex: number;
  readonly orderIndex: number;
  readonly repetition: number;
  /** JSON text of the item's own id; null when it has none */
  readonly itemId: string | null;
  readonly status: RunResultStatus;
  /** JSON text; null when there is none */
  readonly output: string | null;
  readonly score: number | null;
  readonly passed: boolean | null;
  /** JSON text of a string */
  readonly explanation: string | null;
  /** `{"code", "message"}` as JSON text */
  readonly error: string | null;
  readonly latencyMs: number | null;
  /** JSON text of an object */
  readonly usage: string | null;
  /** The same of the judge. */
  readonly judgeUsage: string | null;
  /** 32 bytes; null if the item is gone. */
  readonly itemHash: Uint8Array | null;
  /** Why the output ended; null if unknown. */
  readonly finishReason: string | null;
  /** Whether the output was cut at the token limit. */
  readonly truncated: boolean;
  /** Requests to the provider; null if it took none or it is unknown. */
  readonly attempts: number | null;
  /** JSON text of an array of names; null if unknown. */
  readonly omittedAssets: string | null;
}

/** The position of a result, after which a list continues. */
export type ResultPosition = readonly [sectionOrderIndex: number, orderIndex: number, repetition: number];

/** Texts of a result, which a larger one than may be is shown without. */
const TEXTS = [
  'item_id',
  'output',
  'explanation',
  'error',
  'usage',
  'judge_usage',
  'omitted_assets',
] as const;
const NAMES = [
  '"itemId"',
  'output',
  'explanation',
  'error',
  'usage',
  '"judgeUsage"',
  '"omittedAssets"',
] as const;
/** Results of older versions do not have it. `$1` is the run. */
const ITEM_HASH = `coalesce(sized.item_hash, (
    SELECT i.item_hash FROM runs JOIN sections s ON s.dataset_id = runs.dataset_id JOIN items i ON i.section_id = s.id
    WHERE runs.id = $1 AND s.order_index = sized.section_order_index AND i.order_index = sized.order_index
  ))`;
/** The other columns of a result. */
const FACTS = `order_index AS "orderIndex", repetition, status, score, passed, latency_ms AS "latencyMs",
  ${ITEM_HASH} AS "itemHash", ${boundedText('finish_reason', 1_000)} AS "finishReason", truncated, attempts`;
const BATCH_ROWS = 1_000;

/** The position of a result. */
export function positionOf(result: StoredResult): ResultPosition {
  return [result.sectionOrderIndex, result.orderIndex, result.repetition];
}

/** A result of a page; one that is larger than a result may be has none of its texts, but says so. */
export type ListedResult = StoredResult & { readonly isTooLarge: boolean };

/** Which results to read. */
export interface ResultsFilter {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/** Items of a section, in which results are. */
export interface ResultBlock {
  /** Order index of the section, and those of its first and last item. */
  readonly section: number;
  readonly first: number;
  readonly last: number;
}

const NO_FILTER: ResultsFilter = { sql: '', values: [] };

/** Results behind a position: as many as fit into a page, and one at least. */
export interface PlannedResults {
  readonly results: readonly ListedResult[];
  readonly hasMore: boolean;
  /** Bytes of the texts that are yet to be read; {@link readPlannedResults} reads them */
  readonly unreadBytes: number;
}

type ResultRow = ListedResult & { readonly bytes: string; readonly isRead: boolean };

/**
 * Results behind a position in item order: at most `limit`, and fewer when they are large. Those at the beginning have
 * their texts; what the others have is known, and read by {@link readPlannedResults}.
 */
export async function planResults(
  query: ReadQuery,
  request: {
    readonly runId: string;
    readonly after: ResultPosition;
    readonly limit: number;
    readonly maxBytes: number;
    /** Conditions on `run_results result` that begin with AND, and their values from $7 on. */
    readonly filter?: ResultsFilter | undefined;
    /** Where to look for them; undefined for everywhere. */
    readonly within?: readonly ResultBlock[] | undefined;
  },
): Promise<PlannedResults> {
  const { runId, after, limit, maxBytes, filter = NO_FILTER, within } = request;
  const values = [runId, ...after, limit + 1, maxBytes, ...filter.values];
  const isBehind = `run_id = $1 AND (section_order_index, order_index, repetition) > ($2::int, $3::int, $4::int) ${filter.sql}`;
  const inBlocks = `unnest($${values.length + 1}::int[], $${values.length + 2}::int[], $${values.length + 3}::int[])
    AS block (section, first, last) CROSS JOIN LATERAL (
      SELECT * FROM run_results result WHERE section_order_index = block.section
        AND order_index BETWEEN block.first AND block.last AND ${isBehind} OFFSET 0
    ) AS result`;
  if (within !== undefined) {
    values.push(
      within.map(({ section }) => section),
      within.map(({ first }) => first),
      within.map(({ last }) => last),
    );
  }
  const rows = await query<ResultRow>(
    `SELECT ${boundedName('section')} AS section, section_order_index AS "sectionOrderIndex",
       ${FACTS}, bytes, "isRead", bytes > $6 AS "isTooLarge",
       ${TEXTS.map((text, index) => `CASE WHEN "isRead" THEN ${text} END AS ${NAMES[index]}`).join(', ')}
     FROM (
       SELECT candidate.*, bytes <= $6 AND sum(bytes) OVER (ORDER BY section_order_index, order_index, repetition)
         <= ${EAGER_BYTES} AS "isRead"
       FROM (
         SELECT result.*, ${TEXTS.map((text) => `coalesce(octet_length(${text}), 0)::bigint`).join(' + ')} AS bytes
         FROM ${within === undefined ? `run_results result WHERE ${isBehind}` : inBlocks}
         ORDER BY section_order_index, order_index, repetition LIMIT $5
       ) candidate
     ) sized ORDER BY section_order_index, order_index, repetition`,
    values,
  );
  const results: ResultRow[] = [];
  let pageBytes = 0;
  let unreadBytes = 0;
  for (const row of rows.slice(0, limit)) {
    const bytes = row.isTooLarge ? 0 : Number(row.bytes);
    pageBytes += bytes + Buffer.byteLength(row.section) + RESULT_BYTES;
    if (results.length > 0 && pageBytes > MAX_PAGE_BYTES) break;
    if (!row.isRead) unreadBytes += bytes;
    results.push(row);
  }
  return { results, hasMore: rows.length > results.length, unreadBytes };
}

/** Bytes of a result without its texts, as JSON. */
const RESULT_BYTES = 512;

/** Reads the texts of those results that lack them. */
export async function readPlannedResults(
  query: ReadQuery,
  runId: string,
  { results }: PlannedResults,
): Promise<ListedResult[]> {
  const unread = (results as readonly ResultRow[]).filter(({ isRead, isTooLarge }) => !isRead && !isTooLarge);
  const texts = new Map<StoredResult, Partial<StoredResult>>();
  if (unread.length > 0) {
    const rows = await query<{ readonly position: string }>(
      `SELECT wanted.position, ${TEXTS.map((text, index) => `${text} AS ${NAMES[index]}`).join(', ')}
       FROM unnest($2::int[], $3::int[], $4::int[]) WITH ORDINALITY AS wanted (section, item, repetition, position)
         JOIN run_results ON run_id = $1 AND section_order_index = wanted.section
           AND order_index = wanted.item AND run_results.repetition = wanted.repetition`,
      [
        runId,
        unread.map(({ sectionOrderIndex }) => sectionOrderIndex),
        unread.map(({ orderIndex }) => orderIndex),
        unread.map(({ repetition }) => repetition),
      ],
    );
    for (const { position, ...row } of rows) texts.set(unread[Number(position) - 1] as StoredResult, row);
  }
  return (results as readonly ResultRow[]).map((row) => {
    const { bytes: _, isRead: __, ...result } = row;
    return { ...result, ...texts.get(row) };
  });
}

/**
 * All results of a run in item order, in batches.
 *
 * @throws StoreError `item_too_large`: an export must not be short
 */
export async function* readResults(
  query: ReadQuery,
  runId: string,
  maxBytes: number,
): AsyncGenerator<readonly StoredResult[], void, undefined> {
  let after: ResultPosition = [-1, -1, -1];
  for (;;) {
    const plan = await planResults(query, { runId, after, limit: BATCH_ROWS, maxBytes });
    const results = await readPlannedResults(query, runId, plan);
    const tooLarge = results.find(({ isTooLarge }) => isTooLarge);
    if (tooLarge !== undefined) throw itemTooLarge('The result of item', tooLarge, maxBytes);
    const last = results.at(-1);
    if (last !== undefined) {
      yield results.map(({ isTooLarge: _, ...result }) => result);
      after = positionOf(last);
    }
    if (!plan.hasMore) return;
  }
}
