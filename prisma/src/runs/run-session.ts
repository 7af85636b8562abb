import { type RunEnd, RunError, type RunResult, type RunSession, readPrices } from '@svc/evaluation';
import type { Scores } from '@svc/jsonl-v23/internal';
import { canonicalJson } from '@svc/jsonl-v23/json';
import type pg from 'pg';
import { auditEnd } from '../audit/actor.ts';
import type { StoreContext } from '../context.ts';
import { guarded, StoreError, toStoreError } from '../database/errors.ts';
import { inTransaction } from '../postgres/pool.ts';
import { createReads, queryOf } from '../postgres/read-query.ts';
import { addingScorersOf } from './adding-scorers.ts';
import { addScores, type ScoredResult } from './external/score-session.ts';
import { findAnswers } from './find-answers.ts';
import { concludeRun } from './prove-run.ts';
import { readRunColumns } from './read-run.ts';
import { readRunItems } from './read-run-items.ts';
import { readStoredOutputs } from './read-stored-outputs.ts';
import { RUN_COLUMNS, type Run, type RunRow, runFinished, toRun } from './run-row.ts';
import { insertResults } from './write/insert-results.ts';

/** Ends run $1 with the status $2 and the error $3; if $4, one that has got further scorers, with those it had before. */
const END = `UPDATE runs SET finished_at = clock_timestamp(),
    status = coalesce(CASE WHEN $4 THEN adding::json ->> 'status' END, $2),
    error = CASE WHEN $4 AND adding IS NOT NULL THEN adding::json ->> 'error' ELSE $3 END,
    adding = CASE WHEN $4 THEN NULL ELSE adding END
  WHERE id = $1`;

/** The scores of a result; none where the item cannot be read. */
const toScored = ({ scores, ...result }: RunResult): ScoredResult[] =>
  scores === null ? [] : [{ ...result, scores: scores as Scores }];

/**
 * What a worker reads and writes of a run that it has claimed. Writes throw StoreError `superseded` once another worker
 * has claimed the run, `run_finished`, `run_not_found`.
 */
export function createRunSession(
  context: Pick<StoreContext, 'pool' | 'assets' | 'maxItemBytes' | 'maxWholeBytes'>,
  run: Run,
  attempt: number,
): RunSession {
  const { pool } = context;
  const { reusedRunId } = run;
  const adding = addingScorersOf(run);
  const sourceRunId = adding === null ? run.sourceRunId : run.id;
  const prices = readPrices(run.price, run.judgePrice);
  /** Locks the run's row until the end of the transaction. */
  const lock = async (client: pg.ClientBase): Promise<void> => {
    const columns = `${RUN_COLUMNS}, attempt`;
    const row = await readRunColumns<RunRow & { readonly attempt: number }>(
      queryOf(client),
      run.id,
      columns,
      'FOR NO KEY UPDATE',
    );
    if (row.finishedAt !== null) throw runFinished(toRun(row));
    if (row.attempt !== attempt) throw new StoreError('superseded', 'Another worker has claimed the run.');
  };

  return {
    items: (signal) =>
      sourceRunId === null
        ? readRunItems(context, run, signal)
        : readStoredOutputs(context, run, sourceRunId, signal),
    ...(adding !== null && { scorers: adding.names }),
    ...(reusedRunId !== null && {
      findAnswers: (hashes: readonly Uint8Array[], signal: AbortSignal) =>
        findAnswers(context, reusedRunId, hashes, signal),
    }),
    async *readAsset({ sha256, byteLength }, signal) {
      try {
        yield* context.assets.read(createReads(pool, signal), sha256, { start: 0, end: byteLength }, signal);
      } catch (error) {
        const found = toStoreError(error);
        if (!(found instanceof StoreError) || found.code !== 'asset_missing') throw found;
        throw new RunError('asset_missing', found.message, { cause: found });
      }
    },
    ...guarded({
      async saveResults(results: readonly RunResult[]): Promise<void> {
        if (results.length === 0) return;
        await inTransaction(pool, async (client) => {
          await lock(client);
          if (adding === null) await insertResults(client, run.id, results, prices);
          else await addScores(client, run.id, results.flatMap(toScored), adding.main);
        });
      },
      async finish(end: RunEnd): Promise<void> {
        // So that the run has its scores when it has ended.
        await concludeRun(context, run.id, { isEnding: true });
        const error = 'error' in end ? canonicalJson({ ...end.error }) : null;
        await inTransaction(pool, async (client) => {
          await lock(client);
          await client.query(END, [run.id, end.status, error, end.status === 'completed']);
          await auditEnd(client, run.id);
        });
      },
    }),
  };
}
