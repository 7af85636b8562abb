import { createThreadPool, Semaphore } from '@svc/concurrency';
import { RequestError } from '@svc/runtime';
import type { HubFileStore } from '@svc/store';
import { linkedFilesOf } from '@svc/store/rows';
import { isImage } from '../files/item-images.ts';
import type { EncodedItems, EncodeTask } from './encode-items.ts';

/** Items that are encoded together: a part of a file. */
export interface ItemGroup {
  readonly section: { readonly id: string; readonly name: string };
  readonly from: number;
  readonly to: number;
}

/** Reads groups of items and encodes them, on threads. */
export interface ItemEncoder extends AsyncDisposable {
  /** @param table as {@link EncodeTask} wants it @throws StoreError of reading; the signal's reason */
  encode(group: ItemGroup, table: EncodeTask['table'], signal: AbortSignal): Promise<EncodedItems>;
}

export const ENCODER_THREADS = 2;
/** Groups in memory: those of the threads, and as many that are read or sent. */
const GROUPS = 2 * ENCODER_THREADS;
const WAIT_MS = 60_000;
/** A group of usual size takes some 50 ms. */
const DEADLINE_MS = 120_000;
const MAX_HEAP_MB = 512;

/** The thread's file is next to this one, compiled or not. */
const THREAD_FILE = new URL(
  import.meta.url.endsWith('.ts') ? './encoder-thread.ts' : './encoder-thread.js',
  import.meta.url,
);

/** Makes an encoder. Its threads start with the first group. */
export function createItemEncoder(store: Pick<HubFileStore, 'readItems' | 'readContents'>): ItemEncoder {
  const threads = createThreadPool<EncodeTask, EncodedItems, never>(
    {
      file: THREAD_FILE,
      limitError: (_, reason) => new Error(`Encoding items ${reason}.`),
      failedError: (failure) => failure,
      transfer: ({ packed }) => [packed.buffer],
    },
    { maxThreads: ENCODER_THREADS, maxHeapMb: MAX_HEAP_MB },
  );
  // A client that leaves must not end a thread, which the next one would wait for.
  const never = new AbortController().signal;
  const turns = new Semaphore({
    permits: GROUPS,
    waitMs: WAIT_MS,
    timeoutError: () =>
      new RequestError('unavailable', 'Too many files are read concurrently.', {
        headers: { 'Retry-After': '10' },
      }),
  });
  return {
    async encode(group, table, signal) {
      using _turn = await turns.acquire(signal);
      const packed = await store.readItems(group, signal);
      const files = [...linkedFilesOf(packed)].filter((file) => table === null || isImage(file));
      const distinct = [...new Map(files.map((file) => [file.sha256, file])).values()];
      const contents = await store.readContents(distinct, signal);
      return await threads.run({ packed, contents, table }, DEADLINE_MS, never);
    },
    [Symbol.asyncDispose]: () => threads[Symbol.asyncDispose](),
  };
}
