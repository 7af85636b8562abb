import { boundedName, boundedText } from '../../database/item-size.ts';
import { isItemAt, ofRun } from '../../items/version-sql.ts';

/** The scored items of run `${run}` with their mean score and whether more than half of their scored results passed. */
const scoredItems = (run: string): string => `
  SELECT section_order_index, order_index, avg(score) AS score, avg(passed::int) > 0.5 AS passed
  FROM run_results WHERE run_id = ${run} AND score IS NOT NULL GROUP BY section_order_index, order_index`;

/** The same with the hash of each item, and which of the equal items it is. */
const hashedItems = (run: string): string => `
  SELECT scored.*, i.item_hash,
    row_number() OVER (PARTITION BY i.item_hash ORDER BY scored.section_order_index, scored.order_index) AS occurrence
  FROM (${scoredItems(run)}) AS scored
    JOIN runs run ON run.id = ${run}
    JOIN version_sections s ON ${ofRun('run')} AND s.order_index = scored.section_order_index
    JOIN items i ON ${isItemAt('scored.order_index')}`;

const PAIR = `this.section_order_index, this.order_index, other.section_order_index AS other_section_order_index,
  other.order_index AS other_order_index, this.score, other.score AS other_score,
  coalesce(this.passed, false) AS passed, coalesce(other.passed, false) AS other_passed`;

/** Pairs of items by their hash, equal items in their order. */
const BY_HASH = `SELECT ${PAIR} FROM (${hashedItems('$1')}) AS this JOIN (${hashedItems('$2')}) AS other
  USING (item_hash, occurrence)`;

/** The same where both runs have the same items in the same order: no item needs to be read. */
const BY_POSITION = `SELECT ${PAIR} FROM (${scoredItems('$1')}) AS this JOIN (${scoredItems('$2')}) AS other
  USING (section_order_index, order_index)`;

/**
 * SQL that pairs the items of run `$1` and run `$2`; stores those that differ, and gives the members of `PairSums` of
 * @svc/evaluation.
 *
 * @param haveEqualItems whether the datasets of both runs have equal hashes
 */
export const pairSums = (haveEqualItems: boolean): string => `
  WITH pairs AS MATERIALIZED (
    ${haveEqualItems ? BY_POSITION : BY_HASH}
  ), stored AS (
    INSERT INTO run_differences (run_id, other_run_id, section_order_index, order_index, other_section_order_index,
      other_order_index, score, other_score, passed, other_passed)
    SELECT $1, $2, pairs.* FROM pairs WHERE score <> other_score OR passed <> other_passed
  )
  SELECT count(*)::float8 AS paired, avg(score) AS mean, avg(other_score) AS "otherMean",
    avg(other_score - score) AS "meanDifference",
    json_build_object('items', count(*), 'clusters', count(*),
      'squares', coalesce(var_pop(other_score - score), 0) * count(*)) AS spread,
    count(*) FILTER (WHERE other_score > score)::float8 AS wins,
    count(*) FILTER (WHERE other_score < score)::float8 AS losses,
    count(*) FILTER (WHERE other_score = score)::float8 AS ties,
    count(*) FILTER (WHERE passed AND NOT other_passed)::float8 AS "onlyThisPassed",
    count(*) FILTER (WHERE other_passed AND NOT passed)::float8 AS "onlyOtherPassed",
    count(*) FILTER (WHERE other_score > score OR other_score = score AND other_passed AND NOT passed)::float8
      AS improvements,
    count(*) FILTER (WHERE other_score < score OR other_score = score AND passed AND NOT other_passed)::float8
      AS regressions
  FROM pairs`;

/** Whether a row of `run_differences d` is of the kind `$3`: 1 for items in which the other run is better, -1 worse. */
const IS_WANTED = `CASE $3::int WHEN 0 THEN true
  WHEN 1 THEN other_score > score OR other_score = score AND other_passed AND NOT d.passed
  ELSE other_score < score OR other_score = score AND d.passed AND NOT other_passed END`;

/** SQL for the next differences of runs `$1` and `$2`: `$3` the kind, `$4` and `$5` the item to continue after, `$6` limit. */
export const DIFFERENCES: string = `
  SELECT d.section_order_index AS "sectionOrderIndex", d.order_index AS "orderIndex", ${boundedName('s.name')} AS section,
    ${boundedName('t.name')} AS "otherSection", d.other_order_index AS "otherOrderIndex",
    ${boundedText('result.item_id', 65_536)} AS "itemId", i.item_hash AS "itemHash", d.score, d.other_score AS "otherScore",
    d.passed, d.other_passed AS "otherPassed"
  FROM (
    SELECT * FROM run_differences d WHERE run_id = $1 AND other_run_id = $2 AND ${IS_WANTED}
      AND (section_order_index, order_index) > ($4::int, $5::int) ORDER BY section_order_index, order_index LIMIT $6
  ) AS d
    JOIN runs run ON run.id = $1 JOIN runs other ON other.id = $2
    JOIN version_sections s ON ${ofRun('run')} AND s.order_index = d.section_order_index
    JOIN version_sections t ON ${ofRun('other', 't')} AND t.order_index = d.other_section_order_index
    JOIN items i ON ${isItemAt('d.order_index')}
    LEFT JOIN LATERAL (
      SELECT item_id FROM run_results WHERE run_id = $1 AND section_order_index = d.section_order_index
        AND order_index = d.order_index ORDER BY repetition LIMIT 1
    ) AS result ON true
  ORDER BY d.section_order_index, d.order_index`;
