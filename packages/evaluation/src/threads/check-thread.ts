/** What runs on each thread of `check-runner.ts`: one task after another, as they are sent. */
import { constants, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { replyTo, type ThreadReply, type ThreadTask, transferredBytes } from './thread-task.ts';

const port = parentPort;
if (port === null) throw new Error('this file is the beginning of a thread');
// Linux gives each thread a priority of its own: the main thread, which answers requests, goes first.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_LOW);

port.on('message', (task: ThreadTask) => {
  const reply = replyTo(task);
  port.postMessage(reply, transferredBytes(reply));
});
port.postMessage({ kind: 'ready' } satisfies ThreadReply);
