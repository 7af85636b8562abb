import { boundedText, memberText, readableJson } from '../../database/values.ts';
import { ofRun } from '../../items/item-ranges.ts';
import { type JoinedVersion, joinItems } from '../read-items-at.ts';
import { clusterOf, sliceKey, statusBy } from './summary-sql.ts';

/** What makes items of two runs a pair: their hash, their id, or their prompt. */
export type PairBy = 'hash' | 'id' | 'prompt';

/** What is compared: mean scores, or the shares of passed results, where failed requests have not passed. */
export type PairMetric = 'mean' | 'pass_rate';

export const PAIR_BY: readonly PairBy[] = ['hash', 'id', 'prompt'];

const PAYLOAD = readableJson('i.payload');
const PROMPT = `nullif(coalesce(${memberText(`${PAYLOAD} #> '{inputs,prompt}'`)}, ${memberText(`${PAYLOAD} #> '{inputs,messages}'`)}), 'null')`;

/** SQL for the key of an item `i` with results `scored`; null without one. */
const KEYS: Readonly<Record<PairBy, string>> = {
  hash: 'i.item_hash',
  id: `sha256(convert_to(nullif(scored.item_id, 'null'), 'UTF8'))`,
  prompt: `sha256(convert_to(${PROMPT}, 'UTF8'))`,
};

/** Numbers of an item whose difference is of interest: the mean over its scored results. */
const NUMBERS = ['score', 'latency_ms', 'input_tokens', 'output_tokens', 'cost'] as const;
type NumberName = (typeof NUMBERS)[number];

/**
 * The scored items of a run with the means of their numbers, whether more than half of their results that have passed or
 * failed passed (null without one), and what their outputs are.
 */
const scoredItems = ({ run, scorer, metric }: ScoredRun): string => {
  const [mean, passed] =
    scorer === null ? ['score', 'passed'] : [`scorer_scores[${scorer}]`, `scorer_passed[${scorer}]`];
  const status = scorer === null ? 'status' : statusBy(scorer);
  const share = `CASE WHEN ${status} = 'failed' THEN 0 WHEN ${mean} IS NOT NULL THEN ${passed}::int END`;
  const score = metric === 'pass_rate' ? `(${share})` : mean;
  return `
  SELECT section_order_index, order_index, min(item_id COLLATE "C") AS item_id, avg(${passed}::int) > 0.5 AS passed,
    sum(hashtextextended(coalesce(output, ''), repetition)::numeric) AS outputs,
    ${NUMBERS.map((name) => `avg(${name === 'score' ? score : name})::float8 AS ${name}`).join(', ')}
  FROM run_results WHERE run_id = ${run} AND ${score} IS NOT NULL GROUP BY section_order_index, order_index`;
};

interface ScoredRun {
  readonly run: string;
  /** Number of the scorer; null for the main one. */
  readonly scorer: number | null;
  readonly metric: PairMetric;
  /** Version of its items; null if they are not read. */
  readonly version: JoinedVersion | null;
}

/** Parts of WITH for the scored items of a run; the last is `name`, with values of each item by their names. */
function itemsWith(
  scored: ScoredRun,
  name: string,
  values: Readonly<Record<string, string>>,
  add: (value: unknown) => string,
): string {
  const rows = `${name}_scored`;
  if (scored.version === null) return `${name} AS MATERIALIZED (${scoredItems(scored)})`;
  const join = joinItems(scored.version, add, { rows: 'scored', sections: `${name}_section` });
  return `${rows} AS MATERIALIZED (${scoredItems(scored)}
  ), ${join.cte}, ${name}_item AS MATERIALIZED (
    SELECT scored.*, ${Object.entries(values)
      .map(([column, sql]) => `${sql} AS ${column}`)
      .join(', ')}
    FROM ${rows} AS scored ${join.sections} ${join.items}
  ), ${name} AS (
    ${
      values['pair_key'] === undefined
        ? `SELECT * FROM ${name}_item`
        : `SELECT *, row_number() OVER (PARTITION BY pair_key ORDER BY section_order_index, order_index) AS occurrence
    FROM ${name}_item WHERE pair_key IS NOT NULL`
    }
  )`;
}

const PAIR = `this.section_order_index, this.order_index, other.section_order_index AS other_section_order_index,
  other.order_index AS other_order_index, this.passed, other.passed AS other_passed, this.outputs <> other.outputs AS output_changed,
  ${NUMBERS.map((name) => `this.${name}, other.${name} AS other_${name}`).join(', ')}`;

/** How the items of two runs pair. */
export interface Pairing {
  readonly pairBy: PairBy;
  readonly metric: PairMetric;
  /** Whether both runs have the same items in the same order: then hashes need not be read. */
  readonly haveEqualItems: boolean;
  /** SQL for the value that clusters item `i`; null if each is on its own. */
  readonly clusterValue: string | null;
  /** Number of the scorer in each run; null for the main one. */
  readonly scorers: readonly [number | null, number | null];
  readonly versions: readonly [JoinedVersion, JoinedVersion];
}

/** Parts of WITH for the pairs; the last is `pairs`. */
function pairs(
  { pairBy, metric, haveEqualItems, clusterValue, scorers, versions }: Pairing,
  add: (value: unknown) => string,
): string {
  const [one, two] = [
    { run: '$1', scorer: scorers[0], metric, version: versions[0] },
    { run: '$2', scorer: scorers[1], metric, version: versions[1] },
  ] as const;
  const cluster = clusterValue === null ? 'NULL' : clusterOf(clusterValue, 'scored');
  const isByPosition = pairBy === 'hash' && haveEqualItems;
  const key = { pair_key: KEYS[pairBy] };
  const parts = isByPosition
    ? [
        itemsWith(clusterValue === null ? { ...one, version: null } : one, 'this', { cluster }, add),
        itemsWith({ ...two, version: null }, 'other', {}, add),
      ]
    : [itemsWith(one, 'this', { ...key, cluster }, add), itemsWith(two, 'other', key, add)];
  return `${parts.join(', ')}, pairs AS MATERIALIZED (
    SELECT ${PAIR}, ${isByPosition && clusterValue === null ? 'NULL' : 'this.cluster'} AS cluster
    FROM this JOIN other USING (${isByPosition ? 'section_order_index, order_index' : 'pair_key, occurrence'})
  )`;
}

/** SQL for how many scored items of runs `$1` and `$2` pair in some way. */
export function countPairs(pairBy: PairBy, versions: Pairing['versions'], add: (value: unknown) => string) {
  const parts = (['this', 'other'] as const).map((name, index) => {
    const scored = {
      run: `$${index + 1}`,
      scorer: null,
      metric: 'mean',
      version: versions[index] as JoinedVersion,
    } as const;
    return itemsWith(scored, name, { pair_key: KEYS[pairBy] }, add);
  });
  return `WITH ${parts.join(', ')}
  SELECT count(*)::float8 AS count FROM this JOIN other USING (pair_key, occurrence)`;
}

/** Means over the pairs for which both runs know the number. */
const meansOf = (name: NumberName): string => {
  const both = `FILTER (WHERE ${name} IS NOT NULL AND other_${name} IS NOT NULL)`;
  return `json_build_object('mean', avg(${name}) ${both}, 'other_mean', avg(other_${name}) ${both},
    'mean_difference', avg(other_${name} - ${name}) ${both})`;
};

/** Sections that a comparison has: those with most pairs. */
const MAX_SECTIONS = 1_000;

const DIFFERENCE = 'other_score - score';

/** What is added up of pairs: members of {@link PairSums} without their spread, as names and SQL. */
const PAIR_SUMS: readonly (readonly [name: string, sql: string])[] = [
  ['paired', 'count(*)::float8'],
  ['mean', 'avg(score)'],
  ['otherMean', 'avg(other_score)'],
  ['meanDifference', `avg(${DIFFERENCE})`],
  ['wins', 'count(*) FILTER (WHERE other_score > score)::float8'],
  ['losses', 'count(*) FILTER (WHERE other_score < score)::float8'],
  ['ties', 'count(*) FILTER (WHERE other_score = score)::float8'],
  ['decided', 'count(*) FILTER (WHERE passed IS NOT NULL AND other_passed IS NOT NULL)::float8'],
  ['onlyThisPassed', 'count(*) FILTER (WHERE passed AND NOT other_passed)::float8'],
  ['onlyOtherPassed', 'count(*) FILTER (WHERE other_passed AND NOT passed)::float8'],
];

/** SQL that adds up `rows` to the members of {@link PairSums}, for each value of the column `by`, or all if null. */
function sumsOf(rows: string, by: string | null, isClustered: boolean): string {
  const column = by === null ? '' : `${by}, `;
  const grouped = by === null ? '' : `GROUP BY ${by}`;
  const spreadOf = (values: string, squares: string): string =>
    `json_build_object('values', ${values}, 'clusters', count(*), 'squares', coalesce(${squares}, 0)) AS spread`;
  const sums = `SELECT ${column}${spreadOf('count(*)', `var_pop(${DIFFERENCE}) * count(*)`)},
      ${PAIR_SUMS.map(([name, sql]) => `${sql} AS "${name}"`).join(', ')} FROM ${rows} ${grouped}`;
  if (!isClustered) return sums;
  return `SELECT ${column}clustered.spread, ${PAIR_SUMS.map(([name]) => `"${name}"`).join(', ')}
    FROM (${sums}) AS sums ${by === null ? 'CROSS JOIN' : 'JOIN'} (
      SELECT ${column}${spreadOf('coalesce(sum(items), 0)', 'sum((sum - items * mean) ^ 2)')} FROM (
        SELECT *, sum(sum) OVER same / nullif(sum(items) OVER same, 0) AS mean FROM (
          SELECT ${column}count(*) AS items, sum(${DIFFERENCE}) AS sum FROM ${rows} GROUP BY ${column}cluster
        ) AS clusters WINDOW same AS (${by === null ? '' : `PARTITION BY ${by}`})
      ) AS centered ${grouped}
    ) AS clustered ${by === null ? '' : `USING (${by})`}`;
}

/** Kinds of differences between the items of a pair, as SQL. */
const DIFFERENCE_KINDS = {
  all: 'score <> other_score OR passed <> other_passed',
  improvements: 'other_score > score OR other_score = score AND other_passed AND NOT passed',
  regressions: 'other_score < score OR other_score = score AND passed AND NOT other_passed',
  changed_output: 'output_changed',
} as const;
export type DifferenceKind = keyof typeof DIFFERENCE_KINDS;

const countOf = (kind: DifferenceKind): string => `count(*) FILTER (WHERE ${DIFFERENCE_KINDS[kind]})::float8`;

/**
 * SQL that pairs the items of run `$1` and run `$2` by `$3`, stores those that differ, and gives the members of
 * {@link StoredSums}.
 */
export const pairSums = (pairing: Pairing, add: (value: unknown) => string): string => {
  const isClustered = pairing.clusterValue !== null;
  return `
  WITH ${pairs(pairing, add)}, stored AS (
    INSERT INTO run_differences (run_id, other_run_id, pair_by, section_order_index, order_index,
      other_section_order_index, other_order_index, score, other_score, passed, other_passed, output_changed)
    SELECT $1, $2, $3, section_order_index, order_index, other_section_order_index, other_order_index, score, other_score,
      passed, other_passed, output_changed
    FROM pairs WHERE ${DIFFERENCE_KINDS.all} OR ${DIFFERENCE_KINDS.changed_output}
  )
  SELECT whole.*, others.*, (
      SELECT coalesce(json_agg(of_section ORDER BY section_order_index), '[]') FROM (
        SELECT s.name AS section, sums.* FROM (
          SELECT * FROM (${sumsOf('pairs', 'section_order_index', isClustered)}) AS every
          ORDER BY paired DESC, section_order_index LIMIT ${MAX_SECTIONS}
        ) AS sums JOIN runs run ON run.id = $1
          JOIN version_sections s ON ${ofRun('run')} AND s.order_index = sums.section_order_index
      ) AS of_section
    ) AS "bySection"
  FROM (${sumsOf('pairs', null, isClustered)}) AS whole CROSS JOIN (
    SELECT ${countOf('improvements')} AS improvements, ${countOf('regressions')} AS regressions,
      ${countOf('changed_output')} AS "changedOutputs", ${meansOf('latency_ms')} AS "latencyMs",
      ${meansOf('input_tokens')} AS "inputTokens", ${meansOf('output_tokens')} AS "outputTokens", ${meansOf('cost')} AS cost
    FROM pairs
  ) AS others`;
};

const TAGS = `tagged AS MATERIALIZED (
    SELECT DISTINCT ON (section_order_index, order_index) section_order_index, order_index, tags FROM run_results
    WHERE run_id = $1 ORDER BY section_order_index, order_index, repetition
  )`;

/**
 * SQL that pairs the items of run `$1` and run `$2` and gives the members of `PairSums` for each `value` of them, those with
 * most pairs first.
 *
 * @param value SQL for a value of item `i`; null for its tags
 * @param maxSlices of more, one more is given
 */
export function pairSlices(
  pairing: Pairing,
  value: string | null,
  maxSlices: number,
  add: (value: unknown) => string,
): string {
  const [version] = pairing.versions;
  const join = value === null ? null : joinItems(version, add, { rows: 'pairs' });
  return `
  WITH ${pairs(pairing, add)}, ${join === null ? TAGS : join.cte}, sliced AS (
    SELECT ${value === null ? `'"' || tag || '"'` : sliceKey([value])} AS value, pairs.*
    FROM pairs ${
      join === null
        ? 'JOIN tagged USING (section_order_index, order_index) CROSS JOIN LATERAL unnest(tagged.tags) AS tag'
        : `${join.sections} ${join.items}`
    }
  )
  SELECT * FROM (${sumsOf('sliced', 'value', pairing.clusterValue !== null)}) AS sums
  ORDER BY paired DESC, value COLLATE "C" LIMIT ${maxSlices + 1}`;
}

/**
 * SQL for the next differences of runs `$1` and `$2`: `$3` and `$4` the item to continue after, `$5` limit, `$6` what pairs
 * items, `$7` how many differences to leave out.
 */
export const differencesOf = (kind: DifferenceKind): string => `
  SELECT section_order_index AS "sectionOrderIndex", order_index AS "orderIndex",
    other_section_order_index AS "otherSectionOrderIndex", other_order_index AS "otherOrderIndex", score,
    other_score AS "otherScore", passed, other_passed AS "otherPassed", output_changed AS "outputChanged"
  FROM run_differences WHERE run_id = $1 AND other_run_id = $2 AND pair_by = $6 AND (${DIFFERENCE_KINDS[kind]})
    AND (section_order_index, order_index) > ($3::int, $4::int) ORDER BY section_order_index, order_index LIMIT $5 OFFSET $7`;

/** The ids of items that results of run `$1` state: `$2` the sections, `$3` the items. */
export const ITEM_IDS: string = `
  SELECT wanted.n::int AS n, min(${boundedText('result.item_id', 65_536)} COLLATE "C") AS "itemId"
  FROM unnest($2::int[], $3::int[]) WITH ORDINALITY AS wanted (section, item, n)
    JOIN run_results result ON result.run_id = $1 AND result.section_order_index = wanted.section
      AND result.order_index = wanted.item
  GROUP BY wanted.n`;
