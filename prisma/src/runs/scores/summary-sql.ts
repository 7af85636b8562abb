/** Sections, types and tags that a summary has: those with most results. */
const MAX_GROUPS = 1_000;

/**
 * SQL that adds up the results of run `$1` by item, then for the whole run and for each section, type and tag: one row for
 * each, `kind` and `key`, with the members of `ResultSums` of @svc/evaluation. PostgreSQL's standard deviation does not
 * lose digits to cancellation.
 *
 * Results of older versions have no type and tags of their item.
 */
export const GROUP_SUMS: string = `
  WITH by_item AS MATERIALIZED (
    SELECT section_order_index, order_index, min(section) AS section, min(item_type) AS item_type,
      max(tags) AS tags, count(*) AS results, count(*) FILTER (WHERE status = 'ok') AS ok,
      count(*) FILTER (WHERE status = 'failed') AS failed, count(*) FILTER (WHERE status = 'unscored') AS unscored,
      count(score) AS scored, sum(score) AS score_sum, avg(score) AS score_mean, count(*) FILTER (WHERE passed) AS passed
    FROM (SELECT * FROM run_results WHERE run_id = $1 ORDER BY section_order_index, order_index, repetition) AS result
    GROUP BY section_order_index, order_index
  ), grouped AS (
    SELECT 'run' AS kind, '' AS key, by_item.* FROM by_item
    UNION ALL SELECT 'section', section, by_item.* FROM by_item
    UNION ALL SELECT 'type', item_type, by_item.* FROM by_item WHERE item_type IS NOT NULL
    UNION ALL SELECT 'tag', tag, by_item.* FROM by_item CROSS JOIN LATERAL unnest(tags) AS tag
  ), sums AS (
    SELECT kind, key, min(section_order_index) AS position, sum(results) AS results, sum(ok) AS ok, sum(failed) AS failed,
      sum(unscored) AS unscored, sum(scored) AS scored, coalesce(sum(score_sum), 0) AS score_sum, sum(passed) AS passed,
      count(score_mean) AS scored_items, stddev_samp(score_mean) AS item_deviation
    FROM grouped GROUP BY kind, key
  ), pass_counts AS (
    SELECT kind, key, json_agg(json_build_array(tries, passed, items)) AS pass_counts FROM (
      SELECT kind, key, ok + failed AS tries, passed, count(*) AS items FROM grouped GROUP BY kind, key, ok + failed, passed
    ) AS counted GROUP BY kind, key
  ), ranked AS (
    SELECT *, row_number() OVER (PARTITION BY kind ORDER BY results DESC, key COLLATE "C") AS rank
    FROM sums JOIN pass_counts USING (kind, key)
  )
  SELECT kind, key, results::float8, ok::float8, failed::float8, unscored::float8, scored::float8,
    score_sum AS "scoreSum", passed::float8, scored_items::float8 AS "scoredItems", item_deviation AS "itemDeviation",
    pass_counts::text AS "passCounts"
  FROM ranked WHERE rank <= ${MAX_GROUPS}
  ORDER BY kind, CASE WHEN kind = 'section' THEN position END, key COLLATE "C"`;

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
