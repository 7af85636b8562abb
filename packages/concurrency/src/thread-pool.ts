import { TaskThread, type ThreadLimits, type ThreadTasks } from './task-thread.ts';

/** Does tasks on threads. */
export interface ThreadPool<Task, Outcome> extends AsyncDisposable {
  /**
   * @param limitMs how long the task may take, from its turn; by default there is no limit
   * @throws the error of a task that was refused or exceeded a limit; the signal's reason, immediately, when it is aborted;
   * Error if the thread dies for another reason or the pool is disposed
   */
  run(task: Task, limitMs?: number, signal?: AbortSignal): Promise<Outcome>;
}

export interface ThreadPoolOptions extends ThreadLimits {
  /** At least 1. */
  readonly maxThreads: number;
  /** Tasks that are sent to a thread before the first is done, so that it is not idle in between. Default: 1. */
  readonly tasksPerThread?: number;
}

/**
 * Makes a pool. Threads start when a task needs them, and do one task at a time. Other tasks wait in order; their deadline
 * begins with their turn. A thread whose task takes too long or is aborted is replaced, and fails the tasks that it holds.
 */
export function createThreadPool<Task, Outcome, Failure>(
  tasks: ThreadTasks<Task, Failure>,
  { maxThreads, tasksPerThread = 1, ...limits }: ThreadPoolOptions,
): ThreadPool<Task, Outcome> {
  type Thread = TaskThread<Task, Outcome, Failure>;
  /** The tasks of all threads that have not exited, so that there are never more than allowed. */
  const taskCounts = new Map<Thread, number>();
  const waiting = new Set<PromiseWithResolvers<Thread>>();
  let isClosed = false;

  /** Takes a place on the least busy thread, or on a new one if all are busy. */
  function findThread(): Thread | undefined {
    let best: Thread | undefined;
    let least = tasksPerThread;
    for (const [thread, count] of taskCounts) {
      if (!thread.isEnding && count < least) [best, least] = [thread, count];
    }
    if (least > 0 && taskCounts.size < maxThreads) [best, least] = [startThread(), 0];
    if (best !== undefined) taskCounts.set(best, least + 1);
    return best;
  }

  function startThread(): Thread {
    const thread: Thread = new TaskThread(tasks, limits);
    void thread.exited.then(() => {
      taskCounts.delete(thread);
      serveWaiting();
    });
    return thread;
  }

  function release(thread: Thread): void {
    const count = taskCounts.get(thread);
    if (count !== undefined) taskCounts.set(thread, count - 1);
    serveWaiting();
  }

  function serveWaiting(): void {
    for (const turn of waiting) {
      const thread = findThread();
      if (thread === undefined) return;
      waiting.delete(turn);
      turn.resolve(thread);
    }
  }

  async function waitForThread(signal: AbortSignal | undefined): Promise<Thread> {
    const turn = Promise.withResolvers<Thread>();
    const onAbort = (): void => {
      if (waiting.delete(turn)) turn.reject(signal?.reason);
    };
    waiting.add(turn);
    signal?.addEventListener('abort', onAbort);
    try {
      return await turn.promise;
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  return {
    async run(task, limitMs, signal) {
      signal?.throwIfAborted();
      if (isClosed) throw closed();
      const thread = findThread() ?? (await waitForThread(signal));
      try {
        signal?.throwIfAborted();
        return await thread.run(task, limitMs, signal);
      } finally {
        release(thread);
      }
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      for (const turn of waiting) turn.reject(closed());
      waiting.clear();
      await Promise.all([...taskCounts.keys()].map((thread) => thread.end(closed())));
    },
  };
}

function closed(): Error {
  return new Error('The threads have been closed.');
}
