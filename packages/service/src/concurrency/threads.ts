import { constants, setPriority } from 'node:os';
import { type MessagePort, type TransferListItem, Worker } from 'node:worker_threads';

export interface ThreadPool<Task, Outcome> extends AsyncDisposable {
  /**
   * @param limitMs how long the task may take, from its turn; by default there is no limit
   * @throws the error of a task that was refused or exceeded a limit; the signal's reason, immediately, when it is aborted;
   * Error if the thread dies for another reason or the pool is disposed
   */
  run(task: Task, limitMs?: number, signal?: AbortSignal): Promise<Outcome>;
}

export interface ThreadPoolOptions extends ThreadLimits {
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

const MAX_YOUNG_HEAP_MB = 16;
/** How long a thread may take to load its code on a busy machine. */
const START_TIMEOUT_MS = 60_000;
/** How long a thread may take until a turn of its event loop, where it ends by itself: pages are inflated between turns. */
const END_TIMEOUT_MS = 1_000;

type ThreadReply<Outcome, Failure> = { readonly kind: 'ready' } | TaskReply<Outcome, Failure>;

/** The reply to a task: its outcome, why it was refused, or the error of the code itself. */
export type TaskReply<Outcome, Failure> =
  | { readonly kind: 'outcome'; readonly outcome: Outcome }
  | { readonly kind: 'failed'; readonly failure: Failure }
  | { readonly kind: 'fault'; readonly error: unknown };

interface TaskMessage<Outcome, Failure> {
  readonly message: TaskReply<Outcome, Failure>;
  readonly transfer?: readonly TransferListItem[];
}

export interface ThreadTasks<Task, Failure> {
  /** The code of each thread, which calls {@link serveTasks}. */
  readonly file: URL;
  /** The error of a task that exceeded a limit; `reason` follows the subject, such as `took too much memory`. */
  readonly limitError: (task: Task, reason: string) => Error;
  readonly failedError: (failure: Failure) => Error;
  /** Buffers of a task, which move to the thread instead of being copied. */
  readonly transfer?: (task: Task) => readonly TransferListItem[];
}

interface ThreadLimits {
  readonly maxHeapMb?: number;
  /** A thread ends when it has been idle for this long. Default: when the pool is disposed. */
  readonly maxIdleMs?: number;
}

interface Job<Task, Outcome> {
  readonly task: Task;
  readonly limitMs: number | undefined;
  readonly result: PromiseWithResolvers<Outcome>;
}

/** Does the tasks of a thread, one after the other. Call it in the thread's code. */
export function serveTasks<Task, Outcome, Failure>(
  port: MessagePort | null,
  reply: (task: Task) => TaskMessage<Outcome, Failure> | Promise<TaskMessage<Outcome, Failure>>,
): void {
  if (port === null) throw new Error('Start this file as a worker thread.');
  // On Linux each thread has its own priority, so that the main thread, which serves requests, is not slowed down. Elsewhere
  // the priority is that of the process, and stays as it is.
  if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_LOW);
  // Replies are matched to tasks by their order.
  let last = Promise.resolve();
  port.on('message', (task: Task | null) => {
    if (task === null) process.exit();
    last = last.then(async () => {
      const { message, transfer = [] } = await reply(task);
      port.postMessage(message satisfies ThreadReply<Outcome, Failure>, transfer);
    });
  });
  port.postMessage({ kind: 'ready' } satisfies ThreadReply<Outcome, Failure>);
}

/** A thread that does one task after another. A task that takes too long or is aborted ends the thread. */
class TaskThread<Task, Outcome, Failure> {
  readonly #tasks: ThreadTasks<Task, Failure>;
  readonly #maxIdleMs: number | undefined;
  readonly #worker: Worker;
  readonly #exited = Promise.withResolvers<void>();
  /** In the order of their replies. */
  readonly #jobs: Job<Task, Outcome>[] = [];
  #isReady = false;
  #isEnding = false;
  #timer: NodeJS.Timeout | undefined;
  #cause: unknown;

  constructor(tasks: ThreadTasks<Task, Failure>, { maxHeapMb, maxIdleMs }: ThreadLimits) {
    this.#tasks = tasks;
    this.#maxIdleMs = maxIdleMs;
    this.#worker = new Worker(tasks.file, {
      // Untrusted content must not reach the secrets of the process.
      env: {},
      // The young generation is small because a thread that exceeds its heap by more than about 16 MiB in one step would
      // end the process.
      ...(maxHeapMb !== undefined && {
        resourceLimits: { maxOldGenerationSizeMb: maxHeapMb, maxYoungGenerationSizeMb: MAX_YOUNG_HEAP_MB },
      }),
    });
    this.#worker.unref();
    this.#worker.on('message', (reply: ThreadReply<Outcome, Failure>) => this.#receive(reply));
    this.#worker.on('messageerror', (error) => void this.end(died(error)));
    this.#worker.on('error', (error) => {
      this.#cause = error;
    });
    this.#worker.on('exit', () => {
      this.#isEnding = true;
      clearTimeout(this.#timer);
      const [current] = this.#jobs;
      if (current !== undefined && isOutOfMemory(this.#cause)) {
        current.result.reject(tasks.limitError(current.task, 'took too much memory'));
      }
      this.#rejectAll(died(this.#cause));
      this.#exited.resolve();
    });
  }

  get exited(): Promise<void> {
    return this.#exited.promise;
  }

  get isEnding(): boolean {
    return this.#isEnding;
  }

  /**
   * Does a task after those before it. The process stays alive until it is done.
   *
   * @param limitMs how long it may take, from when the thread is ready for it
   */
  async run(task: Task, limitMs?: number, signal?: AbortSignal): Promise<Outcome> {
    const job: Job<Task, Outcome> = { task, limitMs, result: Promise.withResolvers() };
    this.#worker.postMessage(task, this.#tasks.transfer?.(task) ?? []);
    this.#jobs.push(job);
    if (this.#jobs.length === 1) this.#startTimer();
    this.#worker.ref();
    const onAbort = (): void => this.#endBy(job, signal?.reason);
    signal?.addEventListener('abort', onAbort);
    try {
      return await job.result.promise;
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  /**
   * Ends the thread. Its tasks fail immediately with `reason`. Resolves when the thread has ended. Node aborts the process
   * if it terminates a thread while that makes a stream of zlib, so a thread first gets the chance to exit by itself.
   */
  async end(reason: unknown): Promise<void> {
    this.#isEnding = true;
    clearTimeout(this.#timer);
    this.#rejectAll(reason);
    this.#worker.unref();
    this.#worker.postMessage(null);
    const timer = setTimeout(() => void this.#worker.terminate(), END_TIMEOUT_MS);
    await this.#exited.promise;
    clearTimeout(timer);
  }

  #endBy(job: Job<Task, Outcome>, reason: unknown): void {
    job.result.reject(reason);
    void this.end(died(reason));
  }

  #rejectAll(reason: unknown): void {
    for (const { result } of this.#jobs.splice(0)) result.reject(reason);
  }

  #receive(reply: ThreadReply<Outcome, Failure>): void {
    if (reply.kind === 'ready') this.#isReady = true;
    else {
      const result = this.#jobs.shift()?.result;
      if (reply.kind === 'outcome') result?.resolve(reply.outcome);
      else if (reply.kind === 'failed') result?.reject(this.#tasks.failedError(reply.failure));
      else result?.reject(reply.error);
      if (this.#jobs.length === 0) this.#worker.unref();
    }
    this.#startTimer();
  }

  /** Bounds the current task, the start of the thread, or its idle time. */
  #startTimer(): void {
    clearTimeout(this.#timer);
    if (this.#isEnding) return;
    const [job] = this.#jobs;
    if (job === undefined) {
      if (this.#maxIdleMs === undefined) return;
      this.#timer = setTimeout(() => void this.end(undefined), this.#maxIdleMs).unref();
    } else if (!this.#isReady) {
      const late = new Error('A thread did not start in time.');
      this.#timer = setTimeout(() => void this.end(late), START_TIMEOUT_MS);
    } else if (job.limitMs !== undefined) {
      const reason = `took longer than ${job.limitMs / 1000} seconds`;
      this.#timer = setTimeout(() => this.#endBy(job, this.#tasks.limitError(job.task, reason)), job.limitMs);
    }
  }
}

const died = (cause: unknown): Error => new Error('A thread has died.', { cause });

const isOutOfMemory = (error: unknown): boolean =>
  error instanceof Error && (error as { code?: unknown }).code === 'ERR_WORKER_OUT_OF_MEMORY';
