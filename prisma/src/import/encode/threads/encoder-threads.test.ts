import { expect, it } from 'vitest';
import { type EncoderThreads, startEncoderThreads } from './encoder-threads.ts';

/** Replies to every request with the environment of the thread. */
const SPY = `import { parentPort } from 'node:worker_threads';
parentPort.on('message', ({ id }) => parentPort.postMessage({ id, result: { ...process.env } }));`;

it('gives the threads, which read untrusted rows, no environment', async () => {
  expect(process.env).not.toEqual({});
  await using threads = startEncoderThreads(1, new URL(`data:text/javascript,${encodeURIComponent(SPY)}`));
  const request = {} as Parameters<EncoderThreads['run']>[0];
  expect(await threads.run(request, [])).toEqual({});
});
