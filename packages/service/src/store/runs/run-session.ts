import { canonicalJson, type JsonObject } from '@svc/jsonl-v23/json';
import type { Scores } from '@svc/jsonl-v23/runs';
import type pg from 'pg';
import {
  type EarlierAnswer,
  type RunEnd,
  RunError,
  type RunResult,
  type RunSession,
  readPrices,
} from '../../evaluation/index.ts';
import { auditEnd } from '../audit/actor.ts';
import type { StoreContext } from '../context.ts';
import { guarded, StoreError, toStoreError } from '../database/errors.ts';
import { readStoredJson } from '../database/read-stored-json.ts';
import { boundedText } from '../database/values.ts';
import { inTransaction } from '../postgres/pool.ts';
import { createReadQuery, createReads, queryOf, type ReadQuery } from '../postgres/read-query.ts';
import type { TaskClaim } from '../queue/task-queue.ts';
import { addingScorersOf } from './adding-scorers.ts';
import { addScores, type ScoredResult } from './external/sessions.ts';
import { concludeRun } from './prove-run.ts';
import {
  MAX_INLINE_CHARS,
  readOutput,
  readReasoning,
  readRunItems,
  readStoredOutputs,
} from './read-run-items.ts';
import { RUN_COLUMNS, type Run, readRunColumns, runFinished } from './run-row.ts';
import { type ImportedResult, insertResults, writeResult } from './write/insert-results.ts';

/** Ends run $1 with the status $2 and the error $3; if $4, one that has got further scorers, with those it had before. */
const END = `UPDATE runs SET finished_at = clock_timestamp(),
    status = coalesce(CASE WHEN $4 THEN adding::json ->> 'status' END, $2),
    error = CASE WHEN $4 AND adding IS NOT NULL THEN adding::json ->> 'error' ELSE $3 END,
    adding = CASE WHEN $4 THEN NULL ELSE adding END
  WHERE id = $1`;

const toWritten = (result: RunResult): ImportedResult => {
  return { ...writeResult(result, canonicalJson), sectionOrderIndex: result.sectionOrderIndex };
};

/** The scores of a result; none where the item cannot be read. */
const toScored = ({ scores, ...result }: RunResult): ScoredResult[] =>
  scores === null ? [] : [{ ...result, scores: scores as Scores }];

/** A run that a worker has claimed, and what its flow reads and writes. */
export type TakenRun = NonNullable<Awaited<ReturnType<typeof takeRun>>>;

/** Opens a claimed run; `cancelling` if that was requested. Null when it has ended, is gone, or is another worker's. */
export async function takeRun(context: StoreContext, { id, attempt }: TaskClaim) {
  const { rows } = await context.pool.query<Run>(
    `SELECT ${RUN_COLUMNS} FROM runs WHERE id = $1 AND attempt = $2 AND finished_at IS NULL`,
    [id, attempt],
  );
  const [run] = rows;
  return run === undefined ? null : { run, session: createRunSession(context, run, attempt) };
}

/** What a worker does with its run. Writes throw StoreError `superseded`, `run_finished`, `run_not_found`. */
function createRunSession(context: StoreContext, run: Run, attempt: number): RunSession {
  const { pool } = context;
  const { reusedRunId } = run;
  const adding = addingScorersOf(run);
  const sourceRunId = adding === null ? run.sourceRunId : run.id;
  const prices = readPrices(run.price, run.judgePrice);
  /** Locks the run's row until the end of the transaction. */
  const lock = async (client: pg.ClientBase): Promise<void> => {
    const row = await readRunColumns<Pick<Run, 'status' | 'finishedAt'> & { readonly attempt: number }>(
      queryOf(client),
      run.id,
      'status, finished_at AS "finishedAt", attempt',
      'FOR NO KEY UPDATE',
    );
    if (row.finishedAt !== null) throw runFinished(row);
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
          if (adding === null) await insertResults(client, run.id, results.map(toWritten), prices);
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

/** A reused answer has the usage of the first one. A longer one than models give is left out. */
const USAGE = boundedText('coalesce(usage, usage_reused)', MAX_INLINE_CHARS);

/** For each of the hashes `$2`, any result of run `$1` that asked the same; outputs of more than `$3` bytes are not found. */
const ANSWERS = `
  SELECT place::int, section_order_index AS "sectionOrderIndex", order_index AS "orderIndex", repetition,
    finish_reason AS "finishReason", latency_ms AS "latencyMs", redacted, ${USAGE} AS usage,
    CASE WHEN bytes <= ${MAX_INLINE_CHARS} THEN output END AS output,
    CASE WHEN bytes <= ${MAX_INLINE_CHARS} THEN reasoning END AS reasoning
  FROM unnest($2::bytea[]) WITH ORDINALITY AS wanted (hash, place)
    CROSS JOIN LATERAL (
      SELECT * FROM run_results WHERE run_id = $1 AND request_hash = wanted.hash LIMIT 1
    ) AS result
    CROSS JOIN LATERAL (SELECT octet_length(output) + coalesce(octet_length(reasoning), 0) AS bytes) AS size
  WHERE bytes <= $3`;

const OUTPUT = `SELECT output, reasoning FROM run_results
  WHERE run_id = $1 AND section_order_index = $2 AND order_index = $3 AND repetition = $4`;

interface AnswerRow extends Pick<EarlierAnswer, 'finishReason' | 'latencyMs' | 'redacted'> {
  /** From 1. */
  readonly place: number;
  readonly sectionOrderIndex: number;
  readonly orderIndex: number;
  readonly repetition: number;
  readonly usage: string | null;
  /** Null if it is long, or its reasoning is. */
  readonly output: string | null;
  readonly reasoning: string | null;
}

type Texts = Pick<AnswerRow, 'output' | 'reasoning'>;

/** See `RunSession.findAnswers`: the answers of run `runId`. Long outputs are read one by one. */
async function findAnswers(
  { pool, maxItemBytes }: StoreContext,
  runId: string,
  hashes: readonly Uint8Array[],
  signal: AbortSignal,
): Promise<readonly (EarlierAnswer | null)[]> {
  const query = createReadQuery(pool, signal);
  const answers: (EarlierAnswer | null)[] = hashes.map(() => null);
  const wanted = hashes.map((hash) => Buffer.from(hash));
  for (const row of await query<AnswerRow>(ANSWERS, [runId, wanted, maxItemBytes])) {
    const texts = row.output === null ? await readLong(query, runId, row) : row;
    if (texts === undefined || texts.output === null) continue;
    answers[row.place - 1] = {
      output: readOutput(texts.output),
      reasoning: readReasoning(texts.reasoning),
      usage: row.usage === null ? null : (readStoredJson(row.usage) as JsonObject),
      finishReason: row.finishReason,
      latencyMs: row.latencyMs,
      redacted: row.redacted,
    };
  }
  return answers;
}

/** Undefined if the result has gone since. */
async function readLong(query: ReadQuery, runId: string, at: AnswerRow): Promise<Texts | undefined> {
  const key = [at.sectionOrderIndex, at.orderIndex, at.repetition];
  const [row] = await query<Texts>(OUTPUT, [runId, ...key]);
  return row;
}
