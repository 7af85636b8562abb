import type { RunResult, RunResultStatus } from '@svc/flows';
import { canonicalJson } from '@svc/jsonl-v23';
import type pg from 'pg';

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

/** Where a result stands: by this a list goes on. */
export type ResultPosition = readonly [sectionOrderIndex: number, orderIndex: number, repetition: number];

const COLUMNS = `section, section_order_index AS "sectionOrderIndex", order_index AS "orderIndex", repetition,
  item_id AS "itemId", status, output, score, passed, explanation, error, latency_ms AS "latencyMs", usage`;

/** A page ends when its outputs take more than this. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024;
const BATCH_ROWS = 1_000;

/** Where a result stands. */
export function positionOf(result: StoredResult): ResultPosition {
  return [result.sectionOrderIndex, result.orderIndex, result.repetition];
}

/** Results behind a position in item order: at most `limit`, and fewer when they are large. */
export async function resultsAfter(
  client: pg.ClientBase | pg.Pool,
  runId: string,
  after: ResultPosition,
  limit: number,
  status?: RunResultStatus,
): Promise<{ readonly results: StoredResult[]; readonly hasMore: boolean }> {
  const { rows } = await client.query<StoredResult & { readonly found: string }>(
    `SELECT ${COLUMNS}, found FROM (
       SELECT candidate.*, count(*) OVER () AS found,
         sum(bytes) OVER (ORDER BY section_order_index, order_index, repetition) - bytes AS bytes_before
       FROM (
         SELECT *, coalesce(pg_column_size(output), 0) + coalesce(pg_column_size(explanation), 0) AS bytes
         FROM run_results
         WHERE run_id = $1 AND (section_order_index, order_index, repetition) > ($2::int, $3::int, $4::int)
           AND ($6::text IS NULL OR status = $6)
         ORDER BY section_order_index, order_index, repetition LIMIT $5
       ) candidate
     ) sized WHERE bytes_before < ${MAX_PAGE_BYTES}
     ORDER BY section_order_index, order_index, repetition`,
    [runId, ...after, limit + 1, status ?? null],
  );
  const results = rows.slice(0, limit).map(({ found: _, ...result }) => result);
  return { results, hasMore: Number(rows[0]?.found ?? 0) > results.length };
}

/** All results of a run in item order, in batches. */
export async function* readResults(
  client: pg.ClientBase,
  runId: string,
): AsyncGenerator<readonly StoredResult[], void, undefined> {
  let after: ResultPosition = [-1, -1, -1];
  for (;;) {
    const { results, hasMore } = await resultsAfter(client, runId, after, BATCH_ROWS);
    const last = results.at(-1);
    if (last !== undefined) {
      yield results;
      after = positionOf(last);
    }
    if (!hasMore) return;
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
  results: readonly RunResult[],
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
      results.map((result) => (result.output === null ? null : canonicalJson(result.output))),
      results.map((result) => result.score),
      results.map((result) => result.passed),
      results.map((result) => (result.explanation === null ? null : canonicalJson(result.explanation))),
      results.map((result) => (result.error === null ? null : canonicalJson({ ...result.error }))),
      results.map((result) => result.latencyMs),
      results.map((result) => (result.usage === null ? null : canonicalJson(result.usage))),
    ],
  );
  return Number(rows[0]?.inserted ?? 0);
}
