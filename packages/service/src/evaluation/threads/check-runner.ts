import type { JsonObject } from '@svc/jsonl-v23/json';
import { createThreadPool } from '../../concurrency/index.ts';
import { CHECKERS } from '../checkers/checkers.ts';
import type { JsonText } from '../item/canonical-text.ts';
import { isLargeItem, MAX_INLINE_TEXT_CHARS } from '../item/large-item.ts';
import { readResponse } from '../item/read-response.ts';
import { RunError } from '../run-error.ts';
import { unpackSmall } from '../scoring/packed-value.ts';
import { runTask, type TaskFailure, type ThreadOutcome, type ThreadTask, taskLimit } from './thread-task.ts';

export interface CheckRunnerOptions {
  /** Maximum number of threads; 0 does all tasks on the calling thread. Default: 2. */
  readonly threads?: number;
  /** How long one check may take. Default: 5 seconds. */
  readonly deadlineMs?: number;
  /** How long any other task may take: its cost is linear in the size. Default: 30 seconds. */
  readonly readDeadlineMs?: number;
  /** Heap of a thread. Default: 1 GiB. */
  readonly maxHeapMb?: number;
  readonly file?: URL;
}

/** Characters of a cheap check: up to here, posting to a thread costs more than checking inline. */
const MAX_INLINE_CHARS = 4_096;

/** The thread's file is next to this one, compiled or not. */
const THREAD_FILE = new URL(
  import.meta.url.endsWith('.ts') ? './check-thread.ts' : './check-thread.js',
  import.meta.url,
);

export type CheckRunner = ReturnType<typeof createCheckRunner>;

/**
 * Makes a runner of checks on a pool of threads. Tasks wait for their turn in order. Cheap tasks, and with 0 threads all
 * of them, are done on the calling thread.
 */
export function createCheckRunner({
  threads: maxThreads = 2,
  deadlineMs = 5_000,
  readDeadlineMs = 30_000,
  maxHeapMb = 1_024,
  file = THREAD_FILE,
}: CheckRunnerOptions = {}) {
  const pool = createThreadPool<ThreadTask, ThreadOutcome<ThreadTask>, TaskFailure>(
    { file, limitError: taskLimit, failedError: ({ code, message }) => new RunError(code, message) },
    { maxThreads, maxHeapMb },
  );
  return {
    /**
     * @throws RunError `checker_invalid`; `checker_limit` (`item_too_large` for a question, `provider_bad_response` for a
     * response) if the task takes too much time or memory; the signal's reason, immediately, when it is aborted; Error if the
     * thread dies for another reason or the runner is disposed
     */
    async run<T extends ThreadTask>(task: T, signal: AbortSignal): Promise<ThreadOutcome<T>> {
      signal.throwIfAborted();
      if (maxThreads === 0 || isCheap(task)) return runTask(task);
      const limitMs = task.kind === 'check' ? deadlineMs : readDeadlineMs;
      return (await pool.run(task, limitMs, signal)) as ThreadOutcome<T>;
    },
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}

function isCheap(task: ThreadTask): boolean {
  if (task.kind === 'question') return !isLargeItem(task.parts);
  return task.kind === 'check' && task.chars <= MAX_INLINE_CHARS && CHECKERS.get(task.type)?.isCheap === true;
}

/** A response of a provider: a completion, an error, or neither. Words of the provider are not yet fit to be shown. */
export type ProviderResponse = Awaited<ReturnType<typeof readProviderResponse>>;

/**
 * Reads the body of a provider's response: a large one on a thread, so that the event loop is not blocked.
 *
 * @throws RunError `provider_bad_response` if reading takes too much time or memory; the signal's reason when it is
 * aborted
 */
export async function readProviderResponse(
  task: Extract<ThreadTask, { readonly kind: 'response' }>,
  checks: CheckRunner,
  signal: AbortSignal,
) {
  if (task.body.byteLength <= MAX_INLINE_TEXT_CHARS) return readResponse(task.body, task.format);
  const { completion, usage: packedUsage, ...facts } = await checks.run(task, signal);
  const usage = unpackSmall(packedUsage) as JsonObject | JsonText | null;
  if (completion === null) return { ...facts, usage, completion };
  const { finishReason } = completion;
  const output = unpackSmall(completion.output);
  const reasoning = unpackSmall(completion.reasoning) as string | JsonText | null;
  return { ...facts, usage, completion: { output, reasoning, usage, finishReason } };
}
