/** The code of each thread of `result-reader.ts`. */
import { parentPort } from 'node:worker_threads';
import { serveTasks } from '@svc/concurrency';
import {
  buffersOf,
  type LineFailure,
  type PackedResults,
  packResults,
  toLineFailure,
} from './pack-results.ts';
import { type PushedLine, readPushedLines } from './read-pushed.ts';
import type { ReadTask } from './result-reader.ts';

serveTasks<ReadTask, PackedResults | readonly PushedLine[], LineFailure>(parentPort, (task) => {
  try {
    if (task.kind === 'pushed') {
      return { message: { kind: 'outcome', outcome: readPushedLines(task) }, transfer: [] };
    }
    const outcome = packResults(task);
    return { message: { kind: 'outcome', outcome }, transfer: buffersOf(outcome) };
  } catch (error) {
    const failure = toLineFailure(error);
    return { message: failure === undefined ? { kind: 'fault', error } : { kind: 'failed', failure } };
  }
});
