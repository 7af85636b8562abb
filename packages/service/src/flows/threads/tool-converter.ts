import { join } from 'node:path';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { convertTool, type Tool, type ToolReport } from '@svc/formats';
import { PackageError, type PackageLimits } from '@svc/pkg-format';
import { createThreadPool } from '../../concurrency/index.ts';
import { openStaged, type StagedFile } from '../stage-content.ts';
import { type ContentFailure, toContentError } from './content-failure.ts';

export type ToolConverter = ReturnType<typeof createToolConverter>;

/** A task, and the port by which its thread asks for room. */
export type ThreadTask = ConvertTask & { readonly room: MessagePort };

const THREADS = 2;
const MAX_HEAP_MB = 768;
/** Below this size, a thread costs more than the conversion; archives may hold any amount. */
const MIN_THREAD_BYTES = 64 * 1024;

/** The thread's file is next to this one, compiled or not. */
const THREAD_FILE = new URL(
  import.meta.url.endsWith('.ts') ? './convert-thread.ts' : './convert-thread.js',
  import.meta.url,
);

/** Makes a converter of files of other tools. Its threads start when large files or archives need them. */
export function createToolConverter() {
  const threads = createThreadPool<ThreadTask, readonly string[], ContentFailure>(
    {
      file: THREAD_FILE,
      limitError: (_task, reason) => new PackageError('package_limit', `Converting the files ${reason}.`),
      failedError: toContentError,
      transfer: ({ room }) => [room],
    },
    { maxThreads: THREADS, maxHeapMb: MAX_HEAP_MB },
  );
  return {
    /**
     * Converts files, see `convertInto`. The folder may hold anything after an error.
     *
     * @throws as `convertInto`; PackageError `package_limit` if it takes too much memory; the signal's reason, immediately
     */
    async convert(
      task: ConvertTask,
      makeRoom: (bytes: number) => Promise<void>,
      signal: AbortSignal,
    ): Promise<readonly string[]> {
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

export interface ConvertTask {
  readonly tool: Tool;
  readonly files: readonly StagedFile[];
  readonly name: string | undefined;
  readonly limits: Partial<PackageLimits>;
  /** An empty folder for the packages and for temporary files. */
  readonly folder: string;
}

const packagePath = (folder: string, index: number): string => join(folder, `${index}.pkg.zip`);

/** Converts files, each run into a package in the folder. */
export async function convertInto(
  { tool, files, name, limits, folder }: ConvertTask,
  makeRoom: (bytes: number) => Promise<void>,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  await using opened = new AsyncDisposableStack();
  const sources: Awaited<ReturnType<typeof openStaged>>[] = [];
  for (const file of files) sources.push(await openStaged(file, opened));
  let count = 1;
  const further = (): string => packagePath(folder, count++);
  const options = { output: packagePath(folder, 0), further, name, limits, makeRoom };
  const reports = await convertTool(tool, sources, { ...options, ...(signal && { signal }) });
  return reports.map(({ output }: ToolReport) => output);
}
