import { type MessagePort, type TransferListItem, Worker } from 'node:worker_threads';
import { lowerThreadPriority } from './lower-priority.ts';

const MAX_YOUNG_HEAP_MB = 16;
/** How long a thread may take to load its code on a busy machine. */
const START_TIMEOUT_MS = 60_000;

/** A message from a thread: first that it is ready, then the reply to each task. */
type ThreadReply<Outcome, Failure> = { readonly kind: 'ready' } | TaskReply<Outcome, Failure>;

/** The reply to a task: its outcome, why it was refused, or the error of the code itself. */
export type TaskReply<Outcome, Failure> =
  | { readonly kind: 'outcome'; readonly outcome: Outcome }
  | { readonly kind: 'failed'; readonly failure: Failure }
  | { readonly kind: 'fault'; readonly error: unknown };

/** The kind of tasks that a thread does. */
export interface ThreadTasks<Task, Failure> {
  /** The code of each thread, which calls {@link serveTasks}. */
  readonly file: URL;
  /** The error of a task that exceeded a limit; `reason` goes on after the subject, such as `took too much memory`. */
  readonly limitError: (task: Task, reason: string) => Error;
  /** The error of a task that was refused. */
  readonly failedError: (failure: Failure) => Error;
  /** Buffers of a task, which move to the thread instead of being copied. */
  readonly transfer?: (task: Task) => readonly TransferListItem[];
}

interface Job<Task, Outcome> {
  readonly task: Task;
  readonly limitMs: number;
  readonly result: PromiseWithResolvers<Outcome>;
}

/** Does the tasks of a thread, one after the other. Call it in the thread's code. */
export function serveTasks<Task, Outcome, Failure>(
  port: MessagePort | null,
  reply: (task: Task) => {
    readonly message: TaskReply<Outcome, Failure>;
    /** Bytes of the reply, which move to the other thread instead of being copied. */
    readonly transfer?: readonly TransferListItem[];
  },
): void {
  if (port === null) throw new Error('Start this file as a worker thread.');
  lowerThreadPriority();
  port.on('message', (task: Task) => {
    const { message, transfer = [] } = reply(task);
    port.postMessage(message satisfies ThreadReply<Outcome, Failure>, transfer);
  });
  port.postMessage({ kind: 'ready' } satisfies ThreadReply<Outcome, Failure>);
}

/** A thread that does one task at a time. A task that takes too long or is aborted ends the thread. */
export class TaskThread<Task, Outcome, Failure> {
  readonly #tasks: ThreadTasks<Task, Failure>;
  readonly #worker: Worker;
  readonly #exited = Promise.withResolvers<void>();
  #isReady = false;
  #isEnding = false;
  #job: Job<Task, Outcome> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #cause: unknown;

  constructor(tasks: ThreadTasks<Task, Failure>, maxHeapMb: number) {
    this.#tasks = tasks;
    this.#worker = new Worker(tasks.file, {
      // Untrusted content must not reach the secrets of the process.
      env: {},
      // The young generation is small because a thread that exceeds its heap by more than about 16 MiB in one step would
      // end the process.
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb, maxYoungGenerationSizeMb: MAX_YOUNG_HEAP_MB },
    });
    this.#worker.unref();
    this.#worker.on('message', (reply: ThreadReply<Outcome, Failure>) => this.#receive(reply));
    this.#worker.on('error', (error) => {
      this.#cause = error;
    });
    this.#worker.on('exit', () => {
      this.#isEnding = true;
      this.#job?.result.reject(this.#exitError(this.#job.task));
      this.#exited.resolve();
    });
  }

  /** Resolves when the thread has ended. */
  get exited(): Promise<void> {
    return this.#exited.promise;
  }

  /** Whether the thread ends or has ended, so that it takes no more tasks. */
  get isEnding(): boolean {
    return this.#isEnding;
  }

  /**
   * Does a task. The process stays alive until it is done.
   *
   * @param limitMs how long it may take, from when the thread is ready
   */
  async run(task: Task, limitMs: number, signal: AbortSignal): Promise<Outcome> {
    const job: Job<Task, Outcome> = { task, limitMs, result: Promise.withResolvers() };
    this.#job = job;
    const onAbort = (): void => void this.end(signal.reason);
    signal.addEventListener('abort', onAbort);
    this.#worker.ref();
    this.#startTimer(job);
    this.#worker.postMessage(task, this.#tasks.transfer?.(task) ?? []);
    try {
      return await job.result.promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
      clearTimeout(this.#timer);
      this.#job = undefined;
      this.#worker.unref();
    }
  }

  /** Ends the thread. Its task fails at once with `reason`. Resolves when the thread has ended. */
  async end(reason: unknown): Promise<void> {
    this.#isEnding = true;
    this.#job?.result.reject(reason);
    await this.#worker.terminate();
  }

  #receive(reply: ThreadReply<Outcome, Failure>): void {
    const job = this.#job;
    if (reply.kind === 'ready') {
      this.#isReady = true;
      if (job !== undefined) this.#startTimer(job);
    } else if (reply.kind === 'outcome') job?.result.resolve(reply.outcome);
    else if (reply.kind === 'failed') job?.result.reject(this.#tasks.failedError(reply.failure));
    else job?.result.reject(reply.error);
  }

  #startTimer({ task, limitMs }: Job<Task, Outcome>): void {
    clearTimeout(this.#timer);
    this.#timer = this.#isReady
      ? setTimeout(() => {
          void this.end(this.#tasks.limitError(task, `took longer than ${limitMs / 1000} seconds`));
        }, limitMs)
      : setTimeout(() => void this.end(new Error('A thread did not start in time.')), START_TIMEOUT_MS);
  }

  #exitError(task: Task): Error {
    const cause = this.#cause;
    const isOutOfMemory =
      cause instanceof Error && (cause as { code?: unknown }).code === 'ERR_WORKER_OUT_OF_MEMORY';
    return isOutOfMemory
      ? this.#tasks.limitError(task, 'took too much memory')
      : new Error('A thread has died.', { cause });
  }
}
