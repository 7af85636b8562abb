/** The code of each thread of `item-encoder.ts`. */
import { parentPort } from 'node:worker_threads';
import { serveTasks } from '@svc/concurrency';
import { type EncodeTask, encodeItems } from './encode-items.ts';

serveTasks(parentPort, async (task: EncodeTask) => {
  try {
    const outcome = await encodeItems(task);
    return {
      message: { kind: 'outcome', outcome },
      transfer: outcome.rowGroups?.map(({ bytes }) => bytes.buffer) ?? [],
    };
  } catch (error) {
    return { message: { kind: 'fault', error } };
  }
});
