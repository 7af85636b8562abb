import { checked, unchecked } from '../audit/actor.ts';
import type { StoreContext } from '../context.ts';
import { openReadSession } from '../items/read-session.ts';
import {
  addScorersToRun,
  cancelRun,
  collectRuns,
  deleteRun,
  deleteTrial,
  deleteTrials,
  failRun,
  retryRun,
  updateRun,
} from './change-run.ts';
import { createRun } from './create-run.ts';
import { claimPending, finishRun, readPending } from './external/pending.ts';
import { openPush, openScores } from './external/sessions.ts';
import {
  compareLabels,
  type LabelConditions,
  listLabels,
  readLabels,
  setLabel,
  stateOfLabels,
} from './labels/run-labels.ts';
import { findLatestRun, getRuns, listModels, listRuns } from './list-runs.ts';
import { countReusable, readDeciding, sampleItems } from './plan/plan-items.ts';
import { getProvenRun } from './prove-run.ts';
import { readItemOfResult } from './results/items-of-results.ts';
import { listResults } from './results/list-results.ts';
import { groupErrors } from './results/run-errors.ts';
import { readResults } from './run-results.ts';
import { getRun, readPaid, readRun } from './run-row.ts';
import { takeRun } from './run-session.ts';
import { compareRuns, compareSlices } from './scores/compare-runs.ts';
import { sliceRun, summarizeRun } from './scores/summarize-run.ts';

/** Runs and their results. Every method throws StoreError `unavailable` when the database cannot be reached. */
export function createRunStore(context: StoreContext) {
  return {
    ...checked(context, ([id]) => ({ runs: [id] }), {
      addScorers: addScorersToRun,
      claimPending,
      compareLabels,
      delete: deleteRun,
      errors: groupErrors,
      finish: finishRun,
      get: getRun,
      itemOfResult: readItemOfResult,
      listLabels,
      listResults,
      open: openRun,
      prove: getProvenRun,
      push: openPush,
      pushScores: openScores,
      readPending,
      requestCancel: cancelRun,
      retry: retryRun,
      setLabel,
      slice: sliceRun,
      summarize: summarizeRun,
      update: updateRun,
    }),
    ...checked(context, ([id, otherId]) => ({ runs: [id, otherId] }), {
      compare: compareRuns,
      compareSlices,
    }),
    ...checked(
      context,
      ([{ datasetId, sourceRunId, reusedRunId }]) => ({
        datasets: [datasetId],
        runs: [sourceRunId, reusedRunId],
      }),
      { create: createRun },
    ),
    ...checked(context, ([{ datasetId, runId }]) => ({ datasets: [datasetId], runs: [runId] }), {
      countReusable,
    }),
    ...checked(context, ([{ datasetId }]) => ({ datasets: [datasetId] }), {
      findLatest: findLatestRun,
      sample: sampleItems,
    }),
    // They restrict what they read.
    ...unchecked(context, { list: listRuns, listModels }),
    // A plan, whose dataset was resolved; and runs that are watched already, for all who watch them.
    ...unchecked(context, { readDeciding, getMany: getRuns }),
    // For workers and the service itself.
    ...unchecked(context, { take: takeRun, fail: failRun, readPaid }),
    ...unchecked(context, { collect: collectRuns, deleteTrial, deleteTrials }),
  };
}

/** A run at one moment, for as long as it is open: it holds a connection and a snapshot. */
export type OpenRun = Awaited<ReturnType<typeof openRun>>;

/** Opens a run to read its results from one snapshot; `signal` ends it. @throws StoreError `run_not_found` */
async function openRun(context: StoreContext, id: string, options: { readonly signal?: AbortSignal } = {}) {
  const { session, query } = await openReadSession(context, options.signal);
  try {
    return {
      run: await readRun(query, id),
      /** Names the state of the labels of its results. */
      labelsState: await stateOfLabels(query, id),
      /** Its results in item order, in batches. */
      results: () => readResults(query, id, context.maxItemBytes),
      labels: (conditions: LabelConditions) => readLabels(query, id, conditions),
      [Symbol.asyncDispose]: () => session.close(),
    };
  } catch (error) {
    await session.close();
    throw error;
  }
}
