import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Logger } from '@svc/instrumentation';
import type { Store } from '@svc/store';
import type { MoveMessage, MoveOptions } from './move-message.ts';

export interface MoveDeps {
  readonly store: Pick<Store, 'assets'>;
  readonly logger: Logger;
  readonly thread: MoveOptions;
}

const LOG_INTERVAL_MS = 10_000;
const RETRY_MS = 60_000;

/**
 * Moves the files that items of an older version embed to assets, as `svc-pkg migrate` does, on a thread and while the
 * service works. Waits while a process of such a version is connected; goes on after an error, and at the next start.
 *
 * @returns what stops it
 */
export function startMovingItems({ store, logger, thread }: MoveDeps): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;

  async function moveAll(): Promise<void> {
    while (!signal.aborted) {
      try {
        if ((await store.assets.countToMove()) === 0) return;
        if (!(await store.assets.isOlderVersionConnected())) return await runThread(logger, thread, signal);
      } catch (error) {
        if (!signal.aborted) logger.log('items.move_fail', { error });
      }
      await delay(RETRY_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  const moving = moveAll();
  return async () => {
    stopping.abort();
    await moving;
  };
}

/** @throws what ended the thread early; nothing when the signal did */
async function runThread(logger: Logger, workerData: MoveOptions, signal: AbortSignal): Promise<void> {
  const worker = new Worker(new URL('./move-thread.js', import.meta.url), { workerData });
  const onAbort = (): void => void worker.terminate();
  signal.addEventListener('abort', onAbort, { once: true });
  let failure: { readonly error: unknown } | undefined;
  let last: MoveMessage | undefined;
  let loggedAtMs = performance.now();
  const report = ({ items, itemsTotal, moved }: MoveMessage): void => {
    logger.log('items.move', { items, items_total: itemsTotal, moved });
    loggedAtMs = performance.now();
  };
  worker.on('message', (progress: MoveMessage) => {
    last = progress;
    if (performance.now() - loggedAtMs >= LOG_INTERVAL_MS) report(progress);
  });
  worker.on('error', (error) => {
    failure = { error };
  });
  try {
    await once(worker, 'exit').catch(() => undefined);
    if (last !== undefined) report(last);
    if (failure !== undefined && !signal.aborted) throw failure.error;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
