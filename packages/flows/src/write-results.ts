import type { RunResult } from '@svc/evaluation';

/** Hands results to the store in batches. */
export interface ResultWriter {
  /**
   * Takes a result. Resolves when there is room for the next one, which may be before this one is stored;
   * rejects when a write has failed.
   */
  write(result: RunResult): Promise<void>;
  /** Resolves when every result taken so far is stored. */
  flush(): Promise<void>;
}

/**
 * Makes a writer that has one call of `save` under way at a time: the first result goes at once, and what
 * comes meanwhile goes together in the next call. So a slow run stores each result when it is there, and a
 * fast one stores many in one transaction, without a timer.
 *
 * @param maxWaiting how many results may wait before `write` makes its caller wait
 */
export function createResultWriter(
  save: (results: readonly RunResult[]) => Promise<void>,
  maxWaiting: number,
): ResultWriter {
  let waiting: RunResult[] = [];
  let saving: Promise<void> | undefined;
  let failure: { readonly error: unknown } | undefined;

  const saveWaiting = async (): Promise<void> => {
    try {
      while (waiting.length > 0) {
        const results = waiting;
        waiting = [];
        await save(results);
      }
    } catch (error) {
      failure = { error };
    } finally {
      saving = undefined;
    }
  };
  const settle = async (enough: () => boolean): Promise<void> => {
    while (saving !== undefined && !enough()) await saving;
    if (failure !== undefined) throw failure.error;
  };

  return {
    async write(result) {
      if (failure !== undefined) throw failure.error;
      waiting.push(result);
      saving ??= saveWaiting();
      await settle(() => waiting.length < maxWaiting);
    },
    flush: () => settle(() => false),
  };
}
