/** What runs on each thread of `check-runner.ts`: one check after another, as they are sent. */
import { parentPort } from 'node:worker_threads';
import { type CheckReply, type CheckTask, replyTo } from './check-task.ts';

const port = parentPort;
if (port === null) throw new Error('this file is the beginning of a thread');

port.on('message', (task: CheckTask) => port.postMessage(replyTo(task)));
port.postMessage({ kind: 'ready' } satisfies CheckReply);
