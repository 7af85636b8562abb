import { RESULT_RANGES, type ResultBounds, type ResultRange, type Verdict } from '@svc/jsonl-v23/runs';
import { type RunResultStatus, UNREADABLE } from '../../../evaluation/index.ts';
import {
  containing,
  insideJsonString,
  memberText,
  readableJson,
  searchableText,
} from '../../database/values.ts';
import { hasValue, type StatedValue } from '../../items/find-items-sql.ts';
import { ofRun } from '../../items/item-ranges.ts';
import { andSeesLabel, isLabelOf, isNewestVerdict } from '../labels/result-labels.ts';
import { type JoinedVersion, joinItems } from '../read-items-at.ts';
import type { ResultPosition, ResultsFilter } from '../run-results.ts';
import { passedBy, statusBy } from '../scores/summary-sql.ts';

/** Which results of a run to list, in the names of the API; a result passes if it passes all of these. */
export interface ResultsConditions extends ResultBounds {
  readonly status?: RunResultStatus | undefined;
  readonly passed?: boolean | undefined;
  /** The scorer that `status`, `passed`, `min_score` and `max_score` are about, by its number; the main one without it. */
  readonly scorerNumber?: number | undefined;
  readonly section?: string | undefined;
  readonly type?: string | undefined;
  readonly tag?: string | undefined;
  readonly finish_reason?: string | undefined;
  /** Outputs without text, or others in which the checker found nothing to compare with the answer. */
  readonly output?: 'empty' | 'unreadable' | undefined;
  /** Hash of the item, 64 hex digits. */
  readonly item_hash?: string | undefined;
  /** What was read of the output, or the whole output: a text, number, boolean or null as text. */
  readonly got?: string | undefined;
  /** The newest verdict on the output, or the verdict of `label_by`; `none` without one. */
  readonly label?: Verdict | 'none' | undefined;
  /** Name of a person whose labels alone count; without `label` and `label_type`, results with a label of this person. */
  readonly label_by?: string | undefined;
  readonly label_type?: string | undefined;
  /** A group of errors, see `groupErrors`. */
  readonly error?: string | undefined;
  readonly values?: readonly StatedValue[] | undefined;
  /** Part of the output, explanation or error, or of the item's inputs or answer, in their JSON text, in any case. */
  readonly q?: string | undefined;
  /** Selects `n` of the results that have an output and meet the other conditions; the seed alone decides which. */
  readonly sample?:
    | {
        readonly n: number;
        readonly seed: number;
        /** Key of the last result of the sample; null if fewer meet the conditions, undefined until it is known. */
        readonly lastKey?: number | null;
      }
    | undefined;
}

/** SQL for what the checker read of an output, else the output itself, as JSON text. */
export const GOT = `coalesce(
  CASE WHEN result.scored_by = 'checker' THEN coalesce(
    substring(result.explanation from '^"Read (\\S+) from'), substring(result.explanation from '^"Picked ([^:]+):')) END,
  result.output)`;

/** SQL: whether a model gave nothing but white space or null. Long texts are not read. */
const IS_EMPTY = `(result.status <> 'failed' AND CASE
  WHEN result.output IS NULL THEN true
  WHEN octet_length(result.output) <= 100 THEN result.output ~ '^(null|"( |\\\\[nrt])*")$'
  ELSE false END)`;

/** The conditions as SQL about `run_results result`, but for those on its item; parameters from number `first` on. */
export function resultsFilter(conditions: ResultsConditions, first: number): ResultsFilter {
  const { status, passed, scorerNumber, section, type, tag, output } = conditions;
  const { finish_reason, item_hash, error } = conditions;
  const score = scorerNumber === undefined ? 'score' : `scorer_scores[${scorerNumber}]`;
  const values: unknown[] = [];
  const parts: string[] = [];
  const parameter = (value: unknown): string => `$${first + values.push(value) - 1}`;
  const add = (sql: (parameter: string) => string, value: unknown): void => {
    parts.push(`AND ${sql(parameter(value))}`);
  };
  if (status !== undefined) {
    const found = scorerNumber === undefined ? 'result.status' : statusBy(scorerNumber, 'result.');
    add((value) => `${found} = ${value}`, status);
  }
  if (passed !== undefined) {
    const found = scorerNumber === undefined ? 'result.passed' : passedBy(scorerNumber, 'result.');
    add((value) => `${found} = ${value}`, passed);
  }
  if (section !== undefined) add(ofSection, searchableText(section));
  if (type !== undefined) add((value) => `result.item_type = ${value}`, insideJsonString(type));
  if (tag !== undefined) add((value) => `result.tags @> ARRAY[${value}::text]`, insideJsonString(tag));
  if (finish_reason !== undefined) {
    add((value) => `result.finish_reason = ${value}`, searchableText(finish_reason));
  }
  if (output === 'empty') parts.push(`AND ${IS_EMPTY}`);
  if (output === 'unreadable') {
    parts.push(`AND result.scored_by = 'checker' AND NOT ${IS_EMPTY}`);
    const said = Object.values(UNREADABLE).map((text) => JSON.stringify(text));
    add((value) => `result.explanation = ANY(${value}::text[])`, said);
  }
  for (const [name, range] of Object.entries(RESULT_RANGES) as [ResultRange, { column: string }][]) {
    const column = name === 'score' ? score : range.column;
    const [least, most] = [conditions[`min_${name}`], conditions[`max_${name}`]];
    if (least !== undefined) add((value) => `result.${column} >= ${value}::float8`, least);
    if (most !== undefined) add((value) => `result.${column} <= ${value}::float8`, most);
  }
  if (conditions.got !== undefined) {
    const text = searchableText(conditions.got);
    add((value) => `${GOT} = ANY(${value}::text[])`, [text, JSON.stringify(text)]);
  }
  if (error !== undefined) add((value) => `result.error_group = ${value}`, searchableText(error));
  const labels = labelConditions(conditions, (value) => parameter(searchableText(value)));
  for (const condition of labels.conditions) parts.push(`AND ${condition}`);
  if (item_hash !== undefined) add((value) => `result.item_hash = decode(${value}, 'hex')`, item_hash);
  const { sample } = conditions;
  if (sample !== undefined) {
    parts.push('AND result.output_hash IS NOT NULL');
    const { lastKey } = sample;
    if (lastKey !== undefined) {
      add((value) => `${sampleKey(sample.seed)} <= ${value}::float8`, lastKey ?? MAX_SAMPLE_KEY);
    }
  }
  return { sql: parts.join(' '), joins: labels.joins, values };
}

interface ItemSearch {
  /** SQL about `run_results result`: whether it has the text that is looked for; null if none is. */
  readonly hasText: string | null;
  /** SQL about the row `i` of `items`; without the text of the result, where that is enough. */
  readonly ofItem: string | null;
  /** SQL about `i`, which must be true whatever the result has; null without such conditions. */
  readonly ofValues: string | null;
}

export function itemSearch(
  { q, values = [] }: ResultsConditions,
  add: (value: unknown) => string,
): ItemSearch | null {
  if (q === undefined && values.length === 0) return null;
  const ofValues = values.map((value) => hasValue(value, add));
  if (q === undefined) return { hasText: null, ofItem: null, ofValues: ofValues.join(' AND ') };
  const text = insideJsonString(searchableText(q));
  const texts = ['output', 'explanation', 'error'].map((name) => `result.${name}`);
  const contains = containing(text, add(text));
  const inputs = memberText(`${readableJson('i.payload')} -> 'inputs'`);
  return {
    hasText: `coalesce(${texts.map(contains).join(' OR ')}, false)`,
    // Inputs are looked for in the whole item first, which costs less than to read it.
    ofItem: `coalesce(${contains('i.answer::text')}, false) OR (${contains('i.payload::text')} AND coalesce(${contains(inputs)}, false))`,
    ofValues: ofValues.length === 0 ? null : ofValues.join(' AND '),
  };
}

/**
 * SQL for the results whose items meet the conditions: the columns of `candidate`.
 *
 * @param candidates SQL for results with `section_order_index`, `order_index`, `repetition`, `sort_value` and `has_text`
 */
export function searchItems(
  { hasText, ofItem, ofValues }: ItemSearch,
  candidates: string,
  version: JoinedVersion,
  add: (value: unknown) => string,
  { withCandidates }: { readonly withCandidates: boolean },
): string {
  const join = joinItems(version, add, { rows: 'candidate' });
  // A text in the result is enough.
  const isEnough = hasText !== null && ofValues === null;
  const conditions = [
    ...(ofValues === null ? [] : [ofValues]),
    ...(ofItem === null ? [] : [isEnough ? `(${ofItem})` : `(candidate.has_text OR ${ofItem})`]),
    ...(isEnough ? ['NOT candidate.has_text'] : []),
  ];
  const found = `SELECT candidate.*, true AS passes FROM candidate ${join.sections} ${join.items} WHERE ${conditions.join(' AND ')}`;
  // The server plans what is used once together with the rest.
  if (!isEnough && !withCandidates) return `WITH candidate AS (${candidates}), ${join.cte} ${found}`;
  const alone = isEnough ? 'candidate.has_text' : 'false';
  return `WITH candidate AS MATERIALIZED (${candidates}), ${join.cte}
    SELECT candidate.*, ${alone} AS passes FROM candidate ${withCandidates ? '' : `WHERE ${alone}`}
    UNION ALL ${found}`;
}

/** The same for results that are known. @param texts that they are sorted by, as `wanted.value` */
export function filterByKeys(
  keys: readonly ResultPosition[],
  first: number,
  texts?: readonly (string | null)[],
): ResultsFilter {
  const values = [...[0, 1, 2].map((part) => keys.map((key) => key[part])), ...(texts ? [texts] : [])];
  const columns = values.map((_, index) => `$${first + index}::${index < 3 ? 'int' : 'text'}[]`).join(', ');
  return {
    sql: '',
    joins: `JOIN unnest(${columns}) AS wanted (section, item, n${texts ? ', value' : ''})
      ON result.section_order_index = wanted.section AND result.order_index = wanted.item AND result.repetition = wanted.n`,
    values,
  };
}

/** The sections of this name are a range of the primary key, or a few. `$1` is the run. */
const ofSection = (name: string): string => {
  const named = `FROM runs run JOIN version_sections s ON ${ofRun('run')} WHERE run.id = $1 AND s.name = ${name}`;
  return `result.section_order_index BETWEEN (SELECT min(s.order_index) ${named}) AND (SELECT max(s.order_index) ${named})
    AND result.section = ${name}`;
};

/**
 * A label is found by the output; a condition on it, by the labels or by the results, whichever are fewer. A distributed
 * PostgreSQL takes the labels as separate subqueries alone.
 */
function labelConditions(
  { label, label_by: labelBy, label_type: labelType }: ResultsConditions,
  parameter: (value: string) => string,
): { readonly joins: string; readonly conditions: readonly string[] } {
  const person = labelBy === undefined ? null : `l.person = ${parameter(labelBy)}`;
  const labels = (...conditions: readonly (string | null)[]): string =>
    `(SELECT l.item_hash, l.output_hash FROM labels l WHERE ${conditions.filter((part) => part !== null).join(' AND ')}${andSeesLabel('l')})`;
  const exists = (...conditions: readonly (string | null)[]): string =>
    `(result.item_hash, result.output_hash) IN ${labels(...conditions)}`;
  const found: string[] = [];
  let joins = '';
  if (label === 'none') {
    joins = `LEFT JOIN ${labels('l.verdict IS NOT NULL', person)} AS judged ON ${isLabelOf('judged')}`;
    found.push('judged.item_hash IS NULL');
  } else if (label !== undefined) {
    found.push(exists(`l.verdict = ${parameter(label)}`, person ?? isNewestVerdict('l', 'l')));
  }
  if (labelType !== undefined) {
    found.push(exists(`l.types @> ARRAY[${parameter(labelType)}::text]`, person));
  } else if (label === undefined && person !== null) found.push(exists(person));
  return { joins, conditions: found };
}

const MAX_SAMPLE_KEY = 2 ** 52;

/** What a sample is ordered by: a number of 52 bits that depends on the seed, an integer, and the position alone. */
export const sampleKey = (seed: number): string => {
  const position = ['section_order_index', 'order_index', 'repetition'];
  const hash = position.reduce(
    (sum, name) => `hashint8extended(result.${name}::bigint, ${sum})`,
    `${Math.trunc(seed)}::bigint`,
  );
  return `(${hash} & ${MAX_SAMPLE_KEY - 1})::float8`;
};
