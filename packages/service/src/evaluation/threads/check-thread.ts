/** The code of each thread of `check-runner.ts`. */

import { parentPort } from 'node:worker_threads';
import { serveTasks } from '../../concurrency/index.ts';
import { replyTo, type ThreadTask, transferredBytes } from './thread-task.ts';

serveTasks(parentPort, (task: ThreadTask) => {
  const message = replyTo(task);
  return { message, transfer: transferredBytes(message) };
});
