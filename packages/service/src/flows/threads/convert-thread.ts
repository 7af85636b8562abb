/** The code of each thread of `tool-converter.ts`. */
import { once } from 'node:events';
import { parentPort } from 'node:worker_threads';
import { serveTasks } from '../../concurrency/index.ts';
import { type ContentFailure, failedReply } from './content-failure.ts';
import { convertInto, type ThreadTask } from './tool-converter.ts';

serveTasks<ThreadTask, readonly string[], ContentFailure>(parentPort, async ({ room, ...task }) => {
  try {
    const outcome = await convertInto(task, async (bytes) => {
      const answer = once(room, 'message');
      room.postMessage(bytes);
      // The other side keeps the error.
      if ((await answer)[0] !== true) throw new Error('There is no room.');
    });
    return { message: { kind: 'outcome', outcome } };
  } catch (error) {
    return { message: failedReply(error) };
  } finally {
    room.close();
  }
});
