import type { Assets } from '../assets/assets.ts';
import { StoreError, toStoreError } from '../database/errors.ts';
import type { DatasetStore } from '../datasets/dataset-store.ts';
import type { RunStore } from '../runs/run-store.ts';
import { openDatasetOnReplica } from './open-dataset-on-replica.ts';
import type { ReplicaWatch } from './replica-watch.ts';

/** Reads of what is stored, which show everything that was committed before they began. */
export interface ReadStore {
  readonly datasets: Pick<
    DatasetStore,
    'listVersions' | 'list' | 'get' | 'listSections' | 'listItems' | 'open' | 'diff'
  >;
  readonly assets: Pick<Assets, 'find' | 'read' | 'itemText' | 'findMissing'>;
  readonly runs: Pick<RunStore, 'list' | 'listResults' | 'open' | 'slice' | 'errors'>;
}

/**
 * - `replica`: the replica served the read
 * - `primary`: the replica was not current, so the primary served it
 * - `repeated`: it failed on the replica, and the primary served it
 */
export type ReadOutcome = 'replica' | 'primary' | 'repeated';

interface ReadStoreOptions {
  readonly watch: ReplicaWatch;
  readonly primary: ReadStore;
  readonly replica: ReadStore;
  /** Called once for every read; for a dataset that is opened, when it is closed. */
  readonly onRead: (outcome: ReadOutcome) => void;
}

/** Reads from the replica where it is current, else from the primary; what fails on the replica continues from there. */
export function createReadStore(options: ReadStoreOptions): ReadStore {
  const { watch, primary, replica, onRead } = options;

  const mayGoOn = (error: unknown): boolean => {
    if (!isReplicaFailure(error)) return false;
    if (!isConflict(error)) watch.suspect();
    return true;
  };
  const admits = async (): Promise<boolean> => {
    const isCurrent = await watch.admits();
    if (!isCurrent) onRead('primary');
    return isCurrent;
  };
  const read =
    <Args extends unknown[], T>(onReplica: (...args: Args) => Promise<T>, onPrimary: typeof onReplica) =>
    async (...args: Args): Promise<T> => {
      if (!(await admits())) return await onPrimary(...args);
      try {
        const result = await onReplica(...args);
        onRead('replica');
        return result;
      } catch (error) {
        if (!mayGoOn(error)) throw error;
        onRead('repeated');
        return await onPrimary(...args);
      }
    };
  const stream = <Args extends unknown[], T>(
    onReplica: (...args: Args) => AsyncGenerator<T, void, undefined>,
    onPrimary: typeof onReplica,
  ): typeof onReplica =>
    async function* (...args) {
      if (!(await admits())) {
        yield* onPrimary(...args);
        return;
      }
      let hasBegun = false;
      try {
        for await (const piece of onReplica(...args)) {
          hasBegun = true;
          yield piece;
        }
        onRead('replica');
      } catch (error) {
        if (hasBegun || !mayGoOn(error)) throw error;
        onRead('repeated');
        yield* onPrimary(...args);
      }
    };

  return {
    datasets: {
      listVersions: read(replica.datasets.listVersions, primary.datasets.listVersions),
      list: read(replica.datasets.list, primary.datasets.list),
      get: read(replica.datasets.get, primary.datasets.get),
      listSections: read(replica.datasets.listSections, primary.datasets.listSections),
      listItems: read(replica.datasets.listItems, primary.datasets.listItems),
      diff: read(replica.datasets.diff, primary.datasets.diff),
      async open(id, openOptions) {
        if (!(await admits())) return await primary.datasets.open(id, openOptions);
        try {
          const open = await replica.datasets.open(id, openOptions);
          const { version } = open.dataset;
          const openOnPrimary = () => primary.datasets.open(id, { ...openOptions, version });
          return openDatasetOnReplica(open, { openOnPrimary, mayGoOn, onRead });
        } catch (error) {
          if (!mayGoOn(error)) throw error;
          onRead('repeated');
          return await primary.datasets.open(id, openOptions);
        }
      },
    },
    assets: {
      find: read(replica.assets.find, primary.assets.find),
      findMissing: read(replica.assets.findMissing, primary.assets.findMissing),
      read: stream(replica.assets.read, primary.assets.read),
      itemText: stream(replica.assets.itemText, primary.assets.itemText),
    },
    runs: {
      list: read(replica.runs.list, primary.runs.list),
      listResults: read(replica.runs.listResults, primary.runs.listResults),
      open: read(replica.runs.open, primary.runs.open),
      slice: read(replica.runs.slice, primary.runs.slice),
      errors: read(replica.runs.errors, primary.runs.errors),
    },
  };
}

/** What the server reports when a statement took too long, or was cancelled for its client. */
const QUERY_CANCELED = '57014';

/**
 * Whether a read that failed on the replica may succeed on the primary: the connection was lost, or the read
 * conflicted with what the replica replays. A read that took too long would do so again.
 */
function isReplicaFailure(error: unknown): boolean {
  const found = toStoreError(error);
  if (!(found instanceof StoreError) || found.code !== 'unavailable') return false;
  return found.cause !== undefined && codeOf(found.cause) !== QUERY_CANCELED;
}

/** Whether the replica reported it, rather than that the connection to it was lost. */
function isConflict(error: unknown): boolean {
  const found = toStoreError(error);
  return found instanceof StoreError && /^40(?:001|P01)$/.test(String(codeOf(found.cause)));
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}
