import type { StoreContext } from '../context.ts';
import { isUuid } from '../database/values.ts';
import { openReadSession } from '../items/read-session.ts';
import { type LabelConditions, type LabelOfResult, readLabels, stateOfLabels } from './labels/list-labels.ts';
import { readRun } from './read-run.ts';
import { type LabelledResult, readResults } from './run-results.ts';
import { type Run, runNotFound } from './run-row.ts';

/** A run at one moment, for as long as it is open: it holds a connection and a snapshot. */
export interface OpenRun extends AsyncDisposable {
  readonly run: Run;
  /** Names the state of the labels of its results. */
  readonly labelsState: string;
  /** Its results in item order, in batches. */
  results(): AsyncIterable<readonly LabelledResult[]>;
  /** Their labels, in item order and by person, in batches. */
  labels(conditions: LabelConditions): AsyncIterable<readonly LabelOfResult[]>;
}

/** See `RunStore.open`. */
export async function openRun(
  context: Pick<StoreContext, 'pool' | 'exports' | 'maxItemBytes'>,
  id: string,
  options: { readonly signal?: AbortSignal } = {},
): Promise<OpenRun> {
  if (!isUuid(id)) throw runNotFound(id);
  const { session, query } = await openReadSession(context, options.signal);
  try {
    return {
      run: await readRun(query, id),
      labelsState: await stateOfLabels(query, id),
      results: () => readResults(query, id, context.maxItemBytes),
      labels: (conditions) => readLabels(query, id, conditions),
      [Symbol.asyncDispose]: () => session.close(),
    };
  } catch (error) {
    await session.close();
    throw error;
  }
}
