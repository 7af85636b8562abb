import { type GroupScores, groupScores, type PassCount, type ResultSums } from '@svc/evaluation';
import type pg from 'pg';
import { type ReadQuery, readFrom } from '../../database/read-query.ts';
import { GROUP_SUMS, RUN_FACTS } from './summary-sql.ts';

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

const STATE = `SELECT repetitions, results_version || ':' || ok + failed + unscored AS version,
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
  pool: pg.Pool,
  id: string,
  signal?: AbortSignal,
): Promise<RunSummary | null> {
  const state = await readFrom(
    pool,
    async (query) => {
      const [found] = await query<SummaryState>(STATE, [id]);
      if (found === undefined || isCurrent(found)) return found;
      const startMs = performance.now();
      const summary = JSON.stringify(await aggregate(query, id, found.repetitions));
      return { ...found, summary, takenMs: performance.now() - startMs };
    },
    signal,
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0; SET LOCAL work_mem = '64MB'",
  );
  if (state === undefined || state.summary === null) return null;
  if ('takenMs' in state) {
    await pool.query(
      `UPDATE runs SET summary = $2, summary_of = $3, summary_at = clock_timestamp(), summary_ms = $4 WHERE id = $1`,
      [id, state.summary, state.version, Math.ceil(state.takenMs)],
    );
  }
  return JSON.parse(state.summary);
}

function isCurrent({ summary, summaryOf, version, isFinished, ageMs, summaryMs }: SummaryState): boolean {
  if (summary === null) return false;
  if (summaryOf === version) return true;
  return !isFinished && (ageMs ?? 0) < (summaryMs ?? 0) * MAX_AGE_FACTOR;
}

type SumsRow = Omit<ResultSums, 'passCounts'> & {
  readonly kind: 'run' | 'section' | 'type' | 'tag';
  readonly key: string;
  readonly passCounts: string;
};

async function aggregate(query: ReadQuery, id: string, repetitions: number): Promise<RunSummary> {
  const rows = await query<SumsRow>(GROUP_SUMS, [id]);
  const [facts] = await query<{ latency: string; finishReasons: string }>(RUN_FACTS, [id]);
  const scoresOf = ({ passCounts, ...sums }: SumsRow): GroupScores =>
    groupScores({ ...sums, passCounts: readPassCounts(passCounts) }, repetitions);
  const byName = (kind: SumsRow['kind'], nameOf: (key: string) => string): Record<string, GroupScores> =>
    Object.fromEntries(
      rows.filter((row) => row.kind === kind).map((row) => [nameOf(row.key), scoresOf(row)]),
    );
  const whole = rows.find((row) => row.kind === 'run');
  return {
    scores: {
      ...(whole === undefined ? groupScores(NO_RESULTS, repetitions) : scoresOf(whole)),
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

function readPassCounts(json: string): PassCount[] {
  return (JSON.parse(json) as [number, number, number][]).map(([tries, passed, items]) => {
    return { tries, passed, items };
  });
}

const NO_RESULTS: ResultSums = {
  ...{ results: 0, ok: 0, failed: 0, unscored: 0, scored: 0, scoreSum: 0, passed: 0 },
  ...{ scoredItems: 0, itemDeviation: null, passCounts: [] },
};
