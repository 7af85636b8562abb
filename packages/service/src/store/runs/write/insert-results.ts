import type { JsonValue } from '@svc/jsonl-v23/json';
import {
  isJsonField,
  RESULT_FIELD_LIST,
  type ResultLabel,
  type ResultTexts,
  type ResultValues,
  type ScorerScore,
  type StatedName,
} from '@svc/jsonl-v23/runs';
import type pg from 'pg';
import {
  errorGroup,
  JsonText,
  MAIN_SCORER,
  type RunPrices,
  type RunResult,
  runCost,
  type TokenCounts,
  tokenCounts,
} from '../../../evaluation/index.ts';
import { StoreError } from '../../database/errors.ts';
import { Parameters } from '../../database/page.ts';
import { memberText, readableJson, runNotFound, shortened } from '../../database/values.ts';
import { type ItemPlace, itemsAt, readPlaces } from '../../items/item-ranges.ts';
import { queryOf } from '../../postgres/read-query.ts';
import { keyColumns } from '../run-results.ts';
import { isToReplace, type Retry, readRetry, SQL_TYPES } from '../run-row.ts';

/** What a run counts of its results, as SQL; of the last ones the sum. */
const COUNTED = {
  ok: `count(*) FILTER (WHERE status = 'ok')`,
  failed: `count(*) FILTER (WHERE status = 'failed')`,
  unscored: `count(*) FILTER (WHERE status = 'unscored')`,
  scored: 'count(score)',
  score_sum: 'coalesce(sum(score), 0)',
  passed: 'count(*) FILTER (WHERE passed)',
  wrong: 'count(*) FILTER (WHERE NOT passed AND score IS NOT NULL)',
  truncated: 'count(*) FILTER (WHERE truncated)',
  reused: 'count(*) FILTER (WHERE reused)',
  input_tokens: 'coalesce(sum(input_tokens), 0)',
  output_tokens: 'coalesce(sum(output_tokens), 0)',
  judge_input_tokens: 'coalesce(sum(judge_input_tokens), 0)',
  judge_output_tokens: 'coalesce(sum(judge_output_tokens), 0)',
  judge_cost: 'coalesce(sum(judge_cost), 0)',
} as const;
type CountName = keyof typeof COUNTED;
const NAMES = Object.keys(COUNTED) as CountName[];
const FRACTIONS: readonly CountName[] = ['score_sum', 'judge_cost'];

/** What results add to the counts of their run: columns of one row. */
export const COUNTS: string = `count(*) AS all, ${NAMES.map((name) => `${COUNTED[name]} AS ${name}`).join(', ')}`;

/** By how much the counts of results have changed. @param before,after a row of COUNTS each */
export const GROWTH = (before: string, after: string): string =>
  NAMES.map((name) => `${after}.${name} - ${before}.${name} AS ${name}`).join(', ');

export const COUNTED_COLUMNS: readonly string[] = [
  ...['status', 'score', 'passed', 'truncated', 'reused', 'input_tokens', 'output_tokens'],
  ...['judge_input_tokens', 'judge_output_tokens', 'judge_cost'],
];

/** What a batch of results adds to the counts of its run; 64-bit integers are text. */
export type Growth = Readonly<Record<'written' | 'replaced' | 'again' | CountName, string | number>>;

/** $1 the run, $2 the number of results, $3 how many of them were not to be done, $4 what they have cost, then what each count grows by. A separate statement: it is another table. */
const COUNT = `UPDATE runs SET results_version = results_version + $2::bigint, results_due = results_due + $3::bigint,
    spent = spent + $4::float8,
    ${NAMES.map((name, index) => `${name} = ${name} + $${index + 5}::${FRACTIONS.includes(name) ? 'float8' : 'bigint'}`).join(', ')}
  WHERE id = $1`;

export async function countResults(client: pg.ClientBase, runId: string, growth: Growth, cost: number) {
  const counts = NAMES.map((name) => growth[name]);
  await client.query(COUNT, [runId, growth.written, growth.again, cost, ...counts]);
}

/** The numbers in the `scores` of a result, by scorer. */
type ScorerNumbers = Readonly<Record<string, Pick<ScorerScore, 'score' | 'passed' | 'error'>>>;

export const MAX_SCORERS = 16;

/** Adds scorers to a run, in a transaction that holds its row. @throws StoreError `too_many_scorers` */
export async function addScorers(client: pg.ClientBase, runId: string, scored: readonly ScorerNumbers[]) {
  const found = new Set(scored.flatMap((scores) => Object.keys(scores)));
  if (found.size === 0) return [];
  const { rows } = await client.query<{ names: string | null }>(
    'SELECT scorer_names AS names FROM runs WHERE id = $1',
    [runId],
  );
  const known = JSON.parse(rows[0]?.names ?? '[]') as string[];
  const names = [...new Set([...known, ...found])];
  if (names.length === known.length) return names;
  if (names.length > MAX_SCORERS) {
    throw new StoreError('too_many_scorers', `A run has at most ${MAX_SCORERS} scorers.`);
  }
  await client.query('UPDATE runs SET scorer_names = $2 WHERE id = $1', [runId, JSON.stringify(names)]);
  return names;
}

/**
 * The numbers of scores in the order of the run's scorers, as texts of arrays. A scorer that failed has not passed, and has no
 * score; one that does not apply to the item has neither.
 */
export function numbersOf(
  scored: ScorerNumbers,
  names: readonly string[],
): { readonly scorerScores: string; readonly scorerPassed: string } {
  const used = Object.keys(scored).length === 0 ? [] : names;
  const values = new Map(Object.entries(scored));
  const array = (of: (score: ScorerNumbers[string]) => number | boolean | null): string => {
    const texts = used.map((name) => {
      const score = values.get(name);
      return String(score === undefined ? null : of(score)).toUpperCase();
    });
    return `{${texts.join(',')}}`;
  };
  return {
    scorerScores: array(({ score }) => score),
    scorerPassed: array(({ passed, error }) => (error === undefined ? passed : false)),
  };
}

/**
 * The number of a scorer in the results of its run, from 1; null for the main one of a run that names none.
 *
 * @param names JSON text of the run's `scorer_names`; null without any
 * @throws StoreError `scorer_not_found`
 */
export function scorerNumber(names: string | null, scorer: string): number | null {
  const number = findScorer(names, scorer);
  if (number !== undefined) return number;
  throw new StoreError('scorer_not_found', `The run has no scorer ${JSON.stringify(shortened(scorer))}.`);
}

/** The same; undefined for a scorer that has scored nothing. */
export function findScorer(names: string | null, scorer: string): number | null | undefined {
  const found = (JSON.parse(names ?? '[]') as string[]).indexOf(scorer);
  return found !== -1 ? found + 1 : scorer === MAIN_SCORER ? null : undefined;
}

/** A result to store, whose JSON values are texts or the bytes of texts, the tokens that its usage states, and the group of its error. */
export type ImportedResult = ResultTexts<StatedName, Uint8Array> & {
  readonly tokens: { readonly model: TokenCounts; readonly judge: TokenCounts };
  /** Null without an error. */
  readonly errorGroup: string | null;
  readonly scored: ScorerNumbers;
  /** What people say of the output, where it comes with a package. */
  readonly labels?: readonly ResultLabel[];
} & Pick<RunResult, 'requestHash' | 'cost'>;

/** A result with a longer text is written by a separate statement, which takes the text as it is. */
export const MAX_TEXT_CHARS: number = 64 * 1024;

const STATED: typeof RESULT_FIELD_LIST = RESULT_FIELD_LIST.filter(({ isDerived = false }) => !isDerived);
const STATED_JSON = STATED.filter(isJsonField).map(({ name }) => name as StatedName);

/** Whether a result is written by a separate statement. */
function hasLongText(result: ImportedResult): boolean {
  return STATED_JSON.some(
    (name) => ((result[name] as string | Uint8Array | null)?.length ?? 0) > MAX_TEXT_CHARS,
  );
}

/** Writes the JSON values of a result, whose section need not be found yet, as they are stored. */
export function writeResult(
  result: Omit<ResultValues<JsonText>, 'sectionOrderIndex'> & Pick<RunResult, 'requestHash' | 'cost'>,
  write: (value: JsonValue) => string | Uint8Array,
): Omit<ImportedResult, 'sectionOrderIndex'> {
  const values: { readonly [Name in StatedName]?: unknown } = result;
  const texts: { [Name in StatedName]?: unknown } = {};
  for (const name of STATED_JSON) {
    const value = values[name] as JsonValue | JsonText;
    texts[name] = value === null ? null : value instanceof JsonText ? value.json : write(value);
  }
  const tokens = { model: tokenCounts(result.usage), judge: tokenCounts(result.judgeUsage) };
  const scored =
    result.scores === null || result.scores instanceof JsonText
      ? {}
      : Object.fromEntries(
          Object.entries(result.scores).map(([name, { score = null, passed = null, error }]) => [
            name,
            { score, passed, ...(error !== undefined && { error }) },
          ]),
        );
  const group = result.error === null ? null : errorGroup(result.error);
  return { ...result, ...texts, tokens, scored, errorGroup: group } as Omit<
    ImportedResult,
    'sectionOrderIndex'
  >;
}

/** Longer types and tags are not kept with a result, nor further tags of one item. */
const MAX_LABEL_BYTES = 1_000;
const MAX_TAGS = 100;

const STATED_TAGS = `${readableJson('i.payload')} -> 'tags'`;

/** Hash, type and tags of an item `i` as a result keeps them; tags as JSON texts without their quotes. */
const ITEM_FACTS = `i.item_hash, CASE WHEN octet_length(i.type) <= ${MAX_LABEL_BYTES} THEN i.type END AS type, (
    SELECT array_agg(DISTINCT substr(tag, 2, length(tag) - 2)) FROM (
      SELECT ${memberText('tag')} AS tag
      FROM json_array_elements(CASE WHEN json_typeof(${STATED_TAGS}) = 'array' THEN ${STATED_TAGS} END) AS tag
      WHERE json_typeof(tag) = 'string' LIMIT ${MAX_TAGS}
    ) AS texts WHERE octet_length(tag) <= ${MAX_LABEL_BYTES}
  ) AS tags`;

/** A result with its numbers in the order of the run's scorers, as texts of arrays. */
type NumberedResult = ImportedResult & { readonly scorerScores: string; readonly scorerPassed: string };

type Column = readonly [
  name: string,
  type: string,
  take: (result: NumberedResult, prices: RunPrices) => unknown,
];

const COLUMNS: readonly Column[] = [
  ...STATED.map(({ wire, kind, name }): Column => {
    return [wire, SQL_TYPES[kind], (result) => result[name as StatedName]];
  }),
  ['input_tokens', 'int', ({ tokens }) => tokens.model.input],
  ['output_tokens', 'int', ({ tokens }) => tokens.model.output],
  ['judge_input_tokens', 'int', ({ tokens }) => tokens.judge.input],
  ['judge_output_tokens', 'int', ({ tokens }) => tokens.judge.output],
  ['request_hash', 'bytea', ({ requestHash }) => requestHash ?? null],
  ['error_group', 'text', ({ errorGroup: group }) => group],
  ['cost', 'double precision', costOf],
  ['scorer_scores', 'text', ({ scorerScores }) => scorerScores],
  ['scorer_passed', 'text', ({ scorerPassed }) => scorerPassed],
];
/** Columns of arrays: a parameter with arrays of arrays would be one long array. */
const CASTS: Readonly<Record<string, string>> = { scorer_scores: '::float8[]', scorer_passed: '::bool[]' };
const KEY: readonly string[] = ['section_order_index', 'order_index', 'repetition'];
/** What the statement finds out itself. */
const DERIVED = ['truncated', 'item_hash', 'item_type', 'tags', 'retries', 'output_hash'];
const REPLACED = [...COLUMNS.map(([name]) => name), ...DERIVED].filter((name) => !KEY.includes(name));
const COLUMN_NAMES = COLUMNS.map(([name]) => name).join(', ');
const parameters = (form: (type: string, name: string) => string): string =>
  COLUMNS.map(([name, type], index) => `$${index + 2}::${form(type, name)}`).join(', ');
/** Each parameter is an array, ... */
const MANY = `SELECT * FROM unnest(${parameters((type) => `${type}[]`)}) WITH ORDINALITY AS wanted (${COLUMN_NAMES}, n)`;
/** ... or the value of the one result: the driver would have to escape a text in an array. */
const ONE = `SELECT ${parameters((type, name) => `${type} AS ${name}`)}, 1 AS n`;
/** Which results that are there give way: all, or the results that a retry does again. */
type Replaces = 'retried' | 'all';

/**
 * $1 the run, then a parameter for each column, then those that it adds. What is there is counted before anything is written,
 * because a distributed PostgreSQL executes one after the other; ORDER BY has each result looked up by its key, however
 * many the run has.
 *
 * @param places of the items of the results, in their order
 */
const insertOf = (
  wanted: string,
  { keys, places, retry, replaces }: Insertion,
  parameters: Parameters,
): string => {
  const { add } = parameters;
  const given = { retries: add(retry.retries), only: add(retry.only) };
  const isDue = `${given.retries}::int > 0 AND ${isToReplace('result', given)}`;
  const items = itemsAt(places, parameters);
  return `
  WITH wanted AS MATERIALIZED (
    ${wanted}
  ), item AS MATERIALIZED (
    SELECT place.n, ${ITEM_FACTS} FROM ${items}
  ), replaced AS MATERIALIZED (
    SELECT ${COUNTS}, count(*) FILTER (WHERE ${isDue}) AS due
    FROM unnest(${keys.map((column) => `${add(column)}::int[]`).join(', ')}) AS key (${KEY.join(', ')}) CROSS JOIN LATERAL (
      SELECT * FROM run_results r WHERE r.run_id = $1 AND ${KEY.map((name) => `r.${name} = key.${name}`).join(' AND ')} ORDER BY r.repetition
    ) AS result
    ${replaces === 'all' ? '' : `WHERE ${isDue}`}
  ), written AS (
    INSERT INTO run_results AS result (run_id, ${COLUMN_NAMES}, ${DERIVED.join(', ')}, created_at)
    SELECT $1::uuid, ${COLUMNS.map(([name]) => `wanted.${name}${CASTS[name] ?? ''}`).join(', ')}, coalesce(wanted.finish_reason = 'length', false), item.item_hash, item.type, item.tags, ${given.retries}::int,
      sha256(convert_to(wanted.output, 'UTF8')), clock_timestamp()
    FROM wanted LEFT JOIN item USING (n)
    ON CONFLICT (run_id, ${KEY.join(', ')}) DO UPDATE SET
      ${[...REPLACED, 'created_at'].map((name) => `${name} = excluded.${name}`).join(', ')}
    ${replaces === 'all' ? '' : `WHERE ${isToReplace('result', given)}`}
    RETURNING ${COUNTED_COLUMNS.map((name) => `result.${name}`).join(', ')}
  ), added AS (
    SELECT ${COUNTS} FROM written
  )
  SELECT added.all AS written, replaced.all AS replaced, replaced.all - coalesce(replaced.due, 0) AS again, ${GROWTH('replaced', 'added')}
  FROM added, replaced`;
};

interface Insertion {
  /** Columns: section, item and repetition of each result. */
  readonly keys: readonly (readonly number[])[];
  readonly places: readonly (ItemPlace | null)[];
  readonly retry: Retry;
  readonly replaces: Replaces;
}

export interface Written {
  readonly written: number;
  readonly replaced: number;
}

/**
 * Writes results and counts them. An existing result stays unchanged unless a retry replaces it.
 *
 * @param client in a transaction that holds the run's row
 * @param replaces which results give way
 */
export async function insertResults(
  client: pg.ClientBase,
  runId: string,
  results: readonly ImportedResult[],
  prices: RunPrices,
  replaces: Replaces = 'retried',
): Promise<Written> {
  const names = await addScorers(
    client,
    runId,
    results.map(({ scored }) => scored),
  );
  const query = queryOf(client);
  const stored = await readRetry(query, runId);
  if (stored === null) throw runNotFound(runId);
  const numbered = results.map((result) => ({ ...result, ...numbersOf(result.scored, names) }));
  const small = numbered.filter((result) => !hasLongText(result));
  const { retries, only, ...version } = stored;
  const retry = { retries, only };
  const total = { written: 0, replaced: 0 };
  if (small.length > 0) {
    await insert(
      MANY,
      COLUMNS.map(([, , take]) => small.map((result) => take(result, prices))),
      small,
    );
  }
  for (const result of numbered.filter(hasLongText)) {
    await insert(
      ONE,
      COLUMNS.map(([, , take]) => take(result, prices)),
      [result],
    );
  }
  return total;

  async function insert(wanted: string, values: readonly unknown[], of: readonly ImportedResult[]) {
    const parameters = new Parameters([runId, ...values]);
    const insertion = {
      keys: keyColumns(of),
      places: await readPlaces(query, version, of),
      ...{ retry, replaces },
    };
    const { rows } = await client.query<Growth>(insertOf(wanted, insertion, parameters), parameters.values);
    const growth = rows[0] as Growth;
    const cost = of.reduce((sum, result) => sum + (result.cost ?? 0), 0);
    await countResults(client, runId, growth, cost);
    total.written += Number(growth.written);
    total.replaced += Number(growth.replaced);
  }
}

/** Null without tokens or a price for any of them. */
function costOf({ tokens: { model }, judgeCost }: ImportedResult, prices: RunPrices): number | null {
  if (model.input === null && model.output === null && judgeCost === null) return null;
  const tokens = { inputTokens: model.input ?? 0, outputTokens: model.output ?? 0 };
  return runCost(prices, { ...tokens, judgeCost: judgeCost ?? 0 })?.amount ?? null;
}
