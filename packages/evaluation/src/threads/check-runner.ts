import { TaskThread } from './task-thread.ts';
import { runTask, type ThreadOutcome, type ThreadTask } from './thread-task.ts';

/** Scores outputs and reads large items and responses, without blocking the event loop. */
export interface CheckRunner extends AsyncDisposable {
  /**
   * @throws RunError `checker_invalid`; `checker_limit` (`item_too_large` for a question, `provider_bad_response` for a
   * response) if the task takes too much time or memory; the signal's reason, at once, when it is aborted; Error if the
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

/** Checks of these types take a few steps per character, ... */
const CHEAP_TYPES: ReadonlySet<string> = new Set(['exact_match', 'includes', 'numeric', 'json_equal']);
/** ... so that up to this size, posting to a thread costs more than checking inline. */
const MAX_INLINE_CHARS = 4_096;

/** The thread's file is next to this one, compiled or not. */
const THREAD_FILE = new URL(
  import.meta.url.endsWith('.ts') ? './check-thread.ts' : './check-thread.js',
  import.meta.url,
);

/**
 * Makes a runner of checks. Threads start when a task needs them, and do one task at a time. Other tasks wait in order;
 * their deadline begins with their turn. A thread whose task takes too long or is aborted is replaced.
 */
export function createCheckRunner(options: CheckRunnerOptions = {}): CheckRunner {
  const {
    threads: maxThreads = DEFAULT_THREADS,
    deadlineMs = DEFAULT_DEADLINE_MS,
    readDeadlineMs = DEFAULT_READ_DEADLINE_MS,
    maxHeapMb = DEFAULT_MAX_HEAP_MB,
    file = THREAD_FILE,
  } = options;
  /** All threads that have not exited, so that there are never more than allowed. */
  const threads = new Set<TaskThread>();
  const idle = new Set<TaskThread>();
  const waiting = new Set<PromiseWithResolvers<TaskThread>>();
  let isClosed = false;

  function startThread(): TaskThread {
    const thread = new TaskThread(file, maxHeapMb);
    threads.add(thread);
    void thread.exited.then(() => {
      threads.delete(thread);
      idle.delete(thread);
      if (waiting.size > 0 && !isClosed) release(startThread());
    });
    return thread;
  }

  /** Gives a thread to the next task, unless it ends. */
  function release(thread: TaskThread): void {
    if (thread.isEnding) return;
    const [next] = waiting;
    if (next === undefined) idle.add(thread);
    else {
      waiting.delete(next);
      next.resolve(thread);
    }
  }

  async function acquire(signal: AbortSignal): Promise<TaskThread> {
    for (const thread of idle) {
      idle.delete(thread);
      if (!thread.isEnding) return thread;
    }
    if (threads.size < maxThreads) return startThread();
    const turn = Promise.withResolvers<TaskThread>();
    const onAbort = (): void => {
      if (waiting.delete(turn)) turn.reject(signal.reason);
    };
    waiting.add(turn);
    signal.addEventListener('abort', onAbort);
    try {
      return await turn.promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  return {
    async run<T extends ThreadTask>(task: T, signal: AbortSignal): Promise<ThreadOutcome<T>> {
      signal.throwIfAborted();
      if (maxThreads === 0 || isCheap(task)) return runTask(task) as ThreadOutcome<T>;
      if (isClosed) throw closed();
      const thread = await acquire(signal);
      try {
        signal.throwIfAborted();
        const limitMs = task.kind === 'check' ? deadlineMs : readDeadlineMs;
        return (await thread.run(task, limitMs, signal)) as ThreadOutcome<T>;
      } finally {
        release(thread);
      }
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      for (const turn of waiting) turn.reject(closed());
      waiting.clear();
      await Promise.all([...threads].map((thread) => thread.end(closed())));
    },
  };
}

function isCheap(task: ThreadTask): boolean {
  return task.kind === 'check' && CHEAP_TYPES.has(task.type) && task.chars <= MAX_INLINE_CHARS;
}

function closed(): Error {
  return new Error('The check runner is closed.');
}
