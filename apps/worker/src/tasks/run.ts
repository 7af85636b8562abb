import type { JsonValue } from '@svc/jsonl-v23/json';
import { runWithContext } from '@svc/observability';
import type { Logger, Metrics } from '@svc/service';
import {
  judgesOf,
  parseStoredRunConfig,
  type RunConfig,
  type RunEnd,
  RunError,
  type RunFailure,
  type RunResult,
  type RunSession,
  readPrices,
  runCancelled,
  runCost,
} from '@svc/service/evaluation';
import {
  defaultJudgePrompts,
  type RunDatasetDeps,
  type RunDatasetOptions,
  runDataset,
} from '@svc/service/flows';
import { type Run, readStoredJson, type Store, type StoreError, type TakenRun } from '@svc/service/store';
import { createProviders, type ProviderDeps } from '../providers/create-provider.ts';
import type { Task, TaskEnd, TaskHandler } from '../queue/perform-task.ts';
import { errorCode, isStoreError } from '../task-failure.ts';
import type { CancelWatch } from '../watch-cancel.ts';

export interface RunTaskDeps extends ProviderDeps, Pick<RunDatasetDeps, 'secrets'> {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly store: Pick<Store, 'runs' | 'datasets'>;
  readonly cancelWatch: CancelWatch;
}

const INTERNAL: RunFailure = { code: 'internal', message: 'Internal error in every attempt.' };

/** Each log line carries the run's id and the id of the request that created it. */
export function createRunTask(deps: RunTaskDeps): TaskHandler {
  const { store, logger, metrics } = deps;
  return {
    work: async (task) => {
      const taken = await store.runs.take(task.claim);
      if (taken === null) return { status: 'done' };
      return await runWithContext({ run_id: task.id }, () => workOnRun(taken, task, deps));
    },
    onRetriesExhausted: async (task, error) => {
      const { code, message }: Readonly<Record<'code' | 'message', string>> = isExplained(error)
        ? error
        : INTERNAL;
      const status = await store.runs.fail(task.id, { code, message });
      if (status === null) return { status: 'done' };
      metrics.recordRun(status);
      runWithContext({ run_id: task.id }, () => {
        logger.log('worker.run.finish', { status, code, duration_ms: 0 });
      });
      return status === 'cancelled' ? { status } : { status, code };
    },
  };
}

function isExplained(error: unknown): error is RunError | StoreError {
  return error instanceof RunError || isStoreError(error, 'worker_lost');
}

async function workOnRun({ run, session }: TakenRun, task: Task, deps: RunTaskDeps): Promise<TaskEnd> {
  const { store, logger, metrics } = deps;
  const startedAt = performance.now();
  const config = parseStoredRunConfig(readStoredJson(run.config));
  logger.log('worker.run.start', {
    dataset_id: run.datasetId,
    provider: config.provider.type,
    item_count: run.counts.total,
    items_done: run.counts.done,
    attempt: task.attempt,
  });
  using watched = deps.cancelWatch.watch(run.id);
  const signals = [task.signal, watched.signal];
  if (run.status === 'cancelling') signals.push(AbortSignal.abort(runCancelled()));

  const { ok, failed, unscored } = run.counts;
  const counts = { ok, failed, unscored };
  let reusedCount = 0;
  let end: RunEnd;
  try {
    end = await runDataset(
      {
        session: observed(session, ({ status, reused, cause }) => {
          counts[status] += 1;
          metrics.recordRunItem(status);
          if (reused) {
            reusedCount += 1;
            metrics.recordReusedOutput();
          }
          if (cause !== undefined) logger.log('error.internal', { error: cause });
        }),
        ...createProviders(config, deps),
        secrets: deps.secrets,
        checks: deps.checks,
        clock: { nowMs: () => performance.now() },
        turns: deps.turns,
      },
      {
        config,
        before: await spentBefore(run, config, store),
        defaultJudgePrompts: await judgePrompts(run, config, store),
        signal: AbortSignal.any(signals),
      },
    );
  } catch (error) {
    if (errorCode(error) === 'internal' && !task.signal.aborted) logger.log('error.internal', { error });
    // It was deleted with its dataset, or another worker ended it: nothing is left to do.
    if (!isStoreError(error, 'run_not_found', 'run_finished', 'dataset_not_found')) throw error;
    logger.log('worker.run.finish', {
      status: 'cancelled',
      code: errorCode(error),
      duration_ms: Math.round(performance.now() - startedAt),
    });
    return { status: 'cancelled' };
  }
  metrics.recordRun(end.status);
  logger.log('worker.run.finish', {
    status: end.status,
    item_count: counts.ok + counts.failed + counts.unscored,
    ...counts,
    reused: reusedCount,
    ...('error' in end ? { code: end.error.code } : {}),
    duration_ms: Math.round(performance.now() - startedAt),
  });
  if (end.status === 'failed') return { status: 'failed', code: end.error.code };
  return { status: end.status === 'cancelled' ? 'cancelled' : 'done' };
}

/** What a run has spent: at least what it costs, with what clients have sent. */
async function spentBefore(
  { id, spent, price, judgePrice, usage, judgeCost, addingScorers }: Run,
  { max_cost: maxCost }: RunConfig,
  { runs }: RunTaskDeps['store'],
): Promise<RunDatasetOptions['before']> {
  const cost = runCost(readPrices(price, judgePrice), { ...usage, judgeCost })?.amount ?? 0;
  // Further scorers have scored nothing yet.
  const isExpected = maxCost !== undefined && addingScorers === null;
  // What was replaced by a retry was paid for, and says nothing of what a result costs.
  const paid = isExpected ? await runs.readPaid(id) : { asked: 0, askedCost: 0 };
  return { spent: Math.max(spent, cost), ...paid };
}

function observed(session: RunSession, observe: (result: RunResult) => void): RunSession {
  return {
    ...session,
    saveResults: async (results) => {
      await session.saveResults(results);
      for (const result of results) observe(result);
    },
  };
}

async function judgePrompts(run: Run, config: RunConfig, store: Pick<Store, 'datasets'>): Promise<JsonValue> {
  if (judgesOf(config).length === 0) return null;
  return defaultJudgePrompts((await store.datasets.get(run.datasetId)).schema);
}
