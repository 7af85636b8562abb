/** The code of each thread of `check-runner.ts`: does one task after the other. */
import { constants, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { replyTo, type ThreadReply, type ThreadTask, transferredBytes } from './thread-task.ts';

const port = parentPort;
if (port === null) throw new Error('Start this file as a worker thread.');
// On Linux each thread has its own priority: the main thread, which serves requests, goes first.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_LOW);

port.on('message', (task: ThreadTask) => {
  const reply = replyTo(task);
  port.postMessage(reply, transferredBytes(reply));
});
port.postMessage({ kind: 'ready' } satisfies ThreadReply);
