import { HubError } from '@svc/hub-client';
import { canonicalJson } from '@svc/jsonl-v23/json';
import { runWithContext } from '@svc/observability';
import type { Logger, Metrics, TokenCipher } from '@svc/service';
import {
  type ImportFailure,
  type ImportSource,
  importDataset,
  importNotes,
  importNotesJson,
  observeImport,
} from '@svc/service/flows';
import {
  type DraftProgress,
  ImportReport,
  type ImportTarget,
  type JobProgress,
  type JobStore,
  type Store,
  StoreError,
  type TakenJob,
  type TaskClaim,
} from '@svc/service/store';
import type { Task, TaskEnd, TaskHandler } from '../queue/perform-task.ts';
import { pause } from '../queue/wait.ts';
import { errorCode, isStoreError, isTransient, type JobFailure, jobFailure } from '../task-failure.ts';
import type { CancelWatch } from '../watch-cancel.ts';

export interface JobTaskDeps {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly store: Pick<Store, 'jobs' | 'datasets'>;
  readonly cancelWatch: CancelWatch;
  readonly tokenCipher: TokenCipher | null;
}

const MAX_WAIT_MS = 10 * 60 * 1000;

export interface JobImport {
  /** The archive that the job reads, whose bytes its progress counts; null to count the bytes of the draft. */
  readonly archive: { readonly byteLength: number; readonly readBytes: number } | null;
  /** No log line of the import may show them. */
  readonly secrets: readonly string[];
  readonly source: ImportSource;
  readonly target: ImportTarget;
}

/**
 * The job ends in the transaction that stores the dataset. What goes wrong with what was imported ends it too; what may go
 * right another time is tried again, from the beginning, since nothing of it was stored.
 */
export function createJobTask(
  deps: JobTaskDeps,
  prepare: (taken: TakenJob) => JobImport | Promise<JobImport>,
): TaskHandler {
  const { store } = deps;
  return {
    work: async (task) => {
      const taken = await store.jobs.take(task.claim);
      return taken === null ? { status: 'done' } : await workOnJob(taken, task, deps, prepare);
    },
    onRetriesExhausted: async (task, error) => {
      const failure = jobFailure(error);
      const status = await store.jobs.fail(task.id, canonicalJson(failure));
      if (status === null) return { status: 'done' };
      return status === 'cancelled' ? { status } : { status, code: failure.code };
    },
  };
}

async function workOnJob(
  taken: TakenJob,
  task: Task,
  deps: JobTaskDeps,
  prepare: (taken: TakenJob) => JobImport | Promise<JobImport>,
): Promise<TaskEnd> {
  const { job, claim } = taken;
  const { jobs } = deps.store;
  using watched = deps.cancelWatch.watch(job.id);
  try {
    if (job.status === 'cancelling') return await endJob(jobs, claim, { status: 'cancelled' });
    const prepared = await prepare(taken);
    await runWithContext(
      {},
      () => importIntoJob(prepared, taken, { task, cancelled: watched.signal }, deps),
      { secrets: prepared.secrets },
    );
    return { status: 'done' };
  } catch (error) {
    const found = classifyFailure(error, task.signal, watched.signal);
    if (found === 'lost') throw error;
    if (found === 'cancelled') return await endJob(jobs, claim, { status: 'cancelled' });
    if (found === 'failed') return await endJob(jobs, claim, { status: 'failed', error: jobFailure(error) });
    await waitAsAsked(error, AbortSignal.any([task.signal, watched.signal]));
    if (watched.signal.aborted) return await endJob(jobs, claim, { status: 'cancelled' });
    throw error;
  }
}

function classifyFailure(
  error: unknown,
  stopped: AbortSignal,
  cancelled: AbortSignal,
): 'lost' | 'cancelled' | 'retry' | 'failed' {
  if (stopped.aborted || isStoreError(error, 'superseded', 'unavailable')) return 'lost';
  // `job_finished` from the import itself: a cancel came just before the dataset was stored.
  if (cancelled.aborted || isStoreError(error, 'job_finished')) return 'cancelled';
  return isTransient(error) ? 'retry' : 'failed';
}

async function waitAsAsked(error: unknown, signal: AbortSignal): Promise<void> {
  const askedMs = error instanceof HubError ? (error.details.retryAfterMs ?? 0) : 0;
  await pause(Math.min(askedMs, MAX_WAIT_MS), signal);
}

async function endJob(
  jobs: Pick<Store['jobs'], 'finish'>,
  claim: TaskClaim,
  end: { readonly status: 'cancelled' } | { readonly status: 'failed'; readonly error: JobFailure },
): Promise<TaskEnd> {
  try {
    if (end.status === 'cancelled') await jobs.finish(claim, end);
    else await jobs.finish(claim, { status: 'failed', error: canonicalJson(end.error) });
  } catch (error) {
    // Another process ended or deleted it.
    if (!isStoreError(error, 'job_finished', 'job_not_found')) throw error;
  }
  return end.status === 'cancelled' ? end : { status: 'failed', code: end.error.code };
}

async function importIntoJob(
  { archive, source, target }: JobImport,
  { claim }: TakenJob,
  { task, cancelled }: { readonly task: Task; readonly cancelled: AbortSignal },
  deps: JobTaskDeps,
): Promise<void> {
  const { logger, store } = deps;
  const lost = new AbortController();
  const progress = reportProgress(store.jobs, claim, (error) => {
    // Another worker has the job, or it has ended: the rest of the work would be for nothing.
    if (error instanceof StoreError && error.code !== 'unavailable') lost.abort(error);
  });
  const failureOf = (error: unknown): ImportFailure | null => {
    const found = classifyFailure(error, task.signal, cancelled);
    if (found === 'lost') return null;
    if (found === 'cancelled') return { outcome: 'cancelled', code: 'aborted' };
    return { outcome: 'failed', code: errorCode(error) };
  };
  const signal = AbortSignal.any([task.signal, cancelled, lost.signal]);
  const onProgress = ({ items, itemsTotal, bytes }: DraftProgress): void =>
    progress.update({
      rowsDone: items,
      rowsTotal: itemsTotal,
      bytesDone: archive?.readBytes ?? bytes,
      bytesTotal: archive?.byteLength ?? null,
    });
  try {
    const report = new ImportReport();
    await using draft = await store.datasets.begin({ signal, onProgress, report, target });
    const observed = observeImport(deps, source.start, target, draft);
    try {
      const content = await importDataset(source, draft, report, signal);
      // The next statement locks the job's row.
      await progress.flush();
      const notes = canonicalJson(importNotesJson(importNotes(source, report)));
      const job = { ...claim, notes: notes === '{}' ? undefined : notes };
      observed.finished(await draft.commit({ ...content, job }));
    } catch (error) {
      const failure = failureOf(error);
      if (failure !== null) observed.failed(error, failure);
      throw error;
    }
  } catch (error) {
    await progress.flush();
    // Here, where the secrets of the import are known.
    const failure = failureOf(error);
    if (failure?.outcome === 'failed' && failure.code === 'internal') logger.log('error.internal', { error });
    throw error;
  }
}

const INTERVAL_MS = 500;

/** Stores progress at most twice per second: one write at a time, which skips outdated updates. A failed write ends nothing. */
export function reportProgress(
  jobs: Pick<JobStore, 'report'>,
  claim: TaskClaim,
  onError: (error: unknown) => void,
) {
  let latest: JobProgress | undefined;
  let writing: Promise<void> | undefined;
  let writtenAt = Number.NEGATIVE_INFINITY;

  const write = async (): Promise<void> => {
    const progress = latest;
    latest = undefined;
    if (progress !== undefined) await jobs.report(claim, progress).catch(onError);
    writtenAt = performance.now();
    writing = undefined;
  };

  return {
    update: (progress: JobProgress): void => {
      latest = progress;
      if (performance.now() - writtenAt >= INTERVAL_MS) writing ??= write();
    },
    flush: async (): Promise<void> => {
      await writing;
      await write();
    },
  };
}
