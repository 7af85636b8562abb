import type pg from 'pg';

/** What a result adds to the counts of its run. */
export const COUNTS = `count(*) AS all, count(*) FILTER (WHERE status = 'ok') AS ok,
  count(*) FILTER (WHERE status = 'failed') AS failed, count(*) FILTER (WHERE status = 'unscored') AS unscored,
  count(score) AS scored, coalesce(sum(score), 0) AS score_sum, count(*) FILTER (WHERE passed) AS passed,
  count(*) FILTER (WHERE NOT passed AND score IS NOT NULL) AS wrong,
  count(*) FILTER (WHERE truncated) AS truncated, count(*) FILTER (WHERE reused) AS reused, coalesce(sum(input_tokens), 0) AS input_tokens,
  coalesce(sum(output_tokens), 0) AS output_tokens, coalesce(sum(judge_input_tokens), 0) AS judge_input_tokens,
  coalesce(sum(judge_output_tokens), 0) AS judge_output_tokens, coalesce(sum(judge_cost), 0) AS judge_cost`;
const FRACTIONS: readonly string[] = ['score_sum', 'judge_cost'];
const COUNTED = [
  'ok',
  'failed',
  'unscored',
  'scored',
  'score_sum',
  'passed',
  'wrong',
  'truncated',
  'reused',
  'input_tokens',
  'output_tokens',
  'judge_input_tokens',
  'judge_output_tokens',
  'judge_cost',
] as const;
/** By how much the counts of results have changed. @param before,after a row of COUNTS each */
export const GROWTH = (before: string, after: string): string =>
  COUNTED.map((name) => `${after}.${name} - ${before}.${name} AS ${name}`).join(', ');

/** What {@link COUNTS} counts. */
export const COUNTED_COLUMNS: readonly string[] = [
  ...['status', 'score', 'passed', 'truncated', 'reused', 'input_tokens', 'output_tokens'],
  ...['judge_input_tokens', 'judge_output_tokens', 'judge_cost'],
];

/** What a batch of results adds to the counts of its run; 64-bit integers are text. */
export type Growth = Readonly<
  Record<'written' | 'replaced' | 'again' | (typeof COUNTED)[number], string | number>
>;

/** $1 the run, $2 the number of results, $3 how many of them were not to be done, $4 what they have cost, then what each count grows by. A separate statement: it is another table. */
const COUNT = `UPDATE runs SET results_version = results_version + $2::bigint, results_due = results_due + $3::bigint,
    spent = spent + $4::float8,
    ${COUNTED.map((name, index) => `${name} = ${name} + $${index + 5}::${FRACTIONS.includes(name) ? 'float8' : 'bigint'}`).join(', ')}
  WHERE id = $1`;

/** Adds to the counts of a run. @param cost of the requests for the results */
export async function countResults(
  client: pg.ClientBase,
  runId: string,
  growth: Growth,
  cost: number,
): Promise<void> {
  const counts = COUNTED.map((name) => growth[name]);
  await client.query(COUNT, [runId, growth.written, growth.again, cost, ...counts]);
}
