/** Sections, types and tags that a summary has: those with most results. */
const MAX_GROUPS = 1_000;

/** With so many repetitions that there are more, the last groups lack some. */
const MAX_ROWS = 100_000;

/**
 * SQL that adds up the results of run `$1` by item, then for the whole run and for each section, type and tag. One row for
 * the items of a group that have equally many tries and passes: `kind`, `key`, and the members of {@link SumsRow}, with
 * mean and variance of the items' mean scores. So the items are read once, and no digits are lost to cancellation.
 *
 * Results of older versions have no type and tags of their item.
 */
export const GROUP_SUMS: string = `
  WITH by_item AS MATERIALIZED (
    SELECT section_order_index, min(section) AS section, min(item_type) AS item_type, max(tags) AS tags,
      count(*) AS results, count(*) FILTER (WHERE status = 'ok') AS ok, count(*) FILTER (WHERE status = 'failed') AS failed,
      count(*) FILTER (WHERE status = 'unscored') AS unscored, count(score) AS scored, sum(score) AS score_sum,
      avg(score) AS score_mean, count(*) FILTER (WHERE passed) AS passed
    FROM run_results WHERE run_id = $1 GROUP BY section_order_index, order_index
  ), grouped AS (
    SELECT 'run' AS kind, '' AS key, by_item.* FROM by_item
    UNION ALL SELECT 'section', section, by_item.* FROM by_item
    UNION ALL SELECT 'type', item_type, by_item.* FROM by_item WHERE item_type IS NOT NULL
    UNION ALL SELECT 'tag', tag, by_item.* FROM by_item CROSS JOIN LATERAL unnest(tags) AS tag
  ), sums AS (
    SELECT kind, key, ok + failed AS tries, passed AS passes, count(*) AS items, min(section_order_index) AS position,
      sum(results) AS results, sum(ok) AS ok, sum(failed) AS failed, sum(unscored) AS unscored, sum(scored) AS scored,
      coalesce(sum(score_sum), 0) AS score_sum, sum(passed) AS passed, count(score_mean) AS scored_items,
      avg(score_mean) AS item_mean, var_pop(score_mean) AS item_variance
    FROM grouped GROUP BY kind, key, ok + failed, passed
  ), keyed AS (
    SELECT kind, key, dense_rank() OVER (PARTITION BY kind ORDER BY sum(results) DESC, key COLLATE "C") AS rank,
      min(position) AS first_position
    FROM sums GROUP BY kind, key
  )
  SELECT kind, key, tries::float8, passes::float8, items::float8, results::float8, ok::float8, failed::float8,
    unscored::float8, scored::float8, score_sum AS "scoreSum", passed::float8, scored_items::float8 AS "scoredItems",
    item_mean AS "itemMean", item_variance AS "itemVariance"
  FROM sums JOIN keyed USING (kind, key) WHERE rank <= ${MAX_GROUPS}
  ORDER BY kind, CASE WHEN kind = 'section' THEN first_position END, key COLLATE "C", tries, passes LIMIT ${MAX_ROWS}`;

/** A row of {@link GROUP_SUMS}. */
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
    SELECT json_build_object('p50', percentile_disc(0.5) WITHIN GROUP (ORDER BY latency_ms),
      'p90', percentile_disc(0.9) WITHIN GROUP (ORDER BY latency_ms),
      'p99', percentile_disc(0.99) WITHIN GROUP (ORDER BY latency_ms))::text
    FROM run_results WHERE run_id = $1
  ) AS latency, (
    SELECT coalesce(json_object_agg(finish_reason, count ORDER BY finish_reason), '{}')::text FROM (
      SELECT finish_reason, count(*) AS count FROM run_results WHERE run_id = $1 AND finish_reason IS NOT NULL
      GROUP BY finish_reason ORDER BY count(*) DESC, finish_reason LIMIT 100
    ) AS reasons
  ) AS "finishReasons"`;
