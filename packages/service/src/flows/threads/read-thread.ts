/** The code of each thread of `thread-reader.ts`. */
import { parentPort } from 'node:worker_threads';
import { serveTasks } from '../../concurrency/index.ts';
import { readPushedLines } from '../results/read-pushed.ts';
import { type ContentFailure, failedReply } from './content-failure.ts';
import { itemBuffersOf, readEdits } from './read-edits.ts';
import { buffersOf, packResults, type ReadOutcome, type ReadTask } from './thread-reader.ts';

serveTasks<ReadTask, ReadOutcome, ContentFailure>(parentPort, (task) => {
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
    return { message: failedReply(error) };
  }
});
