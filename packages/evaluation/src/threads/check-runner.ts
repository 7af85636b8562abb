import { Worker } from 'node:worker_threads';
import { RunError } from '../run-error.ts';
import { runTask, type ThreadOutcome, type ThreadReply, type ThreadTask, taskLimit } from './thread-task.ts';

/** Runs checks, and reads large items. Whatever their content, the caller's thread stays free. */
export interface CheckRunner extends AsyncDisposable {
  /**
   * @throws RunError `checker_invalid`, or `checker_limit` (for a question `item_too_large`) when the task took too
   * long or too much memory; the
   * signal's reason when it was aborted, at once; an Error when the thread died for another reason or the runner was
   * disposed of
   */
  run<T extends ThreadTask>(task: T, signal: AbortSignal): Promise<ThreadOutcome<T>>;
}

export interface CheckRunnerOptions {
  /** threads at most; 0 does all tasks in the calling thread. Default: 2 */
  readonly threads?: number;
  /** how long one check may take. Default: 5 seconds */
  readonly deadlineMs?: number;
  /** how long a task may take that reads a large item. Default: 30 seconds */
  readonly readDeadlineMs?: number;
  /** heap of a thread. Default: 1 GiB */
  readonly maxHeapMb?: number;
  /** what runs on each thread */
  readonly file?: URL;
}

const DEFAULT_THREADS = 2;
const DEFAULT_DEADLINE_MS = 5_000;
/** Reading grows with the item and no faster; a busy machine takes its time for the largest. */
const DEFAULT_READ_DEADLINE_MS = 30_000;
const DEFAULT_MAX_HEAP_MB = 1_024;
const MAX_YOUNG_HEAP_MB = 16;
/** How long a thread may take to load its code, on a machine that is busy. */
const START_TIMEOUT_MS = 60_000;

/** Checks of these types take a few steps for each character, ... */
const CHEAP_TYPES: ReadonlySet<string> = new Set(['exact_match', 'includes', 'numeric', 'json_equal']);
/** ... so that up to this size they are done sooner than a thread is asked. */
const MAX_INLINE_CHARS = 4_096;

/** The thread's file is next to this one, compiled or not. */
const THREAD_FILE = new URL(
  import.meta.url.endsWith('.ts') ? './check-thread.ts' : './check-thread.js',
  import.meta.url,
);

interface Job {
  readonly task: ThreadTask;
  readonly result: PromiseWithResolvers<ThreadOutcome<ThreadTask>>;
}

interface Thread {
  readonly worker: Worker;
  isReady: boolean;
  isEnding: boolean;
  job: Job | undefined;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Makes a runner of checks. Threads start with the first check that needs one. Each does one check at a time; others
 * wait for their turn, and their time counts from its beginning. A thread whose check takes too long or was aborted is
 * ended, and the next check gets a new one.
 */
export function createCheckRunner(options: CheckRunnerOptions = {}): CheckRunner {
  const {
    threads: maxThreads = DEFAULT_THREADS,
    deadlineMs = DEFAULT_DEADLINE_MS,
    readDeadlineMs = DEFAULT_READ_DEADLINE_MS,
  } = options;
  const threads = new Set<Thread>();
  const waiting = new Set<Job>();
  let isClosed = false;

  function startThread(): Thread {
    const worker = new Worker(options.file ?? THREAD_FILE, {
      // a thread that works on foreign content has no business with the process's secrets
      env: {},
      // A net only: measureCheck bounds what a check can need far below. Young objects are few, since a thread that
      // outgrows its heap by more than some 16 MiB at once would end the process.
      resourceLimits: {
        maxOldGenerationSizeMb: options.maxHeapMb ?? DEFAULT_MAX_HEAP_MB,
        maxYoungGenerationSizeMb: MAX_YOUNG_HEAP_MB,
      },
    });
    const thread: Thread = { worker, isReady: false, isEnding: false, job: undefined, timer: undefined };
    threads.add(thread);
    let cause: unknown;
    worker.on('message', (reply: ThreadReply) => {
      if (reply.kind === 'ready') {
        thread.isReady = true;
        if (thread.job !== undefined) startClock(thread);
        return;
      }
      const job = release(thread);
      if (reply.kind === 'outcome') job?.result.resolve(reply.outcome);
      else if (reply.kind === 'refused') job?.result.reject(new RunError(reply.code, reply.message));
      else job?.result.reject(reply.error);
      assignWaiting();
    });
    worker.on('error', (error) => {
      cause = error;
    });
    worker.on('exit', () => {
      threads.delete(thread);
      const job = release(thread);
      job?.result.reject(
        isOutOfMemory(cause)
          ? taskLimit(job.task, 'took too much memory')
          : new Error('A thread that checks outputs has died', { cause }),
      );
      assignWaiting();
    });
    return thread;
  }

  function startClock(thread: Thread): void {
    clearTimeout(thread.timer);
    const { job, isReady } = thread;
    const taskMs = job !== undefined && 'kind' in job.task ? readDeadlineMs : deadlineMs;
    const limitMs = isReady ? taskMs : START_TIMEOUT_MS;
    thread.timer = setTimeout(() => {
      end(
        thread,
        isReady && job !== undefined
          ? taskLimit(job.task, `took longer than ${limitMs / 1000} seconds`)
          : new Error('A thread that checks outputs has not started in time'),
      );
    }, limitMs);
  }

  /** Takes the job from a thread. The process may end while a thread has none. */
  function release(thread: Thread): Job | undefined {
    const { job } = thread;
    clearTimeout(thread.timer);
    thread.job = undefined;
    thread.worker.unref();
    return job;
  }

  /** Ends a thread and its check. It counts until it has exited, so that there are never more than allowed. */
  function end(thread: Thread, reason: unknown): void {
    thread.isEnding = true;
    release(thread)?.result.reject(reason);
    void thread.worker.terminate();
  }

  function freeThread(): Thread | undefined {
    for (const thread of threads) if (thread.job === undefined && !thread.isEnding) return thread;
    return threads.size < maxThreads ? startThread() : undefined;
  }

  function assignWaiting(): void {
    for (const job of waiting) {
      if (isClosed) return;
      const thread = freeThread();
      if (thread === undefined) return;
      waiting.delete(job);
      thread.job = job;
      thread.worker.ref();
      startClock(thread);
      thread.worker.postMessage(job.task);
    }
  }

  function abort(job: Job, reason: unknown): void {
    job.result.reject(reason);
    if (waiting.delete(job)) return;
    for (const thread of threads) if (thread.job === job) end(thread, reason);
  }

  return {
    async run<T extends ThreadTask>(task: T, signal: AbortSignal): Promise<ThreadOutcome<T>> {
      signal.throwIfAborted();
      if (maxThreads === 0 || isCheap(task)) return runTask(task) as ThreadOutcome<T>;
      if (isClosed) throw closed();
      const job: Job = { task, result: Promise.withResolvers() };
      const onAbort = (): void => abort(job, signal.reason);
      signal.addEventListener('abort', onAbort);
      try {
        waiting.add(job);
        assignWaiting();
        return (await job.result.promise) as ThreadOutcome<T>;
      } finally {
        signal.removeEventListener('abort', onAbort);
      }
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      for (const job of waiting) job.result.reject(closed());
      waiting.clear();
      await Promise.all(
        [...threads].map(async (thread) => {
          release(thread)?.result.reject(closed());
          await thread.worker.terminate();
        }),
      );
    },
  };
}

function isCheap(task: ThreadTask): boolean {
  return !('kind' in task) && CHEAP_TYPES.has(task.type) && task.chars <= MAX_INLINE_CHARS;
}

function isOutOfMemory(cause: unknown): boolean {
  return cause instanceof Error && (cause as { code?: unknown }).code === 'ERR_WORKER_OUT_OF_MEMORY';
}

function closed(): Error {
  return new Error('The runner of checks has been closed');
}
