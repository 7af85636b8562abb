import { type TransferListItem, Worker } from 'node:worker_threads';
import { toError } from '../row-failures.ts';
import type { EncodeReply, EncodeRequest } from './encode-message.ts';

/** Threads that encode batches. */
export interface EncoderThreads extends AsyncDisposable {
  /**
   * Encodes a batch on the least busy thread; large ones, which take several times their size, on one thread, one after
   * another.
   *
   * @throws what the encoder threw; an Error when the thread died or the threads were ended
   */
  run(
    request: Omit<EncodeRequest, 'id'>,
    transfer: readonly TransferListItem[],
    isLarge?: boolean,
  ): Promise<unknown>;
}

/** A thread keeps the memory that a large batch took, so it is ended when it has been idle for this long. */
const LARGE_IDLE_MS = 250;

interface Thread {
  readonly worker: Worker;
  readonly tasks: Map<number, PromiseWithResolvers<unknown>>;
}

/** The thread's file is in this folder, compiled or not. */
const THREAD_FILE = new URL(
  import.meta.url.endsWith('.ts') ? './encode-thread.ts' : './encode-thread.js',
  import.meta.url,
);

/**
 * Keeps up to `count` threads. One is started at once, the others when all are busy; a thread that dies fails its
 * batches, and the next batch gets another. Disposing ends all of them at once, even while they work.
 *
 * @param file entry of each thread
 */
export function startEncoderThreads(count: number, file: URL = THREAD_FILE): EncoderThreads {
  const threads = new Set<Thread>();
  let largeThread: Thread | undefined;
  let largeTimer: NodeJS.Timeout | undefined;
  let lastId = 0;
  let isClosed = false;

  function start(): Thread {
    // Untrusted rows must not reach the secrets of the process.
    const worker = new Worker(file, { env: {} });
    const thread: Thread = { worker, tasks: new Map() };
    let cause: unknown;
    threads.add(thread);
    // Only pending batches keep the process alive.
    worker.unref();
    worker.on('message', (reply: EncodeReply) => {
      const task = takeTask(thread, reply.id);
      if (reply.failure === undefined) task?.resolve(reply.result);
      else task?.reject(toError(reply.failure));
    });
    worker.on('error', (error) => {
      cause = error;
    });
    worker.on('messageerror', (error) => {
      cause = error;
      void worker.terminate();
    });
    worker.on('exit', () => {
      threads.delete(thread);
      if (largeThread === thread) largeThread = undefined;
      const problem = isClosed ? 'The row encoder has been closed.' : 'A thread of the row encoder has died.';
      for (const id of [...thread.tasks.keys()]) takeTask(thread, id)?.reject(new Error(problem, { cause }));
    });
    return thread;
  }

  function takeTask({ worker, tasks }: Thread, id: number): PromiseWithResolvers<unknown> | undefined {
    const task = tasks.get(id);
    tasks.delete(id);
    if (tasks.size === 0) worker.unref();
    return task;
  }

  /** Ends the thread of large batches, unless it gets another one soon. */
  function endLargeThreadLater(thread: Thread): void {
    clearTimeout(largeTimer);
    largeTimer = setTimeout(() => {
      if (largeThread !== thread || thread.tasks.size > 0) return;
      largeThread = undefined;
      threads.delete(thread);
      void thread.worker.terminate();
    }, LARGE_IDLE_MS).unref();
  }

  function leastBusy(): Thread {
    let best: Thread | undefined;
    for (const thread of threads) {
      if (best === undefined || thread.tasks.size < best.tasks.size) best = thread;
    }
    return best === undefined || (best.tasks.size > 0 && threads.size < count) ? start() : best;
  }

  start();
  return {
    run(request, transfer, isLarge = false) {
      if (isClosed) return Promise.reject(new Error('The row encoder has been closed.'));
      const thread = isLarge ? (largeThread ?? leastBusy()) : leastBusy();
      const task = Promise.withResolvers<unknown>();
      lastId += 1;
      const id = lastId;
      thread.worker.postMessage({ id, ...request } satisfies EncodeRequest, transfer);
      thread.tasks.set(id, task);
      thread.worker.ref();
      if (!isLarge) return task.promise;
      largeThread = thread;
      return task.promise.finally(() => endLargeThreadLater(thread));
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      clearTimeout(largeTimer);
      await Promise.all([...threads].map(({ worker }) => worker.terminate()));
    },
  };
}
