import { TaskThread, type ThreadTasks } from './task-thread.ts';

/** Does tasks on threads, each with a deadline. */
export interface ThreadPool<Task, Outcome> extends AsyncDisposable {
  /**
   * @param limitMs how long the task may take, from its turn
   * @throws the error of a task that was refused or exceeded a limit; the signal's reason, at once, when it is aborted;
   * Error if the thread dies for another reason or the pool is disposed
   */
  run(task: Task, limitMs: number, signal: AbortSignal): Promise<Outcome>;
}

/**
 * Makes a pool. Threads start when a task needs them, and do one task at a time. Other tasks wait in order; their deadline
 * begins with their turn. A thread whose task takes too long or is aborted is replaced.
 *
 * @param maxThreads at least 1
 * @param maxHeapMb heap of a thread
 */
export function createThreadPool<Task, Outcome, Failure>(
  tasks: ThreadTasks<Task, Failure>,
  { maxThreads, maxHeapMb }: { readonly maxThreads: number; readonly maxHeapMb: number },
): ThreadPool<Task, Outcome> {
  type Thread = TaskThread<Task, Outcome, Failure>;
  /** All threads that have not exited, so that there are never more than allowed. */
  const threads = new Set<Thread>();
  const idle = new Set<Thread>();
  const waiting = new Set<PromiseWithResolvers<Thread>>();
  let isClosed = false;

  function startThread(): Thread {
    const thread: Thread = new TaskThread(tasks, maxHeapMb);
    threads.add(thread);
    void thread.exited.then(() => {
      threads.delete(thread);
      idle.delete(thread);
      if (waiting.size > 0 && !isClosed) release(startThread());
    });
    return thread;
  }

  /** Gives a thread to the next task, unless it ends. */
  function release(thread: Thread): void {
    if (thread.isEnding) return;
    const [next] = waiting;
    if (next === undefined) idle.add(thread);
    else {
      waiting.delete(next);
      next.resolve(thread);
    }
  }

  async function acquire(signal: AbortSignal): Promise<Thread> {
    for (const thread of idle) {
      idle.delete(thread);
      if (!thread.isEnding) return thread;
    }
    if (threads.size < maxThreads) return startThread();
    const turn = Promise.withResolvers<Thread>();
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
    async run(task, limitMs, signal) {
      signal.throwIfAborted();
      if (isClosed) throw closed();
      const thread = await acquire(signal);
      try {
        signal.throwIfAborted();
        return await thread.run(task, limitMs, signal);
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

function closed(): Error {
  return new Error('The threads have been closed.');
}
