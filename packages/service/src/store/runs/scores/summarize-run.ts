import type pg from 'pg';
import { addUp, type GroupScores, groupScores } from '../../../evaluation/index.ts';
import type { StoreContext } from '../../context.ts';
import { StoreError } from '../../database/errors.ts';
import { Parameters } from '../../database/page.ts';
import { readableJson } from '../../database/values.ts';
import { itemValue } from '../../items/find-items-sql.ts';
import { LARGE_JOINS, queryOf, type ReadQuery, readFrom, SNAPSHOT } from '../../postgres/read-query.ts';
import { readJoinedVersion } from '../read-items-at.ts';
import { readRunColumns, SUMMARY_VERSION, versionOf } from '../run-row.ts';
import { scorerNumber } from '../write/insert-results.ts';
import {
  type ClusterRow,
  clusterSpreads,
  groupSums,
  LONG_VALUE,
  MAIN_SCORES,
  RUN_FACTS,
  type SumsRow,
  scoresBy,
  sliceSpreads,
  sliceSums,
  TAG_VALUE,
} from './summary-sql.ts';

/** A run whose results are added up, as {@link SUMMED_RUN} reads it. */
export interface SummedRun {
  readonly id: string;
  readonly datasetId: string;
  readonly datasetVersion: number;
  readonly repetitions: number;
  /** Whether an item may have several results: a run of a package may have more than it states. */
  readonly isRepeated: boolean;
  /** JSON Pointer of the value that clusters items; null if each is on its own. */
  readonly clusterBy: string | null;
  /** JSON text of an array; null without any. */
  readonly scorerNames: string | null;
  /** Changes with the results. */
  readonly version: string;
  /** Results that the run has, as it counts them. */
  readonly counted: number;
}

/** SQL for the pointer that clusters the items of a run. A configuration of a package may be any object. */
const CLUSTER_BY: string = `(
    SELECT CASE WHEN json_typeof(value) = 'string' AND value #>> '{}' ~ '^/' AND octet_length(value::text) <= 1024
      THEN value #>> '{}' END
    FROM (SELECT ${readableJson('config::json')} -> 'cluster_by' AS value) AS stated
  )`;

export const SUMMED_RUN: string = `runs.id, runs.dataset_id AS "datasetId", dataset_version AS "datasetVersion", repetitions,
  repetitions > 1 OR imported AS "isRepeated", ${CLUSTER_BY} AS "clusterBy", scorer_names AS "scorerNames",
  ${SUMMARY_VERSION} AS version, ok + failed + unscored AS counted`;

interface ScoredGroup extends Pick<SumsRow, 'kind' | 'key'> {
  readonly scores: GroupScores;
}

/** Statements about groups of results, whose first parameter is the run. */
interface GroupStatements {
  /** SQL for rows of `SumsRow`, the rows of a group together. */
  sums(add: Parameters['add']): string;
  /** SQL for rows of `ClusterRow`, given SQL for the value that clusters items; the second parameter is the groups. */
  spreads(value: string, add: Parameters['add']): string;
}

/** Reads the sums of groups of results and computes their scores. @param confidence of their intervals, by default 95 % */
async function readGroups(
  query: ReadQuery,
  { id, repetitions, clusterBy }: Pick<SummedRun, 'id' | 'repetitions' | 'clusterBy'>,
  statements: GroupStatements,
  confidence?: number,
): Promise<readonly ScoredGroup[]> {
  const groups: { readonly kind: SumsRow['kind']; readonly key: string; readonly rows: SumsRow[] }[] = [];
  const summed = new Parameters([id]);
  for (const row of await query<SumsRow>(statements.sums(summed.add), summed.values)) {
    const last = groups.at(-1);
    if (last?.kind === row.kind && last.key === row.key) last.rows.push(row);
    else groups.push({ kind: row.kind, key: row.key, rows: [row] });
  }
  const nameOf = ({ kind, key }: Pick<SumsRow, 'kind' | 'key'>): string => `${kind} ${key}`;
  const spreads = new Map<string, ClusterRow>();
  if (clusterBy !== null && groups.length > 0) {
    const parameters = new Parameters([id, groups.map(nameOf)]);
    const sql = statements.spreads(itemValue(clusterBy, parameters.add), parameters.add);
    for (const row of await query<ClusterRow>(sql, parameters.values)) spreads.set(nameOf(row), row);
  }
  return groups.map(({ kind, key, rows }) => {
    const sums = addUp(rows, spreads.get(nameOf({ kind, key })));
    return { kind, key, scores: groupScores(sums, repetitions, confidence) };
  });
}

/** Aggregates of the results of a run. */
export interface RunSummary {
  /** Lists of runs show them too. */
  readonly scores: GroupScores;
  /** By name; those with most results. */
  readonly parts: Readonly<
    Record<'by_section' | 'by_type' | 'by_tag', Readonly<Record<string, GroupScores>>>
  >;
  /** By the names of scorers; empty where the run names none. */
  readonly scorers: Readonly<Record<string, GroupScores>>;
  /** By the nearest-rank method, in milliseconds; null without a result that has one. */
  readonly latency_ms: Readonly<Record<'p50' | 'p90' | 'p99', number | null>>;
  readonly finish_reasons: Readonly<Record<string, number>>;
}

/** What decides whether a stored summary is still true. */
export interface SummaryState extends SummedRun {
  readonly isFinished: boolean;
  readonly summary: string | null;
  readonly summaryOf: string | null;
  /** Since the stored summary was made. */
  readonly ageMs: number | null;
  readonly summaryMs: number | null;
}

/** A summary of a run that goes on may be so much older than the time that it took. */
const MAX_AGE_FACTOR = 20;

export const SUMMARY_STATE: string = `${SUMMED_RUN},
  finished_at IS NOT NULL AS "isFinished", summary, summary_of AS "summaryOf", summary_ms AS "summaryMs",
  extract(epoch FROM clock_timestamp() - summary_at)::float8 * 1000 AS "ageMs"`;
const STATE = `SELECT ${SUMMARY_STATE} FROM runs WHERE id = $1`;

/**
 * Aggregates of the results of a run; null for an unknown run. They are stored with it, and made again when there are other results: of a run that
 * goes on, seldom enough to take a twentieth of the time.
 *
 * @throws StoreError `unavailable` while a node does not show all results
 */
export async function summarizeRun(
  { pool }: StoreContext,
  id: string,
  signal?: AbortSignal,
  isEnding = false,
): Promise<RunSummary | null> {
  const state = await readFrom(
    pool,
    async (query): Promise<SummaryState | NewSummary | undefined> => {
      const [found] = await query<SummaryState>(STATE, [id]);
      if (found === undefined || isCurrent(found, isEnding)) return found;
      return await summarize(query, found);
    },
    signal,
    `${SNAPSHOT}; SET LOCAL statement_timeout = 0; ${LARGE_JOINS}`,
  );
  if (state === undefined || state.summary === null) return null;
  if ('takenMs' in state) await pool.query(STORE_SUMMARY, storedSummary(state));
  return JSON.parse(state.summary);
}

export async function storeSummary(client: pg.ClientBase, id: string): Promise<void> {
  const query = queryOf(client);
  const [found] = await query<SummaryState>(STATE, [id]);
  if (found === undefined) throw new Error('The run to summarize does not exist.');
  await client.query(STORE_SUMMARY, storedSummary(await summarize(query, found)));
}

interface NewSummary extends SummaryState {
  readonly summary: string;
  readonly takenMs: number;
}

async function summarize(query: ReadQuery, state: SummaryState): Promise<NewSummary> {
  const startMs = performance.now();
  const summary = JSON.stringify(await aggregate(query, state));
  return { ...state, summary, takenMs: performance.now() - startMs };
}

const STORE_SUMMARY = `UPDATE runs SET summary = $2, summary_of = $3, summary_at = clock_timestamp(), summary_ms = $4 WHERE id = $1`;

function storedSummary({ id, summary, version, takenMs }: NewSummary): unknown[] {
  return [id, summary, version, Math.ceil(takenMs)];
}

function isCurrent(
  { summary, summaryOf, version, isFinished, ageMs, summaryMs }: SummaryState,
  isEnding: boolean,
): boolean {
  if (summary === null) return false;
  if (summaryOf === version) return true;
  return !isFinished && !isEnding && (ageMs ?? 0) < (summaryMs ?? 0) * MAX_AGE_FACTOR;
}

/** The scores of a run and its parts by one scorer. @param number as `scorerNumber` gives it */
export async function readScores(
  query: ReadQuery,
  state: SummaryState,
  number: number | null,
  confidence?: number,
): Promise<readonly ScoredGroup[]> {
  const { isRepeated, clusterBy } = state;
  // Groups need the items only where these are clustered.
  const version =
    clusterBy === null
      ? { ...versionOf(state), parts: null }
      : await readJoinedVersion(query, versionOf(state));
  const summed = { results: number === null ? MAIN_SCORES : scoresBy(number), isRepeated, version };
  const statements = {
    sums: () => groupSums(summed),
    spreads: (value: string, add: Parameters['add']) => clusterSpreads(summed, value, add),
  };
  return await readGroups(query, state, statements, confidence);
}

async function aggregate(query: ReadQuery, state: SummaryState): Promise<RunSummary> {
  const { id, repetitions, scorerNames, counted } = state;
  const groups = await readScores(query, state, null);
  const scorers: Record<string, GroupScores> = {};
  for (const [index, name] of (JSON.parse(scorerNames ?? '[]') as string[]).entries()) {
    const found = await readScores(query, state, index + 1);
    const sums = found.find(({ kind }) => kind === 'run');
    if (sums !== undefined) scorers[name] = sums.scores;
  }
  const byName = (kind: SumsRow['kind'], nameOf: (key: string) => string): Record<string, GroupScores> =>
    Object.fromEntries(
      groups.filter((group) => group.kind === kind).map(({ key, scores }) => [nameOf(key), scores]),
    );
  const whole = byName('run', (name) => name)[''] ?? groupScores(addUp([], undefined), repetitions);
  checkCount(whole.results, counted);
  const [facts] = await query<{ latency: string; finishReasons: string }>(RUN_FACTS, [id]);
  return {
    scores: whole,
    parts: {
      by_section: byName('section', (name) => name),
      by_type: byName('type', labelOf),
      by_tag: byName('tag', labelOf),
    },
    scorers,
    latency_ms: JSON.parse(facts?.latency ?? '{}'),
    finish_reasons: JSON.parse(facts?.finishReasons ?? '{}'),
  };
}

/** A type or tag is stored as JSON text without its quotes. */
const labelOf = (key: string): string => JSON.parse(`"${key}"`);

/** Citus looks for transactions that a node has not ended once a minute. */
const RETRY_AFTER_MS = 10_000;

/**
 * Refuses to add up fewer results than their run counts. A node of a cluster that is lost between the two phases of a commit
 * shows what it holds only when Citus has recovered it, within a minute, and what is stored of sums would stay wrong.
 *
 * @throws StoreError `unavailable`
 */
export function checkCount(found: number, counted: number): void {
  if (found >= counted) return;
  throw new StoreError(
    'unavailable',
    `Cannot add up the results of the run: a node of the database shows ${found} of ${counted}.`,
    { retryAfterMs: RETRY_AFTER_MS },
  );
}

/** The scores of the results whose items have the same values. */
export interface RunSlice {
  /** JSON texts, in the order of `by`; `null` for an item without the value. */
  readonly values: readonly string[];
  readonly scores: GroupScores;
}

/** Values of a pointer that slices are made by. */
export const MAX_VALUES = 50;

export interface SliceRequest {
  /** `section`, `tag`, or one or two JSON Pointers into the items, of at most 50 values each. An item is in the slice of each of its tags, if it has any. */
  readonly by: readonly string[];
  /** Name of the scorer; the main one without it. */
  readonly scorer?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** SQL for what is not a value of the item. */
const PARTS: Readonly<Record<string, string>> = { section: 'to_json(s.name)::text', tag: TAG_VALUE };

/**
 * The scores of a run by values of its items.
 *
 * @throws StoreError `run_not_found`, `scorer_not_found`; `invalid_request` for more values
 */
export async function sliceRun(
  { pool, searches }: StoreContext,
  id: string,
  { by, scorer, signal }: SliceRequest,
): Promise<readonly RunSlice[]> {
  using _permit = await searches.acquire(signal);
  const groups = await readFrom(
    pool,
    async (query) => {
      const run = await readRunColumns<SummedRun>(query, id, SUMMED_RUN);
      const number = scorer === undefined ? null : scorerNumber(run.scorerNames, scorer);
      const results = number === null ? MAIN_SCORES : scoresBy(number);
      const version = await readJoinedVersion(query, versionOf(run));
      const summed = { results, isRepeated: run.isRepeated, version };
      const valuesOf = (add: Parameters['add']): readonly string[] =>
        by.map((name) => PARTS[name] ?? itemValue(name, add));
      return await readGroups(query, run, {
        sums: (add) => sliceSums(summed, valuesOf(add), MAX_VALUES ** by.length, add),
        spreads: (cluster, add) => sliceSpreads(summed, valuesOf(add), cluster, add),
      });
    },
    signal,
    `${SNAPSHOT}; ${LARGE_JOINS}`,
  );
  const slices = groups.map(({ key, scores }) => ({ values: key.split('\n'), scores }));
  for (const [index, name] of by.entries()) {
    const values = new Set(slices.map((slice) => slice.values[index]));
    if (values.has(LONG_VALUE)) throw notSliceable(name, 'values of more than 1,000 bytes');
    if (isTag(by)) continue;
    if (values.size > MAX_VALUES || slices.length > MAX_VALUES ** by.length) {
      throw notSliceable(name, `more than ${MAX_VALUES} values`);
    }
  }
  const most = isTag(by)
    ? slices.toSorted((one, other) => other.scores.results - one.scores.results).slice(0, MAX_VALUES)
    : slices;
  return most.toSorted((one, other) => compareLists(one.values, other.values));
}

/** A dataset may have any number of tags. */
const isTag = ([name, ...others]: readonly string[]): boolean => name === 'tag' && others.length === 0;

export function notSliceable(pointer: string, reason: string): StoreError {
  const message = `Cannot slice by ${pointer}: the items have ${reason}.`;
  return new StoreError('invalid_request', message, { path: 'by' });
}

function compareLists(one: readonly string[], other: readonly string[]): number {
  for (const [index, value] of one.entries()) {
    const order = compareValues(value, other[index] ?? '');
    if (order !== 0) return order;
  }
  return 0;
}

/** Numbers by their value, then other values by their text; null, for none, last. */
function compareValues(one: string, other: string): number {
  const rank = (value: string): number => (value === 'null' ? 2 : Number.isNaN(Number(value)) ? 1 : 0);
  if (rank(one) !== rank(other)) return rank(one) - rank(other);
  if (rank(one) === 0 && Number(one) !== Number(other)) return Number(one) - Number(other);
  return one < other ? -1 : one > other ? 1 : 0;
}
