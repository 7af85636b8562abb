import { JsonText, type RunResult, type RunResultStatus } from '@svc/evaluation';
import { canonicalJson, type JsonValue } from '@svc/jsonl-v23/json';
import type pg from 'pg';
import { boundedName, itemTooLarge } from '../database/item-size.ts';
import { EAGER_BYTES, MAX_PAGE_BYTES } from '../database/read-item-texts.ts';
import type { ReadQuery } from '../database/read-query.ts';

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
}

/** A result to store. One from a package may have an error code of another version. */
export type NewResult = Omit<RunResult, 'error'> & {
  readonly error: { readonly code: string; readonly message: string } | null;
};

/** The position of a result, after which a list continues. */
export type ResultPosition = readonly [sectionOrderIndex: number, orderIndex: number, repetition: number];

/** Texts of a result, which a larger one than may be is shown without. */
const TEXTS = ['item_id', 'output', 'explanation', 'error', 'usage'] as const;
const NAMES = ['"itemId"', 'output', 'explanation', 'error', 'usage'] as const;
const BATCH_ROWS = 1_000;

/** The position of a result. */
export function positionOf(result: StoredResult): ResultPosition {
  return [result.sectionOrderIndex, result.orderIndex, result.repetition];
}

/** A result of a page; one that is larger than a result may be has none of its texts, but says so. */
export type ListedResult = StoredResult & { readonly isTooLarge: boolean };

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
    readonly status?: RunResultStatus | undefined;
    readonly maxBytes: number;
  },
): Promise<PlannedResults> {
  const { runId, after, limit, status, maxBytes } = request;
  const rows = await query<ResultRow>(
    `SELECT ${boundedName('section')} AS section, section_order_index AS "sectionOrderIndex",
       order_index AS "orderIndex", repetition, status, score, passed, latency_ms AS "latencyMs", bytes, "isRead",
       bytes > $6 AS "isTooLarge",
       ${TEXTS.map((text, index) => `CASE WHEN "isRead" THEN ${text} END AS ${NAMES[index]}`).join(', ')}
     FROM (
       SELECT candidate.*, bytes <= $6 AND sum(bytes) OVER (ORDER BY section_order_index, order_index, repetition)
         <= ${EAGER_BYTES} AS "isRead"
       FROM (
         SELECT *, ${TEXTS.map((text) => `coalesce(octet_length(${text}), 0)::bigint`).join(' + ')} AS bytes
         FROM run_results
         WHERE run_id = $1 AND (section_order_index, order_index, repetition) > ($2::int, $3::int, $4::int)
           AND ($7::text IS NULL OR status = $7)
         ORDER BY section_order_index, order_index, repetition LIMIT $5
       ) candidate
     ) sized ORDER BY section_order_index, order_index, repetition`,
    [runId, ...after, limit + 1, maxBytes, status ?? null],
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

/**
 * Writes results and counts those that were not there yet. A result that is there stays as it is.
 *
 * @param client in a transaction that holds the run's row
 * @returns how many were new
 */
export async function insertResults(
  client: pg.ClientBase,
  runId: string,
  results: readonly NewResult[],
): Promise<number> {
  const { rows } = await client.query<{ inserted: string }>(
    `WITH inserted AS (
       INSERT INTO run_results (run_id, section_order_index, order_index, repetition, section, item_id, status,
         output, score, passed, explanation, error, latency_ms, usage)
       SELECT $1, * FROM unnest($2::int[], $3::int[], $4::int[], $5::text[], $6::text[], $7::text[], $8::text[],
         $9::float8[], $10::bool[], $11::text[], $12::text[], $13::float8[], $14::text[])
       ON CONFLICT DO NOTHING RETURNING status, score, passed
     ), counted AS (
       SELECT count(*) AS inserted, count(*) FILTER (WHERE status = 'ok') AS ok,
         count(*) FILTER (WHERE status = 'failed') AS failed, count(*) FILTER (WHERE status = 'unscored') AS unscored,
         count(score) AS scored, coalesce(sum(score), 0) AS score_sum, count(*) FILTER (WHERE passed) AS passed
       FROM inserted
     )
     UPDATE runs SET ok = runs.ok + counted.ok, failed = runs.failed + counted.failed,
       unscored = runs.unscored + counted.unscored, scored = runs.scored + counted.scored,
       score_sum = runs.score_sum + counted.score_sum, passed = runs.passed + counted.passed
     FROM counted WHERE id = $1 RETURNING inserted`,
    [
      runId,
      results.map((result) => result.sectionOrderIndex),
      results.map((result) => result.orderIndex),
      results.map((result) => result.repetition),
      results.map((result) => result.section),
      results.map((result) => (result.itemId === null ? null : canonicalJson(result.itemId))),
      results.map((result) => result.status),
      results.map(({ output }) => toJsonText(output)),
      results.map((result) => result.score),
      results.map((result) => result.passed),
      results.map((result) => (result.explanation === null ? null : canonicalJson(result.explanation))),
      results.map((result) => (result.error === null ? null : canonicalJson({ ...result.error }))),
      results.map((result) => result.latencyMs),
      results.map(({ usage }) => toJsonText(usage)),
    ],
  );
  return Number(rows[0]?.inserted ?? 0);
}

function toJsonText(value: JsonValue | JsonText): string | null {
  if (value === null) return null;
  return value instanceof JsonText ? value.json : canonicalJson(value);
}
