/** The code of each thread of `result-reader.ts`. */
import { parentPort } from 'node:worker_threads';
import { serveTasks } from '@svc/concurrency';
import { buffersOf, packResults, type ResultLines, toLineFailure } from './pack-results.ts';

serveTasks(parentPort, (lines: ResultLines) => {
  try {
    const outcome = packResults(lines);
    return { message: { kind: 'outcome', outcome }, transfer: buffersOf(outcome) };
  } catch (error) {
    const failure = toLineFailure(error);
    return { message: failure === undefined ? { kind: 'fault', error } : { kind: 'failed', failure } };
  }
});
