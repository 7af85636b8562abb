import { Worker } from 'node:worker_threads';
import { RunError } from '../run-error.ts';
import { type ThreadOutcome, type ThreadReply, type ThreadTask, taskLimit } from './thread-task.ts';

const MAX_YOUNG_HEAP_MB = 16;
/** How long a thread may take to load its code on a busy machine. */
const START_TIMEOUT_MS = 60_000;

interface Job {
  readonly task: ThreadTask;
  readonly limitMs: number;
  readonly result: PromiseWithResolvers<ThreadOutcome<ThreadTask>>;
}

/** A thread that does one task at a time. A task that takes too long or is aborted ends the thread. */
export class TaskThread {
  readonly #worker: Worker;
  readonly #exited = Promise.withResolvers<void>();
  #isReady = false;
  #isEnding = false;
  #job: Job | undefined;
  #timer: NodeJS.Timeout | undefined;
  #cause: unknown;

  /** @param file runs on the thread */
  constructor(file: URL, maxHeapMb: number) {
    this.#worker = new Worker(file, {
      // Untrusted content must not reach the secrets of the process.
      env: {},
      // A last resort: measureCheck limits the memory of a check far below. The young generation is small because a
      // thread that exceeds its heap by more than about 16 MiB at once would end the process.
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb, maxYoungGenerationSizeMb: MAX_YOUNG_HEAP_MB },
    });
    this.#worker.unref();
    this.#worker.on('message', (reply: ThreadReply) => this.#receive(reply));
    this.#worker.on('error', (error) => {
      this.#cause = error;
    });
    this.#worker.on('exit', () => {
      this.#isEnding = true;
      this.#job?.result.reject(exitError(this.#job.task, this.#cause));
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
  async run(task: ThreadTask, limitMs: number, signal: AbortSignal): Promise<ThreadOutcome<ThreadTask>> {
    const job: Job = { task, limitMs, result: Promise.withResolvers() };
    this.#job = job;
    const onAbort = (): void => void this.end(signal.reason);
    signal.addEventListener('abort', onAbort);
    this.#worker.ref();
    this.#startTimer(job);
    this.#worker.postMessage(task);
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

  #receive(reply: ThreadReply): void {
    const job = this.#job;
    if (reply.kind === 'ready') {
      this.#isReady = true;
      if (job !== undefined) this.#startTimer(job);
    } else if (reply.kind === 'outcome') job?.result.resolve(reply.outcome);
    else if (reply.kind === 'refused') job?.result.reject(new RunError(reply.code, reply.message));
    else job?.result.reject(reply.error);
  }

  #startTimer({ task, limitMs }: Job): void {
    clearTimeout(this.#timer);
    this.#timer = this.#isReady
      ? setTimeout(() => {
          void this.end(taskLimit(task, `took longer than ${limitMs / 1000} seconds`));
        }, limitMs)
      : setTimeout(() => void this.end(new Error('A check thread did not start in time.')), START_TIMEOUT_MS);
  }
}

function exitError(task: ThreadTask, cause: unknown): Error {
  const isOutOfMemory =
    cause instanceof Error && (cause as { code?: unknown }).code === 'ERR_WORKER_OUT_OF_MEMORY';
  return isOutOfMemory
    ? taskLimit(task, 'took too much memory')
    : new Error('A check thread has died.', { cause });
}
