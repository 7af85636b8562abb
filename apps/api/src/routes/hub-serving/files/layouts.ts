import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '@svc/instrumentation';
import { retryLater } from '@svc/runtime';
import { type LayoutKey, StoreError } from '@svc/store';
import type { HubColumn } from './hub-columns.ts';
import { filesFormat, type LayoutDeps, layoutVersion, type VersionKey } from './layout-version.ts';

/** The layouts of versions, each of which is made once, by the first request that needs it. */
export interface Layouts {
  /**
   * The columns of a version, whose files all have a layout then.
   *
   * @throws RequestError `unavailable` while the files of a large version are being made; StoreError of making them
   */
  ready(
    key: VersionKey,
    signal: AbortSignal,
  ): Promise<{ readonly key: LayoutKey; readonly columns: readonly HubColumn[] }>;
}

/** Whether a dataset or its version was deleted while it was read. */
export const isGone = (error: unknown): boolean =>
  error instanceof StoreError && ['dataset_not_found', 'version_not_found'].includes(error.code);

/** A request waits so long for a layout: clients give up after ten seconds. */
const WAIT_MS = 8_000;
const RETRY_SECONDS = 5;
const LEASE_MS = 30_000;
const EXTEND_MS = 10_000;
const POLL_MS = 250;

/** @param stopSignal ends what is being made */
export function createLayouts(
  { store, encoder, logger }: LayoutDeps & { readonly logger: Logger },
  stopSignal: AbortSignal,
): Layouts {
  const { hubFiles } = store;
  const format = filesFormat();
  /** What this process makes, or waits for. */
  const making = new Map<string, Promise<string>>();

  /** Makes a layout, or waits until another process has made it. */
  async function make(key: LayoutKey): Promise<string> {
    for (;;) {
      const columns = await hubFiles.findColumns(key, stopSignal);
      if (columns !== null) return columns;
      const claim = randomUUID();
      if (await hubFiles.claim(key, claim, LEASE_MS)) return await makeClaimed(key, claim);
      await delay(POLL_MS, undefined, { signal: stopSignal });
    }
  }

  async function makeClaimed(key: LayoutKey, claim: string): Promise<string> {
    const startedAt = performance.now();
    const { datasetId, version } = key;
    let files = 0;
    const extending = setInterval(() => {
      // A claim that is lost costs the work of another process: both make the same bytes.
      hubFiles.extend(key, claim, LEASE_MS).catch(() => undefined);
    }, EXTEND_MS);
    const facts = (): { dataset_id: string; version: number; files: number; duration_ms: number } => ({
      dataset_id: datasetId,
      version,
      files,
      duration_ms: Math.round(performance.now() - startedAt),
    });
    try {
      const add = async (file: Parameters<typeof hubFiles.add>[1]): Promise<void> => {
        files += 1;
        await hubFiles.add(key, file);
      };
      const columns = JSON.stringify(await layoutVersion({ store, encoder }, key, add, stopSignal));
      await hubFiles.finish(key, claim, columns);
      logger.log('hub.layout.finish', facts());
      return columns;
    } catch (error) {
      if (!stopSignal.aborted && !isGone(error)) logger.log('hub.layout.fail', { ...facts(), error });
      await hubFiles.release(key, claim).catch(() => undefined);
      throw error;
    } finally {
      clearInterval(extending);
    }
  }

  return {
    async ready({ datasetId, version }, signal) {
      const key = { datasetId, version, format };
      const known = await hubFiles.findColumns(key, signal);
      if (known !== null) return { key, columns: JSON.parse(known) as HubColumn[] };
      const name = `${datasetId} ${version}`;
      const made = making.get(name) ?? make(key).finally(() => making.delete(name));
      making.set(name, made);
      // What fails when no client waits any more is logged.
      made.catch(() => undefined);
      const waiting = new AbortController();
      try {
        const late = delay(WAIT_MS, null, { signal: AbortSignal.any([signal, waiting.signal]) });
        late.catch(() => undefined);
        const columns = await Promise.race([made, late]);
        if (columns !== null) return { key, columns: JSON.parse(columns) as HubColumn[] };
      } finally {
        waiting.abort();
      }
      const message = 'The files of this version are being made. Retry later.';
      throw retryLater('unavailable', message, RETRY_SECONDS);
    },
  };
}
