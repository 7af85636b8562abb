import { toHex } from '@svc/jsonl-v23/bytes';
import { canonicalJson, getMember, isJsonObject } from '@svc/jsonl-v23/json';
import { createRunHasher, namesScorers, recordText } from '@svc/jsonl-v23/runs';
import type pg from 'pg';
import { createYielder } from '../../concurrency/index.ts';
import {
  type Bar,
  type BarVerdict,
  barVerdict,
  type ComparedScores,
  compareScores,
  type GroupScores,
  isOlderThanBar,
} from '../../evaluation/index.ts';
import type { StoreContext } from '../context.ts';
import { StoreError } from '../database/errors.ts';
import { readStoredJson } from '../database/read-stored-json.ts';
import { queryOf, type ReadQuery, readFrom, SNAPSHOT } from '../postgres/read-query.ts';
import { readResults } from './run-results.ts';
import { getRun, type Run, SUMMARY_VERSION } from './run-row.ts';
import { storedSums } from './scores/compare-runs.ts';
import { readScores, SUMMARY_STATE, type SummaryState, summarizeRun } from './scores/summarize-run.ts';
import { findScorer } from './write/insert-results.ts';

interface ProofState extends SummaryState {
  readonly versionHash: string;
  readonly config: string;
  readonly bar: string | null;
  readonly createdAt: Date;
  readonly imported: boolean;
  /** Of an imported run, as its package states it. */
  readonly verdict: string | null;
  readonly isProven: boolean;
}

const STATE = `SELECT ${SUMMARY_STATE}, dataset_version_hash AS "versionHash", config, bar, created_at AS "createdAt", imported, verdict,
  proof_of IS NOT DISTINCT FROM ${SUMMARY_VERSION} AS "isProven" FROM runs WHERE id = $1`;

const STORE = `UPDATE runs SET run_hash = $2, verdict = $3, proof_of = $4 WHERE id = $1 AND ${SUMMARY_VERSION} = $4`;

interface ProofOptions {
  readonly signal?: AbortSignal | undefined;
  /** Whether the run is about to end: lists show its numbers as soon as it has. */
  readonly isEnding?: boolean | undefined;
}

/** Adds up the results of a run that ends or has ended, and stores its hash and the verdict on its bar. */
export async function concludeRun(
  context: StoreContext,
  id: string,
  { signal, isEnding }: ProofOptions = {},
): Promise<void> {
  await summarizeRun(context, id, signal, isEnding);
  await proveRun(context, id, { signal, isEnding });
}

/** A run; one that has ended with its numbers, hash and verdict, which are stored unless they were. @throws StoreError `run_not_found` */
export async function getProvenRun(context: StoreContext, id: string, signal?: AbortSignal): Promise<Run> {
  const run = await getRun(context, id);
  const isProven = run.runHash !== null && run.summaryScores !== null;
  if (run.finishedAt === null || isProven) return run;
  await concludeRun(context, id, { signal });
  return await getRun(context, id);
}

/** Stores the hash of a run that has ended, and the verdict on its bar, unless both are of its current results. */
async function proveRun(
  { pool, maxItemBytes }: StoreContext,
  id: string,
  { signal, isEnding = false }: ProofOptions = {},
): Promise<void> {
  const found = await readFrom(
    pool,
    async (query) => {
      const [state] = await query<ProofState>(STATE, [id]);
      if (state === undefined || !(isEnding || (state.isFinished && !state.isProven))) return null;
      return {
        state,
        runHash: await hashRun(query, state, maxItemBytes),
        scores: await ownScores(query, state),
      };
    },
    signal,
    `${SNAPSHOT}; SET LOCAL statement_timeout = 0`,
  );
  if (found === null) return;
  const { state, runHash, scores } = found;
  const verdict = await verdictOn(pool, state, scores);
  await pool.query(STORE, [id, runHash, verdict, state.version]);
}

/** The same in the transaction that stores the results of an imported run. @returns its hash */
export async function proveImported(client: pg.ClientBase, id: string): Promise<string | null> {
  const query = queryOf(client);
  const [state] = await query<ProofState>(STATE, [id]);
  if (state === undefined) throw new Error('The run to prove does not exist.');
  const runHash = await hashRun(query, state, Number.MAX_SAFE_INTEGER);
  const verdict = importedVerdict(state, (await ownScores(query, state))?.scores ?? null);
  await client.query(STORE, [id, runHash, verdict, state.version]);
  return runHash;
}

/** The hash of a run; null if a result is larger than results may be, so that no export has it. */
async function hashRun(query: ReadQuery, { id, versionHash, config, bar }: ProofState, maxItemBytes: number) {
  const stated = readStoredJson(config);
  const hasher = createRunHasher({ versionHash, config: canonicalJson(stated), bar });
  const isNamed = namesScorers(stated);
  const nextTurn = createYielder();
  try {
    for await (const results of readResults(query, id, maxItemBytes)) {
      for (const result of results) {
        const itemHash = result.itemHash === null ? null : toHex(result.itemHash);
        hasher.add(recordText({ ...result, itemHash }, isNamed));
        await nextTurn();
      }
    }
  } catch (error) {
    if (error instanceof StoreError && error.code === 'item_too_large') return null;
    throw error;
  }
  return hasher.digest();
}

const barOf = ({ bar }: ProofState): Bar | null => (bar === null ? null : JSON.parse(bar));

/** What a bar without a baseline is compared with: scores at its confidence. */
async function ownScores(query: ReadQuery, state: ProofState) {
  const bar = barOf(state);
  if (bar === null) return null;
  const config = readStoredJson(state.config);
  const provider = isJsonObject(config) ? getMember(config, 'provider') : undefined;
  const isOlder = isJsonObject(provider) && isOlderThanBar(getMember(provider, 'type'));
  const [row] = await query<{ readonly before: number }>(
    'SELECT count(*)::int AS before FROM run_results WHERE run_id = $1 AND output IS NOT NULL AND ($2::bool OR reused)',
    [state.id, isOlder],
  );
  const number = bar.scorer === undefined ? null : findScorer(state.scorerNames, bar.scorer);
  const groups = number === undefined ? [] : await readScores(query, state, number, bar.confidence);
  const scores = groups.find(({ kind }) => kind === 'run')?.scores ?? null;
  return { scores, before: row?.before ?? 0 };
}

/** The verdict on a run as JSON text; null without a bar. */
async function verdictOn(
  pool: StoreContext['pool'],
  state: ProofState,
  own: Awaited<ReturnType<typeof ownScores>>,
): Promise<string | null> {
  const bar = barOf(state);
  if (bar === null || own === null || state.imported) return importedVerdict(state, own?.scores ?? null);
  const found = bar.baseline === undefined ? own.scores : await comparisonWith(pool, bar, state);
  const { createdAt } = state;
  const facts = { sealed_at: createdAt.toISOString(), outputs_before: own.before };
  return canonicalJson({ ...barVerdict(bar, found), ...facts } satisfies BarVerdict);
}

/** Null if the two runs cannot be compared, such as when the baseline was deleted. */
async function comparisonWith(
  pool: StoreContext['pool'],
  { baseline, scorer, metric, confidence }: Bar,
  { id, clusterBy }: ProofState,
): Promise<ComparedScores | null> {
  const by = { pairBy: 'hash', scorer, metric, clusterBy: clusterBy ?? 'none' } as const;
  try {
    const { sums } = await storedSums(pool, String(baseline), id, by);
    return compareScores(sums, confidence);
  } catch (error) {
    const code = error instanceof StoreError ? error.code : null;
    if (code === 'run_not_found' || code === 'scorer_not_found') return null;
    throw error;
  }
}

/** The baseline of an imported run need not be here: such a verdict stays what its package states. */
function importedVerdict(state: ProofState, scores: GroupScores | null): string | null {
  const bar = barOf(state);
  if (bar === null || state.verdict === null) return null;
  if (bar.baseline !== undefined) return state.verdict;
  return canonicalJson({ ...JSON.parse(state.verdict), ...barVerdict(bar, scores) });
}
