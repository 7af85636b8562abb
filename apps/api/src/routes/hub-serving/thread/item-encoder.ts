import { retryLater } from '@svc/service';
import { createThreadPool, Semaphore, type ThreadPool, type ThreadTasks } from '@svc/service/concurrency';
import type { HubFileStore, SectionRange } from '@svc/service/store';
import { isImage, linkedFilesOf, type Profile } from '@svc/service/store/rows';
import type { EncodedRowGroup } from '@svc/tabular/write';
import type { HubColumn } from '../files/hub-columns.ts';
import type { EncodedItems, EncodeTask } from './encoder-thread.ts';

export type ItemEncoder = ReturnType<typeof createItemEncoder>;

/** Each thread takes some 60 MB. */
const THREADS = 1;
/** Groups in memory: the one in the thread, and the ones being read. */
const GROUPS = 3;
/** Clients that wait for it leave before. */
const WAIT_MS = 600_000;
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

export function createItemEncoder(store: Pick<HubFileStore, 'readItems' | 'readContents'>) {
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
  async function run(
    ranges: readonly SectionRange[],
    counts: readonly number[],
    table: EncodeTask['table'],
    signal: AbortSignal,
  ): Promise<EncodedItems> {
    using _turn = await turns.acquire(signal);
    const packed = await store.readItems(ranges, signal);
    const images = table === null ? [] : [...linkedFilesOf(packed)].filter(isImage);
    const distinct = [...new Map(images.map((file) => [file.sha256, file])).values()];
    const contents = await store.readContents(distinct, signal);
    const bytes = distinct.reduce((sum, { byteLength }) => sum + byteLength, packed.byteLength);
    const pool = bytes > LARGE_GROUP_BYTES ? largeThreads : threads;
    return await pool.run({ packed, counts, contents, table }, DEADLINE_MS, never);
  }
  return {
    async encode(
      groups: readonly { readonly ranges: readonly SectionRange[]; readonly section: string }[],
      columns: readonly HubColumn[],
      signal: AbortSignal,
    ): Promise<readonly EncodedRowGroup[]> {
      // The section of a range gives the order of the groups.
      const ranges = groups.flatMap((group, section) => group.ranges.map((range) => ({ ...range, section })));
      const counts = groups.map((group) => group.ranges.reduce((sum, { count }) => sum + count, 0));
      const table = { sections: groups.map(({ section }) => section), columns };
      return (await run(ranges, counts, table, signal)).rowGroups ?? [];
    },
    async profile(ranges: readonly SectionRange[], signal: AbortSignal): Promise<readonly Profile[]> {
      const inOrder = ranges.map((range, section) => ({ ...range, section }));
      const counts = ranges.map(({ count }) => count);
      return (await run(inOrder, counts, null, signal)).profiles ?? [];
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await threads[Symbol.asyncDispose]();
      await largeThreads[Symbol.asyncDispose]();
    },
  };
}
