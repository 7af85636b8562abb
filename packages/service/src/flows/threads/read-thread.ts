/** The code of each thread of `thread-reader.ts`. */
import { parentPort } from 'node:worker_threads';
import { serveTasks } from '@svc/concurrency';
import { buffersOf, type LineFailure, packResults, toLineFailure } from '../results/pack-results.ts';
import { readPushedLines } from '../results/read-pushed.ts';
import { itemBuffersOf, readEdits } from './read-edits.ts';
import type { ReadOutcome, ReadTask } from './thread-reader.ts';

serveTasks<ReadTask, ReadOutcome, LineFailure>(parentPort, (task) => {
  try {
    if (task.kind === 'pushed') {
      return { message: { kind: 'outcome', outcome: readPushedLines(task) }, transfer: [] };
    }
    if (task.kind === 'edits') {
      const outcome = readEdits(task);
      return { message: { kind: 'outcome', outcome }, transfer: itemBuffersOf(outcome) };
    }
    const outcome = packResults(task);
    return { message: { kind: 'outcome', outcome }, transfer: buffersOf(outcome) };
  } catch (error) {
    const failure = toLineFailure(error);
    return { message: failure === undefined ? { kind: 'fault', error } : { kind: 'failed', failure } };
  }
});
