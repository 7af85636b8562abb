import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { writeStream } from './minimum-rate.ts';

it('throws the reason of the signal while the reader takes nothing', async () => {
  const stalled = new Writable({ highWaterMark: 1, write: () => undefined }) as ServerResponse;
  const stopping = new AbortController();
  async function* chunks() {
    yield new Uint8Array(10);
  }
  const writing = writeStream(stalled, chunks(), 60_000, stopping.signal);
  const reason = new Error('The service is stopping.');
  setImmediate(() => stopping.abort(reason));
  await expect(writing).rejects.toBe(reason);
});
