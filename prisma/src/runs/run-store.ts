import type { RunItem, RunSession } from '@svc/evaluation';
import type { ItemParts } from '@svc/jsonl-v23/internal';
import { canonicalJson } from '@svc/jsonl-v23/json';
import { auditEnd, writeAudit } from '../audit/actor.ts';
import type { StoreContext } from '../context.ts';
import { guarded } from '../database/errors.ts';
import type { Page, PageRequest } from '../database/page.ts';
import { isUuid } from '../database/values.ts';
import type { Idempotent } from '../idempotency/idempotency-store.ts';
import { openReadSession } from '../items/read-session.ts';
import { inTransaction } from '../postgres/pool.ts';
import { queryOf } from '../postgres/read-query.ts';
import { cancelTask, failTask, type TaskClaim } from '../queue/task-queue.ts';
import {
  addScorersToRun,
  collectRuns,
  deleteRun,
  deleteTrial,
  deleteTrials,
  type RetryOnly,
  type RunChange,
  retryRun,
  type ScorerAddition,
  updateRun,
} from './change-run.ts';
import { createRun, type NewRun } from './create-run.ts';
import {
  type ClaimRequest,
  claimPending,
  deleteClaims,
  finishRun,
  type PendingResult,
  readExternal,
  readPending,
  readWaiting,
  withItems,
} from './external/pending.ts';
import { openPush, type PushSession } from './external/push-session.ts';
import { openScores, type ScoreSession } from './external/score-session.ts';
import { type AgreementRequest, compareLabels, type LabelAgreement } from './labels/compare-labels.ts';
import {
  type LabelConditions,
  type LabelOfResult,
  type LabelsPage,
  listLabels,
  readLabels,
  stateOfLabels,
} from './labels/list-labels.ts';
import type { StoredLabel } from './labels/result-labels.ts';
import { type NewLabel, setLabel } from './labels/set-label.ts';
import {
  type AskedModel,
  findLatestRun,
  listModels,
  listRuns,
  type RunsRequest,
  type UsedModel,
} from './list-runs.ts';
import { countReusable, type ReuseRequest } from './plan/count-reusable.ts';
import { readDeciding, type SelectionRequest } from './plan/read-deciding.ts';
import { type SampleRequest, sampleItems } from './plan/select-items.ts';
import { concludeRun } from './prove-run.ts';
import { type ItemOfResult, type ResultName, readItemOfResult } from './results/items-of-results.ts';
import { listResults, type ResultsPage, type ResultsRequest } from './results/list-results.ts';
import { groupErrors, type RunErrorGroup } from './results/run-errors.ts';
import { type LabelledResult, readResults } from './run-results.ts';
import {
  type PaidResults,
  RUN_COLUMNS,
  type Run,
  type RunRow,
  readPaid,
  readRun,
  runFinished,
  toRun,
} from './run-row.ts';
import { createRunSession } from './run-session.ts';
import {
  type ComparedSlice,
  type CompareRequest,
  type CompareSlicesRequest,
  compareRuns,
  compareSlices,
  type RunComparison,
} from './scores/compare-runs.ts';
import { type RunSlice, type SliceRequest, sliceRun } from './scores/slice-run.ts';
import { type RunSummary, summarizeRun } from './scores/summarize-run.ts';

/** A run that a worker has claimed. */
export interface TakenRun {
  /** As it was when it was opened; `status` is `cancelling` when a cancellation was requested before. */
  readonly run: Run;
  /** What the flow reads and writes. */
  readonly session: RunSession;
}

/** Results that clients are to send, each with its item. */
export interface PendingResults {
  readonly run: Run;
  /** Reads pages as they are taken; between them, it holds no connection. */
  readonly results: AsyncIterable<PendingResult>;
}

/** Runs and their results. Every method throws StoreError `unavailable` when the database cannot be reached. */
export interface RunStore {
  /**
   * Stores a run and puts its task on the queue, in one transaction.
   *
   * @throws StoreError `dataset_not_found`, `invalid_request`; `superseded` when the idempotency key was taken over
   */
  create(run: NewRun, idempotent?: Idempotent<Run>): Promise<Run>;
  /**
   * What decides how the items that a run would have are scored: of each, the parts without what does not matter for that,
   * such as texts of prompts. It reads pages as they are taken; between them, it holds no connection.
   */
  readDeciding(request: SelectionRequest): AsyncIterable<readonly ItemParts[]>;
  /** Requests of a run that an earlier one has an answer to. */
  countReusable(request: ReuseRequest): Promise<number>;
  /** Some of the items that a run would have, in order: as many as fit into a page. */
  sample(request: SampleRequest): Promise<RunItem[]>;
  /**
   * The newest run of a dataset that asked a model, has ended and has results; null without one. Runs of packages, and
   * those that score outputs again, asked nothing.
   */
  findLatest(asked: AskedModel): Promise<Run | null>;
  /** Changes name, labels and note. @throws StoreError `run_not_found`, `invalid_request` */
  update(id: string, change: RunChange): Promise<Run>;
  /**
   * The scores of a run by values of its items.
   *
   * @param by one or two JSON Pointers into the item, of at most 50 values each
   * @throws StoreError `run_not_found`; `invalid_request` for more values
   */
  slice(id: string, request: SliceRequest): Promise<readonly RunSlice[]>;
  /**
   * The item of a result, as a worker reads it.
   *
   * @returns null if the run has no such result
   * @throws StoreError `run_not_found`, `item_too_large`
   */
  itemOfResult(id: string, result: ResultName, signal?: AbortSignal): Promise<ItemOfResult | null>;
  /** The models that runs have named, by the variable of the key and the origin. */
  listModels(): Promise<readonly UsedModel[]>;
  /** The errors of a run in groups: the 100 with most results. @throws StoreError `run_not_found` */
  errors(id: string, signal?: AbortSignal): Promise<readonly RunErrorGroup[]>;
  /** Aggregates of the results of a run; null for an unknown run. Those of a run in progress may be older. */
  summarize(id: string, signal?: AbortSignal): Promise<RunSummary | null>;
  /**
   * Compares two runs by the items that have a score in both, and lists those in which they differ, in item order.
   *
   * @throws StoreError `run_not_found`, `invalid_cursor`; `invalid_request` if the runs are clustered by different values
   *   and the request names none
   */
  compare(id: string, otherId: string, request: CompareRequest): Promise<RunComparison>;
  /**
   * How two runs differ in the slices of their pairs, those with most pairs first: of tags the first 50.
   *
   * @throws StoreError `run_not_found`; `invalid_request` for more than 50 values of a pointer, or if the runs are clustered
   *   by different values and the request names none
   */
  compareSlices(
    id: string,
    otherId: string,
    request: CompareSlicesRequest,
  ): Promise<readonly ComparedSlice[]>;
  /** Deletes a run with its results. @throws StoreError `run_not_found`; `run_active` while it or a run that scores its outputs works */
  delete(id: string): Promise<void>;
  /**
   * Continues a run that has ended: with the results of one kind, which are replaced as the new ones are written, and
   * with those that are missing.
   *
   * @param config JSON text that replaces its configuration; null to keep it
   * @throws StoreError `run_not_found`; `run_active` while it works; `run_imported`; `nothing_to_retry`
   */
  retry(id: string, only: RetryOnly, config?: string | null): Promise<Run>;
  /**
   * Lets a run that has ended score its outputs by further scorers, after which it has its status again. The same addition
   * continues one that did not complete.
   *
   * @throws StoreError `run_not_found`; `run_active` while it works; `run_imported`; `scorer_exists`; `too_many_scorers`;
   * RunError `nothing_to_score`
   */
  addScorers(id: string, addition: ScorerAddition, idempotent?: Idempotent<Run>): Promise<Run>;
  /**
   * The results that a run lacks and clients are to send, each with its item, in item order.
   *
   * @throws StoreError `run_not_found`, `run_not_external`, `run_finished`
   */
  readPending(
    id: string,
    request: { readonly limit: number; readonly signal: AbortSignal },
  ): Promise<PendingResults>;
  /**
   * The same of results that no other client has claimed, which are claimed now.
   *
   * @throws StoreError as `readPending`
   */
  claimPending(id: string, request: ClaimRequest & { readonly signal: AbortSignal }): Promise<PendingResults>;
  /**
   * Opens a run to store results that a client sends.
   *
   * @throws StoreError `run_not_found`, `run_not_external`, `run_finished`
   */
  push(id: string, signal: AbortSignal): Promise<PushSession>;
  /**
   * Opens a run that has ended to add scores that a client sends.
   *
   * @throws StoreError `run_not_found`, `run_active`
   */
  pushScores(id: string, signal: AbortSignal): Promise<ScoreSession>;
  /**
   * Ends a run whose results clients have sent, or hands it to a worker if judges are to score its outputs. A run that is
   * `completed` stays as it is.
   *
   * @param options names of the scorers that are judges
   *
   * @throws StoreError `run_not_found`, `run_not_external`, `run_incomplete`; `run_finished` when it has ended otherwise
   */
  finish(
    id: string,
    options: { readonly allowMissing: boolean; readonly judges: readonly string[] },
  ): Promise<Run>;
  /** Deletes a run that was created with `isTrial`, whatever it does. */
  deleteTrial(id: string): Promise<void>;
  /** Deletes the trials that their processes did not delete. */
  deleteTrials(): Promise<void>;
  /** Removes what deleted runs have left: results, selected items and differences. Nothing shows them until then. */
  collect(signal?: AbortSignal): Promise<number>;
  /** @throws StoreError `run_not_found` */
  get(id: string): Promise<Run>;
  /** The same, of a run that has ended with its numbers, hash and verdict, which are stored unless they were. @throws as `get` */
  prove(id: string, signal?: AbortSignal): Promise<Run>;
  /** The runs among these that exist, in any order: one query. */
  getMany(ids: readonly string[]): Promise<Run[]>;
  /** Runs, newest first. @throws StoreError `invalid_cursor` */
  list(request: RunsRequest): Promise<Page<Run>>;
  /**
   * Results in item order. A page ends early when its results are large; one that is larger than an item may be comes
   * without its texts.
   *
   * @throws StoreError `run_not_found`, `invalid_cursor`
   */
  listResults(id: string, request: ResultsRequest): Promise<ResultsPage>;
  /**
   * Stores what a person says of an output of an item, in whatever runs the item has it: in place of what the person said
   * before. A label without verdict, note and types is deleted.
   *
   * @throws StoreError `run_not_found`, `result_not_found`; `nothing_to_label` without an output
   */
  setLabel(id: string, result: ResultName, label: NewLabel): Promise<StoredLabel | null>;
  /** The labels of a run's results, in item order and by person. @throws StoreError `run_not_found`, `invalid_cursor` */
  listLabels(id: string, request: PageRequest & LabelConditions): Promise<LabelsPage>;
  /**
   * How a scorer of a run, or a person, agrees with people.
   *
   * @throws StoreError `run_not_found`, `scorer_not_found`, `invalid_cursor`, `invalid_request`
   */
  compareLabels(id: string, request: AgreementRequest): Promise<LabelAgreement>;
  /**
   * Opens a run to read all of its results from one snapshot. The caller must dispose of it; `signal` ends it and
   * cancels its statement.
   *
   * @throws StoreError `run_not_found`
   */
  open(id: string, options?: { readonly signal?: AbortSignal }): Promise<OpenRun>;
  /**
   * Opens a run that a worker has claimed. Null when there is nothing left to do: the run has ended, another worker has
   * claimed it, or its dataset was deleted.
   */
  take(claim: TaskClaim): Promise<TakenRun | null>;
  /** Counts the results of a run whose requests have cost something, and adds up what they have cost. */
  readPaid(id: string): Promise<PaidResults>;
  /**
   * Requests the end of a run. One that no worker has claimed ends immediately; a running one becomes `cancelling`, and its
   * worker is notified. A second request changes nothing.
   *
   * @throws StoreError `run_not_found`; `run_finished` when it has ended otherwise
   */
  requestCancel(id: string): Promise<Run>;
  /**
   * Ends a run that cannot be done, such as after its last attempt: as cancelled where that was requested, else as failed.
   * Null when it has ended before.
   */
  fail(
    id: string,
    error: { readonly code: string; readonly message: string },
  ): Promise<'failed' | 'cancelled' | null>;
}

export function createRunStore(context: StoreContext): RunStore {
  const { pool } = context;
  const methods = guarded({
    create: (run, idempotent) => createRun(pool, run, idempotent),

    countReusable: (request) => countReusable(context, request),

    sample: (request) => sampleItems(context, request),

    findLatest: (asked) => findLatestRun(pool, asked),

    update: (id, change) => updateRun(pool, id, change),

    delete: (id) => deleteRun(pool, id),

    deleteTrial: (id) => deleteTrial(pool, id),

    deleteTrials: () => deleteTrials(pool),

    collect: (signal) => collectRuns(pool, signal),

    retry: (id, only, config = null) => retryRun(pool, id, only, config),

    addScorers: (id, addition, idempotent) => addScorersToRun(pool, id, addition, idempotent),

    async readPending(id, { limit, signal }) {
      const run = await readWaiting(pool, id);
      return { run, results: readPending(context, run, limit, signal) };
    },

    async claimPending(id, { signal, ...request }) {
      const claimed = await claimPending(pool, id, request);
      const run = await readExternal(pool, id);
      return { run, results: withItems(context, run, claimed, signal) };
    },

    push: (id, signal) => openPush(context, id, signal),

    pushScores: (id, signal) => openScores(context, id, signal),

    finish: (id, options) => finishRun(context, id, options),

    get: (id) => readRun(queryOf(pool), id),

    async prove(id, signal) {
      const run = await readRun(queryOf(pool), id);
      const isProven = run.runHash !== null && run.summaryScores !== null;
      if (run.finishedAt === null || isProven) return run;
      await concludeRun(context, id, { signal });
      return await readRun(queryOf(pool), id);
    },

    async getMany(ids) {
      const { rows } = await pool.query<RunRow>(
        `SELECT ${RUN_COLUMNS} FROM runs WHERE id = ANY($1::uuid[])`,
        [ids.filter(isUuid)],
      );
      return rows.map(toRun);
    },

    list: (request) => listRuns(pool, request),

    listResults: (id, request) => listResults(context, id, request),

    setLabel: (id, result, label) => setLabel(pool, id, result, label),

    listLabels: (id, request) => listLabels(context, id, request),

    compareLabels: (id, request) => compareLabels(context, id, request),

    summarize: (id, signal) => summarizeRun(pool, id, { signal }),

    slice: (id, request) => sliceRun(context, id, request),

    itemOfResult: (id, result, signal) => readItemOfResult(context, id, result, signal),

    listModels: () => listModels(pool),

    errors: (id, signal) => groupErrors(context, id, signal),

    compare: (id, otherId, request) => compareRuns(context, id, otherId, request),

    compareSlices: (id, otherId, request) => compareSlices(context, id, otherId, request),

    open: (id, options) => openRun(context, id, options),

    async take({ id, attempt }) {
      const { rows } = await pool.query<RunRow>(
        `SELECT ${RUN_COLUMNS} FROM runs WHERE id = $1 AND attempt = $2 AND finished_at IS NULL`,
        [id, attempt],
      );
      const row = rows[0];
      if (row === undefined) return null;
      const run = toRun(row);
      return { run, session: createRunSession(context, run, attempt) };
    },

    readPaid: (id) => readPaid(pool, id),

    async requestCancel(id) {
      const cancelled = await inTransaction(pool, async (client) => {
        const changed = await cancelTask<RunRow>(client, 'runs', RUN_COLUMNS, id);
        const run = changed === undefined ? await readRun(queryOf(client), id) : toRun(changed.row);
        if (changed?.isFirst === true) await writeAudit(client, 'run.cancel', { kind: 'run', id });
        if (changed === undefined && run.status !== 'cancelled') throw runFinished(run);
        if (run.isExternal) await deleteClaims(client, id);
        return run;
      });
      if (cancelled.finishedAt === null) return cancelled;
      await concludeRun(context, id);
      return await readRun(queryOf(pool), id);
    },

    async fail(id, { code, message }) {
      const status = await inTransaction(pool, async (client) => {
        const failed = await failTask(client, 'runs', id, canonicalJson({ code, message }));
        if (failed !== null) await auditEnd(client, id);
        return failed;
      });
      if (status !== null) await concludeRun(context, id);
      return status;
    },
  } satisfies Omit<RunStore, 'readDeciding'>);
  return { ...methods, readDeciding: (request) => readDeciding(context, request) };
}

/** A run at one moment, for as long as it is open: it holds a connection and a snapshot. */
export interface OpenRun extends AsyncDisposable {
  readonly run: Run;
  /** Names the state of the labels of its results. */
  readonly labelsState: string;
  /** Its results in item order, in batches. */
  results(): AsyncIterable<readonly LabelledResult[]>;
  /** Their labels, in item order and by person, in batches. */
  labels(conditions: LabelConditions): AsyncIterable<readonly LabelOfResult[]>;
}

/** See `RunStore.open`. */
async function openRun(
  context: Pick<StoreContext, 'pool' | 'exports' | 'maxItemBytes'>,
  id: string,
  options: { readonly signal?: AbortSignal } = {},
): Promise<OpenRun> {
  const { session, query } = await openReadSession(context, options.signal);
  try {
    return {
      run: await readRun(query, id),
      labelsState: await stateOfLabels(query, id),
      results: () => readResults(query, id, context.maxItemBytes),
      labels: (conditions) => readLabels(query, id, conditions),
      [Symbol.asyncDispose]: () => session.close(),
    };
  } catch (error) {
    await session.close();
    throw error;
  }
}
