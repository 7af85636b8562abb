/** Entry of the thread of `move-older-items.ts`: parsing and hashing items of any size would keep requests waiting. */
import { parentPort, workerData } from 'node:worker_threads';
import { createStore } from '@svc/store';
import type { MoveMessage, MoveOptions } from './move-message.ts';

const port = parentPort;
if (port === null) throw new Error('This file must run in a worker thread.');
await using store = createStore({ ...(workerData as MoveOptions), poolSize: 2 });
for await (const progress of store.assets.move()) port.postMessage(progress satisfies MoveMessage);
