import { createThreadPool, Semaphore, type ThreadPool, type ThreadTasks } from '@svc/concurrency';
import { retryLater } from '@svc/runtime';
import type { HubFileStore } from '@svc/store';
import { linkedFilesOf } from '@svc/store/rows';
import { isImage } from '../files/item-images.ts';
import type { EncodedItems, EncodeTask } from './encode-items.ts';

/** Items that are encoded together: a part of a file. */
export interface ItemGroup {
  readonly section: { readonly id: string; readonly name: string };
  readonly from: number;
  readonly to: number;
  /** Whether items of the version embed files. */
  readonly hasFiles: boolean;
}

/** Reads groups of items and encodes them, on threads. */
export interface ItemEncoder extends AsyncDisposable {
  /** @param table as {@link EncodeTask} wants it @throws StoreError of reading; the signal's reason */
  encode(group: ItemGroup, table: EncodeTask['table'], signal: AbortSignal): Promise<EncodedItems>;
}

/** Each thread takes some 60 MB. */
const THREADS = 1;
/** Groups in memory: that of the thread, and those that are read. */
const GROUPS = 3;
const WAIT_MS = 60_000;
/** A group of usual size takes some 50 ms. */
const DEADLINE_MS = 120_000;
/** Groups beyond this size, which hold one large item, get a thread with a larger heap: V8 collects late where it may grow. */
const LARGE_GROUP_BYTES = 4 * 1024 * 1024;
const MAX_HEAP_MB = 64;
const MAX_LARGE_HEAP_MB = 1_024;

/** The thread's file is next to this one, compiled or not. */
const THREAD_FILE = new URL(
  import.meta.url.endsWith('.ts') ? './encoder-thread.ts' : './encoder-thread.js',
  import.meta.url,
);

/** Makes an encoder. Its threads start with the first group. */
export function createItemEncoder(store: Pick<HubFileStore, 'readItems' | 'readContents'>): ItemEncoder {
  const tasks: ThreadTasks<EncodeTask, never> = {
    file: THREAD_FILE,
    limitError: (_, reason) => new Error(`Encoding items ${reason}.`),
    failedError: (failure) => failure,
    transfer: ({ packed }) => [packed.buffer],
  };
  const startPool = (maxThreads: number, maxHeapMb: number): ThreadPool<EncodeTask, EncodedItems> =>
    createThreadPool<EncodeTask, EncodedItems, never>(tasks, { maxThreads, maxHeapMb });
  const threads = startPool(THREADS, MAX_HEAP_MB);
  const largeThreads = startPool(1, MAX_LARGE_HEAP_MB);
  // A client that leaves must not end a thread, which the next one would wait for.
  const never = new AbortController().signal;
  const turns = new Semaphore({
    permits: GROUPS,
    waitMs: WAIT_MS,
    timeoutError: () => retryLater('unavailable', 'Too many files are read concurrently.', 10),
  });
  return {
    async encode(group, table, signal) {
      using _turn = await turns.acquire(signal);
      const packed = await store.readItems(group, signal);
      const linked = group.hasFiles ? [...linkedFilesOf(packed)] : [];
      const files = linked.filter((file) => table === null || isImage(file));
      const distinct = [...new Map(files.map((file) => [file.sha256, file])).values()];
      const contents = await store.readContents(distinct, signal);
      const bytes = distinct.reduce((sum, { byteLength }) => sum + byteLength, packed.byteLength);
      const pool = bytes > LARGE_GROUP_BYTES ? largeThreads : threads;
      return await pool.run({ packed, contents, table }, DEADLINE_MS, never);
    },
    async [Symbol.asyncDispose]() {
      await threads[Symbol.asyncDispose]();
      await largeThreads[Symbol.asyncDispose]();
    },
  };
}
