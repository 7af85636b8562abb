import type { RunResult } from '@svc/evaluation';

/** Passes results to the store in batches. */
interface ResultWriter {
  /**
   * Adds a result. Resolves when the next one may be added, which can be before this one is stored; rejects once a
   * write has failed.
   */
  write(result: RunResult): Promise<void>;
  /** Resolves when every result so far is stored. */
  flush(): Promise<void>;
}

/**
 * Makes a writer with one call of `save` at a time: the first result is saved immediately, and the results that arrive
 * during a call are saved together by the next one. So a slow run stores each result immediately, and a fast one stores
 * many per transaction, without a timer.
 *
 * @param maxWaiting number of results that may wait before `write` makes its caller wait
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
