import { JsonText, type RunResult, tokenCounts } from '@svc/evaluation';
import { canonicalJson, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import type pg from 'pg';
import { memberText, readableJson } from '../database/values.ts';

/** A result to store. */
export type NewResult = Omit<RunResult, 'cause'>;

/** What a result adds to the counts of its run. */
const COUNTS = `count(*) AS all, count(*) FILTER (WHERE status = 'ok') AS ok,
  count(*) FILTER (WHERE status = 'failed') AS failed, count(*) FILTER (WHERE status = 'unscored') AS unscored,
  count(score) AS scored, coalesce(sum(score), 0) AS score_sum, count(*) FILTER (WHERE passed) AS passed,
  count(*) FILTER (WHERE truncated) AS truncated, coalesce(sum(input_tokens), 0) AS input_tokens,
  coalesce(sum(output_tokens), 0) AS output_tokens, coalesce(sum(judge_input_tokens), 0) AS judge_input_tokens,
  coalesce(sum(judge_output_tokens), 0) AS judge_output_tokens`;
const COUNTED = [
  'ok',
  'failed',
  'unscored',
  'scored',
  'score_sum',
  'passed',
  'truncated',
  'input_tokens',
  'output_tokens',
  'judge_input_tokens',
  'judge_output_tokens',
] as const;

/**
 * Which results a retry replaces: older ones of the kind that it names.
 *
 * @param result the row of `run_results`
 * @param run the row of `runs`
 */
export function isToReplace(result: string, run: string): string {
  return `${result}.retries < ${run}.retries AND CASE ${run}.retry_only WHEN 'truncated' THEN ${result}.truncated
    ELSE ${result}.status = ${run}.retry_only END`;
}

/** Longer types and tags are not kept with a result, nor further tags of one item. */
const MAX_LABEL_BYTES = 1_000;
const MAX_TAGS = 100;

const STATED_TAGS = `${readableJson('i.payload')} -> 'tags'`;

/** Hash, type and tags of an item as a result keeps them; tags as JSON texts without their quotes. */
const ITEM_FACTS = `SELECT i.item_hash, CASE WHEN octet_length(i.type) <= ${MAX_LABEL_BYTES} THEN i.type END AS type, (
    SELECT array_agg(DISTINCT substr(tag, 2, length(tag) - 2)) FROM (
      SELECT ${memberText('tag')} AS tag
      FROM json_array_elements(CASE WHEN json_typeof(${STATED_TAGS}) = 'array' THEN ${STATED_TAGS} END) AS tag
      WHERE json_typeof(tag) = 'string' LIMIT ${MAX_TAGS}
    ) AS texts WHERE octet_length(tag) <= ${MAX_LABEL_BYTES}
  ) AS tags
  FROM sections s JOIN items i ON i.section_id = s.id
  WHERE s.dataset_id = run.dataset_id AND s.order_index = wanted.section_order_index
    AND i.order_index = wanted.order_index`;

/** $1 the run, then an array for each column. */
const INSERT = `
  WITH run AS (SELECT * FROM runs WHERE id = $1), wanted AS (
    SELECT * FROM unnest($2::int[], $3::int[], $4::int[], $5::text[], $6::text[], $7::text[], $8::text[], $9::float8[],
      $10::bool[], $11::text[], $12::text[], $13::float8[], $14::text[], $15::text[], $16::text[], $17::int[], $18::text[],
      $19::int[], $20::int[], $21::int[], $22::int[]) AS wanted (section_order_index, order_index, repetition, section,
      item_id, status, output, score, passed, explanation, error, latency_ms, usage, judge_usage, finish_reason, attempts,
      omitted_assets, input_tokens, output_tokens, judge_input_tokens, judge_output_tokens)
  ), old AS (
    SELECT result.* FROM run_results result JOIN wanted USING (section_order_index, order_index, repetition), run
    WHERE result.run_id = $1 AND run.retries > 0 AND ${isToReplace('result', 'run')} 
  ), replaced AS (
    SELECT ${COUNTS} FROM old
  ), written AS (
    INSERT INTO run_results AS result (run_id, section_order_index, order_index, repetition, section, item_id, status,
      output, score, passed, explanation, error, latency_ms, usage, judge_usage, finish_reason, attempts, omitted_assets,
      input_tokens, output_tokens, judge_input_tokens, judge_output_tokens, truncated, item_hash, item_type, tags, retries)
    SELECT $1, wanted.*, coalesce(wanted.finish_reason = 'length', false), item.item_hash, item.type, item.tags, run.retries
    FROM wanted CROSS JOIN run LEFT JOIN LATERAL (${ITEM_FACTS}) item ON true
    ON CONFLICT (run_id, section_order_index, order_index, repetition) DO UPDATE SET
      section = excluded.section, item_id = excluded.item_id, status = excluded.status, output = excluded.output,
      score = excluded.score, passed = excluded.passed, explanation = excluded.explanation, error = excluded.error,
      latency_ms = excluded.latency_ms, usage = excluded.usage, judge_usage = excluded.judge_usage,
      finish_reason = excluded.finish_reason, attempts = excluded.attempts, omitted_assets = excluded.omitted_assets,
      input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens,
      judge_input_tokens = excluded.judge_input_tokens, judge_output_tokens = excluded.judge_output_tokens,
      truncated = excluded.truncated, item_hash = excluded.item_hash, item_type = excluded.item_type,
      tags = excluded.tags, retries = excluded.retries, created_at = clock_timestamp()
    WHERE EXISTS (SELECT FROM run WHERE ${isToReplace('result', 'run')})
    RETURNING *
  ), added AS (
    SELECT ${COUNTS} FROM written
  )
  SELECT added.all AS written, ${COUNTED.map((name) => `added.${name} - replaced.${name} AS ${name}`).join(', ')}
  FROM added, replaced`;

/** $1 the run, $2 the number of results, then what each count grows by. A separate statement: it is another table. */
const COUNT = `UPDATE runs SET results_version = results_version + $2::bigint,
    ${COUNTED.map((name, index) => `${name} = ${name} + $${index + 3}::${name === 'score_sum' ? 'float8' : 'bigint'}`).join(', ')}
  WHERE id = $1`;

/**
 * Writes results and counts them. A result that is there stays as it is, unless a retry replaces it.
 *
 * @param client in a transaction that holds the run's row
 * @returns how many were written
 */
export async function insertResults(
  client: pg.ClientBase,
  runId: string,
  results: readonly NewResult[],
): Promise<number> {
  const tokens = results.map(({ usage, judgeUsage }) => {
    return { model: tokenCounts(usage), judge: tokenCounts(judgeUsage) };
  });
  const { rows } = await client.query<Growth>(INSERT, [
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
    results.map(({ judgeUsage }) => toJsonText(judgeUsage)),
    results.map((result) => result.finishReason),
    results.map((result) => result.attempts),
    results.map(({ omittedAssets }) => (omittedAssets === null ? null : canonicalJson([...omittedAssets]))),
    tokens.map(({ model }) => model.input),
    tokens.map(({ model }) => model.output),
    tokens.map(({ judge }) => judge.input),
    tokens.map(({ judge }) => judge.output),
  ]);
  const growth = rows[0] as Growth;
  await client.query(COUNT, [runId, growth.written, ...COUNTED.map((name) => growth[name])]);
  return Number(growth.written);
}

/** What a batch of results adds to the counts of its run; 64-bit integers are text. */
type Growth = Readonly<Record<'written' | (typeof COUNTED)[number], string | number>>;

function toJsonText(value: JsonValue | JsonText | JsonObject): string | null {
  if (value === null) return null;
  return value instanceof JsonText ? value.json : canonicalJson(value);
}
