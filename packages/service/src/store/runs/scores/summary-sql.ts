import type { AlikeItems, ClusteredSpreads } from '../../../evaluation/index.ts';
import { ofRun } from '../../items/item-ranges.ts';
import { type JoinedVersion, joinItems } from '../read-items-at.ts';

/** Sections, types and tags that a summary has: those with most results. */
const MAX_GROUPS = 1_000;

/** If the repetitions make more groups, the last ones lack some. */
const MAX_ROWS = 100_000;

/**
 * SQL for the results of run `$1` as one scorer scored them: rows with `section_order_index`, `order_index`, `item_type`,
 * `tags`, `status`, `score` and `passed`.
 */
export const MAIN_SCORES = '(SELECT * FROM run_results WHERE run_id = $1)';

/** SQL for what a result is to another scorer than the main one, by {@link numbersOf}. @param of names a row of results */
export function statusBy(number: number, of = ''): string {
  return `CASE WHEN ${of}scorer_scores[${number}] IS NOT NULL THEN 'ok'
    WHEN ${of}status = 'failed' OR NOT ${of}scorer_passed[${number}] THEN 'failed' ELSE 'unscored' END`;
}

/** SQL for whether another scorer than the main one passes a result; null if it has no score. @param of names a row of results */
export const passedBy = (number: number, of = ''): string =>
  `CASE WHEN ${of}scorer_scores[${number}] IS NOT NULL THEN ${of}scorer_passed[${number}] END`;

/** The same of another scorer. @param number its place in `scorer_names`, from 1 */
export function scoresBy(number: number, results = 'run_results WHERE run_id = $1'): string {
  const score = `scorer_scores[${number}]`;
  return `(SELECT run_id, section_order_index, order_index, repetition, item_type, tags, ${score} AS score,
    ${passedBy(number)} AS passed,
    ${statusBy(number)} AS status
    FROM ${results})`;
}

/** What the items of a sum have in common: by these counts of their results, each weighs the same in every mean. */
const ALIKE = 'tries, passes, wrong, scored';

/** Counts of results, and of the items' mean scores their mean and variance. */
const SUMS = `count(*) AS items, sum(results) AS results, sum(ok) AS ok, sum(failed) AS failed, sum(unscored) AS unscored,
  coalesce(sum(score_sum), 0) AS score_sum, bool_and(is_binary) AS is_binary,
  avg(score_mean) AS score_mean, var_pop(score_mean) AS score_variance`;

/** SQL for whether a result has passed or failed. A score between 0 and 1 alone does neither. */
const HAS_VERDICT = '(score IS NOT NULL AND passed IS NOT NULL)';

/** The items of a run, each with its results. */
const repeatedItems = (results: string): string => `
  SELECT section_order_index, order_index, min(item_type COLLATE "C") AS item_type, min(tags) AS tags,
    count(*) FILTER (WHERE ${HAS_VERDICT} OR status = 'failed') AS tries, count(*) FILTER (WHERE passed) AS passes,
    count(*) FILTER (WHERE ${HAS_VERDICT} AND NOT passed) AS wrong, count(*) AS results,
    count(*) FILTER (WHERE status = 'ok') AS ok, count(*) FILTER (WHERE status = 'failed') AS failed,
    count(*) FILTER (WHERE status = 'unscored') AS unscored, count(score) AS scored, sum(score) AS score_sum,
    coalesce(bool_and(score IN (0, 1)), true) AS is_binary, avg(score) AS score_mean
  FROM ${results} AS results GROUP BY section_order_index, order_index`;

/** The same of a run without repetitions: nothing needs to be brought together. */
const singleItems = (results: string): string => `
  SELECT section_order_index, order_index, item_type COLLATE "C" AS item_type, tags,
    (${HAS_VERDICT} OR status = 'failed')::int AS tries, coalesce(passed, false)::int AS passes,
    (${HAS_VERDICT} AND NOT passed)::int AS wrong, 1 AS results, (status = 'ok')::int AS ok, (status = 'failed')::int AS failed,
    (status = 'unscored')::int AS unscored, (score IS NOT NULL)::int AS scored, score AS score_sum,
    coalesce(score IN (0, 1), true) AS is_binary, score AS score_mean
  FROM ${results} AS results`;

interface SummedResults {
  /** SQL as {@link MAIN_SCORES}. */
  readonly results: string;
  /** Whether an item may have several results. */
  readonly isRepeated: boolean;
}

const itemsOfResults = ({ results, isRepeated }: SummedResults): string =>
  isRepeated ? repeatedItems(results) : singleItems(results);

/**
 * SQL that adds up `parts`: sums of items that are {@link ALIKE}, by `kind` and `key`. Variances combine by the formula of
 * Chan, Golub and LeVeque (1979), so that no digits are lost to cancellation. One row for each group and kind of items, with
 * the members of {@link SumsRow}.
 *
 * @param grouped a row for each part and each group that it belongs to
 * @param order SQL for the order of the groups
 */
const addedUp = (grouped: string, order: string): string => `
  grouped AS (
    ${grouped}
  ), weighted AS (
    SELECT *, sum(items * score_mean) OVER same / sum(items) OVER same AS score_center
    FROM grouped WINDOW same AS (PARTITION BY kind, key COLLATE "C", ${ALIKE})
  ), sums AS (
    SELECT kind, key COLLATE "C" AS key, ${ALIKE}, sum(items) AS items, min(section_order_index) AS position,
      sum(results) AS results, sum(ok) AS ok, sum(failed) AS failed, sum(unscored) AS unscored, sum(score_sum) AS score_sum,
      bool_and(is_binary) AS is_binary, min(score_center) AS score_mean,
      sum(items * (score_variance + (score_mean - score_center) ^ 2)) / sum(items) AS score_variance
    FROM weighted GROUP BY kind, key COLLATE "C", ${ALIKE}
  ), keyed AS (
    SELECT kind, key, dense_rank() OVER (PARTITION BY kind ORDER BY sum(results) DESC, key) AS rank,
      min(position) AS first_position
    FROM sums GROUP BY kind, key
  )
  SELECT kind, key, tries::float8, passes::float8, wrong::float8, scored::float8, items::float8, results::float8, ok::float8,
    failed::float8, unscored::float8, score_sum AS "scoreSum", is_binary AS "isBinary", score_mean::float8 AS "scoreMean",
    score_variance::float8 AS "scoreVariance"
  FROM sums JOIN keyed USING (kind, key) ${order}`;

/** The run, its sections, types and tags; `rows` are items or sums of items. */
const inGroups = (rows: string): string => `
    SELECT 'run' AS kind, '' AS key, ${rows}.* FROM ${rows}
    UNION ALL SELECT 'section', s.name, ${rows}.* FROM ${rows}
      JOIN runs run ON run.id = $1 JOIN version_sections s ON ${ofRun('run')} AND s.order_index = section_order_index
    UNION ALL SELECT 'type', item_type, ${rows}.* FROM ${rows} WHERE item_type IS NOT NULL
    UNION ALL SELECT 'tag', tag, ${rows}.* FROM ${rows} CROSS JOIN LATERAL unnest(tags) AS tag`;

/**
 * SQL that adds up the results of run `$1` by item, then for the whole run and for each section, type and tag. The results
 * are read once: they are first added up by everything that groups have in common.
 */
export function groupSums(summed: SummedResults): string {
  return `
  WITH parts AS MATERIALIZED (
    SELECT section_order_index, item_type, tags, ${ALIKE}, ${SUMS}
    FROM (${itemsOfResults(summed)}) AS by_item
    GROUP BY section_order_index, item_type, tags, ${ALIKE}
  ), ${addedUp(
    inGroups('parts'),
    `WHERE rank <= ${MAX_GROUPS}
  ORDER BY kind, CASE WHEN kind = 'section' THEN first_position END, key, ${ALIKE} LIMIT ${MAX_ROWS}`,
  )}`;
}

/** A row of {@link groupSums}: the items of a group that are alike in the counts of their results. */
export interface SumsRow extends AlikeItems {
  readonly kind: 'run' | 'section' | 'type' | 'tag' | 'slice';
  readonly key: string;
}

/** The JSON text of a tag of an item: a value of {@link itemsWith}, which then has a row for each tag. */
export const TAG_VALUE = `'"' || tag || '"'`;

/** The items of a run with the sections and items of its version. */
interface SummedItems extends SummedResults {
  readonly version: JoinedVersion;
}

/**
 * Parts of WITH for the items of a run with values of each, by name: SQL expressions about the item `i`, its section `s` and
 * its `tag`. The last part is `name`.
 */
function itemsWith(
  { version, ...summed }: SummedItems,
  values: Readonly<Record<string, string>>,
  add: (value: unknown) => string,
  name: string,
): string {
  const sql = Object.values(values);
  const needsItems = sql.some((value) => value.includes('i.'));
  const join = joinItems(needsItems ? version : { ...version, parts: null }, add, { rows: 'by_item' });
  return `by_item AS (
    ${itemsOfResults(summed)}
  ), ${join.cte}, ${name} AS ${name === 'clustered' ? 'MATERIALIZED ' : ''}(
    SELECT by_item.*, ${Object.entries(values)
      .map(([column, value]) => `${value} AS ${column}`)
      .join(', ')}
    FROM by_item ${join.sections} ${needsItems ? join.items : ''}
      ${sql.some((value) => value.includes(TAG_VALUE)) ? 'CROSS JOIN LATERAL unnest(by_item.tags) AS tag' : ''}
  )`;
}

/** A cluster's name: the text of the value, short. An item without a value is on its own. */
export function clusterOf(value: string, at: string): string {
  // OFFSET keeps the planner from computing the value several times.
  return `(
    SELECT coalesce(CASE WHEN octet_length(text) > 64 THEN encode(sha256(convert_to(text, 'UTF8')), 'hex') ELSE text END,
      '@' || ${at}.section_order_index || ':' || ${at}.order_index)
    FROM (SELECT nullif(${value}, 'null') AS text OFFSET 0) AS stated
  )`;
}

/** For one kind of value of results: how many of them an item has, and their sum. */
const MEASURES = {
  score: ['scored', 'score_sum'],
  due: ['tries', 'passes'],
  share: ['passes + wrong', 'passes'],
} as const;

const measures = (form: (name: string, count: string, sum: string) => string): string =>
  Object.entries(MEASURES)
    .map(([name, [count, sum]]) => form(name, count, sum))
    .join(', ');

/**
 * SQL for how the results of groups of run `$1` spread where items are clustered by a value. The groups are those in
 * `$2`, kind and key with a space between them; a row of {@link ClusterRow} each.
 *
 * @param value SQL for the value of item `i`
 */
export function clusterSpreads(summed: SummedItems, value: string, add: (value: unknown) => string): string {
  return `
  WITH ${itemsWith(summed, { cluster: clusterOf(value, 'by_item') }, add, 'clustered')},
  ${spreads(inGroups('clustered'))}`;
}

const spreads = (grouped: string): string => `
  grouped AS (
    SELECT * FROM (${grouped}) AS every WHERE kind || ' ' || key = ANY($2::text[])
  ), sums AS (
    SELECT kind, key, cluster, ${measures((name, count, sum) => `sum(${count})::float8 AS ${name}_values, sum(${sum})::float8 AS ${name}_sum`)}
    FROM grouped GROUP BY kind, key, cluster
  ), centered AS (
    SELECT *, ${measures((name) => `sum(${name}_sum) OVER same / nullif(sum(${name}_values) OVER same, 0) AS ${name}_center`)}
    FROM sums WINDOW same AS (PARTITION BY kind, key)
  )
  SELECT kind, key, ${measures(
    (
      name,
    ) => `sum(${name}_values)::float8 AS "${name}Values", (count(*) FILTER (WHERE ${name}_values > 0))::float8 AS "${name}Clusters",
      coalesce(sum((${name}_sum - ${name}_values * ${name}_center) ^ 2), 0)::float8 AS "${name}Squares"`,
  )}
  FROM centered GROUP BY kind, key`;

export type ClusterRow = Pick<SumsRow, 'kind' | 'key'> & ClusteredSpreads;

/** In place of a value that is too long to be one of a few. */
export const LONG_VALUE = '…';
const MAX_VALUE_BYTES = 1_000;

/** The key of a slice: the JSON texts of its values, one line each. Canonical JSON has no line breaks. */
export const sliceKey = (values: readonly string[]): string =>
  values
    .map(
      (value) => `(
        SELECT coalesce(CASE WHEN octet_length(text) > ${MAX_VALUE_BYTES} THEN '${LONG_VALUE}' ELSE text END, 'null')
        FROM (SELECT ${value} AS text OFFSET 0) AS stated
      )`,
    )
    .join(` || E'\\n' || `);

/**
 * SQL that adds up the results of run `$1` by values of their items: rows of {@link SumsRow} of kind `slice`.
 *
 * @param values SQL for values of item `i`
 * @param maxSlices of more, one more is given
 */
export function sliceSums(
  summed: SummedItems,
  values: readonly string[],
  maxSlices: number,
  add: (value: unknown) => string,
): string {
  return `
  WITH ${itemsWith(summed, { key: sliceKey(values) }, add, 'sliced')}, parts AS MATERIALIZED (
    SELECT 'slice' AS kind, key, 0 AS section_order_index, ${ALIKE}, ${SUMS}
    FROM sliced GROUP BY key, ${ALIKE}
  ), ${addedUp(
    'SELECT * FROM parts',
    `WHERE rank <= ${maxSlices + 1} ORDER BY kind, key, ${ALIKE} LIMIT ${MAX_ROWS}`,
  )}`;
}

export function sliceSpreads(
  summed: SummedItems,
  values: readonly string[],
  cluster: string,
  add: (value: unknown) => string,
): string {
  const clustered = itemsWith(
    summed,
    { key: sliceKey(values), cluster: clusterOf(cluster, 'by_item') },
    add,
    'clustered',
  );
  return `
  WITH ${clustered}, ${spreads(`SELECT 'slice' AS kind, * FROM clustered`)}`;
}

/** SQL for what run `$1` took: latencies by the nearest-rank method, and the reasons of its outputs to end. */
export const RUN_FACTS: string = `
  SELECT (
    SELECT json_build_object('p50', ranks[1], 'p90', ranks[2], 'p99', ranks[3])::text FROM (
      SELECT percentile_disc(ARRAY[0.5, 0.9, 0.99]) WITHIN GROUP (ORDER BY latency_ms) AS ranks
      FROM run_results WHERE run_id = $1
    ) AS latencies
  ) AS latency, (
    SELECT coalesce(json_object_agg(reason, count ORDER BY reason), '{}')::text FROM (
      SELECT finish_reason COLLATE "C" AS reason, count(*) AS count FROM run_results
      WHERE run_id = $1 AND finish_reason IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 100
    ) AS reasons
  ) AS "finishReasons"`;
