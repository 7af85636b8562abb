import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { createThreadPool } from '@svc/concurrency';
import { PackageError } from '@svc/pkg-format';
import { type ConvertFailure, type ConvertTask, convertInto, toConvertError } from './convert-task.ts';

/** Converts files of other tools without blocking the event loop. */
export interface ToolConverter extends AsyncDisposable {
  /**
   * Converts files, see `convertInto`. The folder may hold anything after an error.
   *
   * @throws as `convertInto`; PackageError `package_limit` if it takes too much memory; the signal's reason, immediately, when
   *   it is aborted
   */
  convert(
    task: ConvertTask,
    makeRoom: (bytes: number) => Promise<void>,
    signal: AbortSignal,
  ): Promise<readonly string[]>;
}

type ThreadTask = ConvertTask & { readonly room: MessagePort };

const THREADS = 2;
const MAX_HEAP_MB = 768;
/** Below this size, a thread costs more than the conversion; archives may hold any amount. */
const MIN_THREAD_BYTES = 64 * 1024;

/** The thread's file is next to this one, compiled or not. */
const THREAD_FILE = new URL(
  import.meta.url.endsWith('.ts') ? './convert-thread.ts' : './convert-thread.js',
  import.meta.url,
);

/** Makes a converter. Its threads start when large files or archives need them. */
export function createToolConverter(): ToolConverter {
  const threads = createThreadPool<ThreadTask, readonly string[], ConvertFailure>(
    {
      file: THREAD_FILE,
      limitError: (_task, reason) => new PackageError('package_limit', `Converting the files ${reason}.`),
      failedError: toConvertError,
      transfer: ({ room }) => [room],
    },
    { maxThreads: THREADS, maxHeapMb: MAX_HEAP_MB },
  );
  return {
    async convert(task, makeRoom, signal) {
      const isSmall = task.files.every(({ content }) => content !== null);
      const bytes = task.files.reduce((sum, { content }) => sum + (content?.byteLength ?? 0), 0);
      if (isSmall && bytes < MIN_THREAD_BYTES && task.tool !== 'inspect') {
        return await convertInto(task, makeRoom, signal);
      }
      const { port1: asked, port2: room } = new MessageChannel();
      let refusal: { readonly error: unknown } | undefined;
      asked.on('message', (wanted: number) => {
        makeRoom(wanted).then(
          () => asked.postMessage(true),
          (error: unknown) => {
            refusal = { error };
            asked.postMessage(false);
          },
        );
      });
      try {
        return await threads.run({ ...task, room }, undefined, signal);
      } catch (error) {
        throw refusal === undefined ? error : refusal.error;
      } finally {
        asked.close();
      }
    },
    [Symbol.asyncDispose]: () => threads[Symbol.asyncDispose](),
  };
}
