/** The code of each thread of `tool-converter.ts`. */
import { once } from 'node:events';
import { type MessagePort, parentPort } from 'node:worker_threads';
import { serveTasks } from '@svc/concurrency';
import { type ConvertFailure, type ConvertTask, convertInto, toConvertFailure } from './convert-task.ts';

serveTasks<ConvertTask & { readonly room: MessagePort }, readonly string[], ConvertFailure>(
  parentPort,
  async ({ room, ...task }) => {
    try {
      const outcome = await convertInto(task, async (bytes) => {
        const answer = once(room, 'message');
        room.postMessage(bytes);
        // The other side keeps the error.
        if ((await answer)[0] !== true) throw new Error('There is no room.');
      });
      return { message: { kind: 'outcome', outcome } };
    } catch (error) {
      const failure = toConvertFailure(error);
      return { message: failure === undefined ? { kind: 'fault', error } : { kind: 'failed', failure } };
    } finally {
      room.close();
    }
  },
);
