import { type GroupScores, groupScores, type ResultSums } from '@svc/evaluation';
import { type Pool, queryOf, type ReadQuery, readFrom } from '@svc/postgres';
import type pg from 'pg';
import { SUMMARY_VERSION } from '../run-row.ts';
import { groupSums, RUN_FACTS, type SumsRow } from './summary-sql.ts';

/** The scores of a run and of its parts, as the API shows them. */
export interface RunScores extends GroupScores {
  /** By name; those with most results. */
  readonly by_section: Readonly<Record<string, GroupScores>>;
  readonly by_type: Readonly<Record<string, GroupScores>>;
  readonly by_tag: Readonly<Record<string, GroupScores>>;
}

/** Aggregates of the results of a run. */
export interface RunSummary {
  readonly scores: RunScores;
  /** By the nearest-rank method, in milliseconds; null without a result that has one. */
  readonly latency_ms: {
    readonly p50: number | null;
    readonly p90: number | null;
    readonly p99: number | null;
  };
  /** Results by reason to end. */
  readonly finish_reasons: Readonly<Record<string, number>>;
}

/** What decides whether a stored summary is still true. */
interface SummaryState {
  readonly repetitions: number;
  /** Whether an item may have several results: those of a package may have more than the run states. */
  readonly isRepeated: boolean;
  readonly version: string;
  readonly isFinished: boolean;
  readonly summary: string | null;
  readonly summaryOf: string | null;
  /** Since the stored summary was made. */
  readonly ageMs: number | null;
  readonly summaryMs: number | null;
}

/** A summary of a run that goes on may be so much older than the time that it took. */
const MAX_AGE_FACTOR = 20;

const STATE = `SELECT repetitions, repetitions > 1 OR imported AS "isRepeated", ${SUMMARY_VERSION} AS version,
    finished_at IS NOT NULL AS "isFinished", summary, summary_of AS "summaryOf", summary_ms AS "summaryMs",
    extract(epoch FROM clock_timestamp() - summary_at)::float8 * 1000 AS "ageMs"
  FROM runs WHERE id = $1`;

/**
 * Aggregates of the results of a run. They are stored with it, and made again when there are other results: of a run that
 * goes on, seldom enough to take a twentieth of the time.
 *
 * @returns null for an unknown run
 */
export async function summarizeRun(
  pool: Pool,
  id: string,
  {
    signal,
    isEnding = false,
  }: { readonly signal?: AbortSignal | undefined; readonly isEnding?: boolean } = {},
): Promise<RunSummary | null> {
  const state = await readFrom(
    pool,
    async (query): Promise<SummaryState | NewSummary | undefined> => {
      const [found] = await query<SummaryState>(STATE, [id]);
      if (found === undefined || isCurrent(found, isEnding)) return found;
      return await summarize(query, id, found);
    },
    signal,
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0; SET LOCAL work_mem = '64MB'; SET LOCAL jit = off",
  );
  if (state === undefined || state.summary === null) return null;
  if ('takenMs' in state) await pool.query(STORE_SUMMARY, storedSummary(id, state));
  return JSON.parse(state.summary);
}

/** Stores the aggregates of a run in the transaction that stores its results. */
export async function storeSummary(client: pg.ClientBase, id: string): Promise<void> {
  const query = queryOf(client);
  const [found] = await query<SummaryState>(STATE, [id]);
  if (found === undefined) throw new Error('The run to summarize does not exist.');
  await client.query(STORE_SUMMARY, storedSummary(id, await summarize(query, id, found)));
}

interface NewSummary extends SummaryState {
  readonly summary: string;
  readonly takenMs: number;
}

async function summarize(query: ReadQuery, id: string, state: SummaryState): Promise<NewSummary> {
  const startMs = performance.now();
  const summary = JSON.stringify(await aggregate(query, id, state));
  return { ...state, summary, takenMs: performance.now() - startMs };
}

const STORE_SUMMARY = `UPDATE runs SET summary = $2, summary_of = $3, summary_at = clock_timestamp(), summary_ms = $4 WHERE id = $1`;

function storedSummary(id: string, { summary, version, takenMs }: NewSummary): unknown[] {
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

async function aggregate(
  query: ReadQuery,
  id: string,
  { repetitions, isRepeated }: SummaryState,
): Promise<RunSummary> {
  const groups = new Map<SumsRow['kind'], Map<string, SumsRow[]>>();
  for (const row of await query<SumsRow>(groupSums(isRepeated), [id])) {
    const ofKind = groups.get(row.kind) ?? new Map<string, SumsRow[]>();
    groups.set(row.kind, ofKind);
    ofKind.set(row.key, [...(ofKind.get(row.key) ?? []), row]);
  }
  const [facts] = await query<{ latency: string; finishReasons: string }>(RUN_FACTS, [id]);
  const scoresOf = (rows: readonly SumsRow[]): GroupScores => groupScores(addUp(rows), repetitions);
  const byName = (kind: SumsRow['kind'], nameOf: (key: string) => string): Record<string, GroupScores> =>
    Object.fromEntries([...(groups.get(kind) ?? [])].map(([key, rows]) => [nameOf(key), scoresOf(rows)]));
  return {
    scores: {
      ...scoresOf(groups.get('run')?.get('') ?? []),
      by_section: byName('section', (name) => name),
      by_type: byName('type', labelOf),
      by_tag: byName('tag', labelOf),
    },
    latency_ms: JSON.parse(facts?.latency ?? '{}'),
    finish_reasons: JSON.parse(facts?.finishReasons ?? '{}'),
  };
}

/** A type or tag is stored as JSON text without its quotes. */
const labelOf = (key: string): string => JSON.parse(`"${key}"`);

const COUNTS = [
  'results',
  'ok',
  'failed',
  'unscored',
  'scored',
  'scoreSum',
  'passed',
  'scoredItems',
] as const;

/**
 * The sums of a group from those of its parts. Variances combine by the formula of Chan, Golub and LeVeque (1979).
 */
function addUp(rows: readonly SumsRow[]): ResultSums {
  const sums = Object.fromEntries(
    COUNTS.map((name) => [name, rows.reduce((sum, row) => sum + row[name], 0)]),
  ) as Readonly<Record<(typeof COUNTS)[number], number>>;
  let items = 0;
  let mean = 0;
  let squares = 0;
  for (const { scoredItems, itemMean, itemVariance } of rows) {
    if (scoredItems === 0) continue;
    const difference = (itemMean ?? 0) - mean;
    const total = items + scoredItems;
    squares += scoredItems * (itemVariance ?? 0) + (difference * difference * items * scoredItems) / total;
    mean += (difference * scoredItems) / total;
    items = total;
  }
  return {
    ...sums,
    itemDeviation: items < 2 ? null : Math.sqrt(squares / (items - 1)),
    passCounts: rows.map(({ tries, passes, items: count }) => ({ tries, passed: passes, items: count })),
  };
}
