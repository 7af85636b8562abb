import { createThreadPool } from '@svc/concurrency';
import type { JsonObject } from '@svc/jsonl-v23/json';
import { CHECKERS } from '../checkers/checkers.ts';
import type { JsonText } from '../item/canonical-text.ts';
import { MAX_INLINE_TEXT_CHARS } from '../item/large-item.ts';
import { type ResponseBody, readResponse } from '../item/read-response.ts';
import type { Completion, WireFormat } from '../provider.ts';
import { RunError } from '../run-error.ts';
import { unpackSmall } from '../scoring/packed-value.ts';
import { runTask, type TaskFailure, type ThreadOutcome, type ThreadTask, taskLimit } from './thread-task.ts';

/** Scores outputs and reads large items and responses, without blocking the event loop. */
export interface CheckRunner extends AsyncDisposable {
  /**
   * @throws RunError `checker_invalid`; `checker_limit` (`item_too_large` for a question, `provider_bad_response` for a
   * response) if the task takes too much time or memory; the signal's reason, immediately, when it is aborted; Error if the
   * thread dies for another reason or the runner is disposed
   */
  run<T extends ThreadTask>(task: T, signal: AbortSignal): Promise<ThreadOutcome<T>>;
}

export interface CheckRunnerOptions {
  /** Maximum number of threads; 0 does all tasks on the calling thread. Default: 2. */
  readonly threads?: number;
  /** How long one check may take. Default: 5 seconds. */
  readonly deadlineMs?: number;
  /** How long any other task may take: its cost is linear in the size. Default: 30 seconds. */
  readonly readDeadlineMs?: number;
  /** Heap of a thread. Default: 1 GiB. */
  readonly maxHeapMb?: number;
  /** The code of each thread. */
  readonly file?: URL;
}

const DEFAULT_THREADS = 2;
const DEFAULT_DEADLINE_MS = 5_000;
const DEFAULT_READ_DEADLINE_MS = 30_000;
const DEFAULT_MAX_HEAP_MB = 1_024;

/** Characters of a cheap check: up to here, posting to a thread costs more than checking inline. */
const MAX_INLINE_CHARS = 4_096;

/** The thread's file is next to this one, compiled or not. */
const THREAD_FILE = new URL(
  import.meta.url.endsWith('.ts') ? './check-thread.ts' : './check-thread.js',
  import.meta.url,
);

/**
 * Makes a runner of checks on a pool of threads. Tasks wait for their turn in order. Cheap checks, and with 0 threads all
 * tasks, are done on the calling thread.
 */
export function createCheckRunner(options: CheckRunnerOptions = {}): CheckRunner {
  const {
    threads: maxThreads = DEFAULT_THREADS,
    deadlineMs = DEFAULT_DEADLINE_MS,
    readDeadlineMs = DEFAULT_READ_DEADLINE_MS,
    maxHeapMb = DEFAULT_MAX_HEAP_MB,
    file = THREAD_FILE,
  } = options;
  const pool = createThreadPool<ThreadTask, ThreadOutcome<ThreadTask>, TaskFailure>(
    { file, limitError: taskLimit, failedError: ({ code, message }) => new RunError(code, message) },
    { maxThreads, maxHeapMb },
  );
  return {
    async run<T extends ThreadTask>(task: T, signal: AbortSignal): Promise<ThreadOutcome<T>> {
      signal.throwIfAborted();
      if (maxThreads === 0 || isCheap(task)) return runTask(task) as ThreadOutcome<T>;
      const limitMs = task.kind === 'check' ? deadlineMs : readDeadlineMs;
      return (await pool.run(task, limitMs, signal)) as ThreadOutcome<T>;
    },
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}

function isCheap(task: ThreadTask): boolean {
  return task.kind === 'check' && task.chars <= MAX_INLINE_CHARS && CHECKERS.get(task.type)?.isCheap === true;
}

/** A response of a provider: a completion, an error, or neither. Words of the provider are not yet fit to be shown. */
export interface ProviderResponse extends Omit<ResponseBody, 'completion' | 'usage'> {
  readonly completion: Omit<Completion, 'attempts'> | null;
  /** What the answer used, with or without a completion. */
  readonly usage: Completion['usage'];
}

interface ReadResponseOptions {
  readonly format: WireFormat;
  /** Characters that the caller needs of a text output, from its end; null for all. */
  readonly maxOutputChars: number | null;
}

/**
 * Reads the body of a provider's response: a large one on a thread, so that the event loop is not blocked.
 *
 * @throws RunError `provider_bad_response` if reading takes too much time or memory; the signal's reason when it is
 * aborted
 */
export async function readProviderResponse(
  body: Uint8Array,
  { format, maxOutputChars }: ReadResponseOptions,
  checks: CheckRunner,
  signal: AbortSignal,
): Promise<ProviderResponse> {
  if (body.byteLength <= MAX_INLINE_TEXT_CHARS) return readResponse(body, format);
  const {
    completion,
    usage: packedUsage,
    ...facts
  } = await checks.run({ kind: 'response', body, format, maxOutputChars }, signal);
  const usage = unpackSmall(packedUsage) as JsonObject | JsonText | null;
  if (completion === null) return { ...facts, usage, completion };
  const { finishReason } = completion;
  const output = unpackSmall(completion.output);
  const reasoning = unpackSmall(completion.reasoning) as string | JsonText | null;
  return { ...facts, usage, completion: { output, reasoning, usage, finishReason } };
}
