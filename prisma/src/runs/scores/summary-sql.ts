import { ofRun } from '../../items/version-sql.ts';

/** Sections, types and tags that a summary has: those with most results. */
const MAX_GROUPS = 1_000;

/** With so many repetitions that there are more, the last groups lack some. */
const MAX_ROWS = 100_000;

/** Counts of results, and of scored items the mean and the variance of their scores. */
const SUMS = `count(*) AS items, sum(results) AS results, sum(ok) AS ok, sum(failed) AS failed, sum(unscored) AS unscored,
  sum(scored) AS scored, coalesce(sum(score_sum), 0) AS score_sum, sum(passes) AS passed, count(score_mean) AS scored_items,
  avg(score_mean) AS item_mean, var_pop(score_mean) AS item_variance`;

/** The items of a run, each with its results. */
const REPEATED_ITEMS = `
  SELECT section_order_index, min(item_type COLLATE "C") AS item_type, min(tags) AS tags,
    count(*) FILTER (WHERE status <> 'unscored') AS tries, count(*) FILTER (WHERE passed) AS passes, count(*) AS results,
    count(*) FILTER (WHERE status = 'ok') AS ok, count(*) FILTER (WHERE status = 'failed') AS failed,
    count(*) FILTER (WHERE status = 'unscored') AS unscored, count(score) AS scored, sum(score) AS score_sum,
    avg(score) AS score_mean
  FROM run_results WHERE run_id = $1 GROUP BY section_order_index, order_index`;

/** The same of a run without repetitions: nothing needs to be brought together. */
const SINGLE_ITEMS = `
  SELECT section_order_index, item_type COLLATE "C" AS item_type, tags, (status <> 'unscored')::int AS tries,
    coalesce(passed, false)::int AS passes, 1 AS results, (status = 'ok')::int AS ok, (status = 'failed')::int AS failed,
    (status = 'unscored')::int AS unscored, (score IS NOT NULL)::int AS scored, score AS score_sum, score AS score_mean
  FROM run_results WHERE run_id = $1`;

/**
 * SQL that adds up the results of run `$1` by item, then for the whole run and for each section, type and tag. One row for
 * the items of a group that have equally many tries and passes: `kind`, `key`, and the members of {@link SumsRow}, with
 * mean and variance of the items' mean scores. The results are read once: they are first added up by everything that
 * groups have in common. Variances combine by the formula of Chan, Golub and LeVeque (1979), so that no digits are lost to
 * cancellation.
 *
 * Results of older versions have no type and tags of their item.
 *
 * @param isRepeated whether an item may have several results
 */
export function groupSums(isRepeated: boolean): string {
  return `
  WITH parts AS MATERIALIZED (
    SELECT section_order_index, item_type, tags, tries, passes, ${SUMS}
    FROM (${isRepeated ? REPEATED_ITEMS : SINGLE_ITEMS}) AS by_item
    GROUP BY section_order_index, item_type, tags, tries, passes
  ), grouped AS (
    SELECT 'run' AS kind, '' AS key, parts.* FROM parts
    UNION ALL SELECT 'section', s.name, parts.* FROM parts
      JOIN runs run ON run.id = $1 JOIN version_sections s ON ${ofRun('run')} AND s.order_index = section_order_index
    UNION ALL SELECT 'type', item_type, parts.* FROM parts WHERE item_type IS NOT NULL
    UNION ALL SELECT 'tag', tag, parts.* FROM parts CROSS JOIN LATERAL unnest(tags) AS tag
  ), weighted AS (
    SELECT *, sum(scored_items * item_mean) OVER same / nullif(sum(scored_items) OVER same, 0) AS mean
    FROM grouped WINDOW same AS (PARTITION BY kind, key COLLATE "C", tries, passes)
  ), sums AS (
    SELECT kind, key COLLATE "C" AS key, tries, passes, sum(items) AS items, min(section_order_index) AS position,
      sum(results) AS results, sum(ok) AS ok, sum(failed) AS failed, sum(unscored) AS unscored, sum(scored) AS scored,
      sum(score_sum) AS score_sum, sum(passed) AS passed, sum(scored_items) AS scored_items, min(mean) AS item_mean,
      sum(scored_items * (item_variance + (item_mean - mean) ^ 2)) / nullif(sum(scored_items), 0) AS item_variance
    FROM weighted GROUP BY kind, key COLLATE "C", tries, passes
  ), keyed AS (
    SELECT kind, key, dense_rank() OVER (PARTITION BY kind ORDER BY sum(results) DESC, key) AS rank,
      min(position) AS first_position
    FROM sums GROUP BY kind, key
  )
  SELECT kind, key, tries::float8, passes::float8, items::float8, results::float8, ok::float8, failed::float8,
    unscored::float8, scored::float8, score_sum AS "scoreSum", passed::float8, scored_items::float8 AS "scoredItems",
    item_mean AS "itemMean", item_variance::float8 AS "itemVariance"
  FROM sums JOIN keyed USING (kind, key) WHERE rank <= ${MAX_GROUPS}
  ORDER BY kind, CASE WHEN kind = 'section' THEN first_position END, key, tries, passes LIMIT ${MAX_ROWS}`;
}

/** A row of {@link groupSums}. */
export interface SumsRow {
  readonly kind: 'run' | 'section' | 'type' | 'tag';
  readonly key: string;
  readonly tries: number;
  readonly passes: number;
  readonly items: number;
  readonly results: number;
  readonly ok: number;
  readonly failed: number;
  readonly unscored: number;
  readonly scored: number;
  readonly scoreSum: number;
  readonly passed: number;
  readonly scoredItems: number;
  /** Null without a scored item. */
  readonly itemMean: number | null;
  readonly itemVariance: number | null;
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
