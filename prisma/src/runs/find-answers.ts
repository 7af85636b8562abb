import type { EarlierAnswer } from '@svc/evaluation';
import type { JsonObject } from '@svc/jsonl-v23/json';
import type { StoreContext } from '../context.ts';
import { readStoredJson } from '../database/read-stored-json.ts';
import { boundedText } from '../database/values.ts';
import { createReadQuery, type ReadQuery } from '../postgres/read-query.ts';
import { MAX_INLINE_CHARS, readOutput, readReasoning } from './read-stored-outputs.ts';

/** A reused answer has the usage of the first one. A longer one than models give is left out. */
const USAGE = boundedText('coalesce(usage, usage_reused)', MAX_INLINE_CHARS);

/** For each of the hashes `$2`, any result of run `$1` that asked the same; outputs of more than `$3` bytes are not found. */
const ANSWERS = `
  SELECT place::int, section_order_index AS "sectionOrderIndex", order_index AS "orderIndex", repetition,
    finish_reason AS "finishReason", latency_ms AS "latencyMs", redacted, ${USAGE} AS usage,
    CASE WHEN bytes <= ${MAX_INLINE_CHARS} THEN output END AS output,
    CASE WHEN bytes <= ${MAX_INLINE_CHARS} THEN reasoning END AS reasoning
  FROM unnest($2::bytea[]) WITH ORDINALITY AS wanted (hash, place)
    CROSS JOIN LATERAL (
      SELECT * FROM run_results WHERE run_id = $1 AND request_hash = wanted.hash LIMIT 1
    ) AS result
    CROSS JOIN LATERAL (SELECT octet_length(output) + coalesce(octet_length(reasoning), 0) AS bytes) AS size
  WHERE bytes <= $3`;

/** The output of one result, and its reasoning. */
const OUTPUT = `SELECT output, reasoning FROM run_results
  WHERE run_id = $1 AND section_order_index = $2 AND order_index = $3 AND repetition = $4`;

interface AnswerRow extends Pick<EarlierAnswer, 'finishReason' | 'latencyMs' | 'redacted'> {
  /** From 1. */
  readonly place: number;
  readonly sectionOrderIndex: number;
  readonly orderIndex: number;
  readonly repetition: number;
  readonly usage: string | null;
  /** Null if it is long, or its reasoning is. */
  readonly output: string | null;
  readonly reasoning: string | null;
}

type Texts = Pick<AnswerRow, 'output' | 'reasoning'>;

/** See `RunSession.findAnswers`: the answers of run `runId`. Long outputs are read one by one. */
export async function findAnswers(
  { pool, maxItemBytes }: Pick<StoreContext, 'pool' | 'maxItemBytes'>,
  runId: string,
  hashes: readonly Uint8Array[],
  signal: AbortSignal,
): Promise<readonly (EarlierAnswer | null)[]> {
  const query = createReadQuery(pool, signal);
  const answers: (EarlierAnswer | null)[] = hashes.map(() => null);
  const wanted = hashes.map((hash) => Buffer.from(hash));
  for (const row of await query<AnswerRow>(ANSWERS, [runId, wanted, maxItemBytes])) {
    const texts = row.output === null ? await readLong(query, runId, row) : row;
    if (texts === undefined || texts.output === null) continue;
    answers[row.place - 1] = {
      output: readOutput(texts.output),
      reasoning: readReasoning(texts.reasoning),
      usage: row.usage === null ? null : (readStoredJson(row.usage) as JsonObject),
      finishReason: row.finishReason,
      latencyMs: row.latencyMs,
      redacted: row.redacted,
    };
  }
  return answers;
}

/** Undefined if the result has gone since. */
async function readLong(query: ReadQuery, runId: string, at: AnswerRow): Promise<Texts | undefined> {
  const key = [at.sectionOrderIndex, at.orderIndex, at.repetition];
  const [row] = await query<Texts>(OUTPUT, [runId, ...key]);
  return row;
}
