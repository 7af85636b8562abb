/** What runs on each thread of `encoder-threads.ts`: one batch after another, as they are sent. */
import { constants, setPriority } from 'node:os';
import { parentPort, type TransferListItem } from 'node:worker_threads';
import type { EncodedRows, NeedsFiles } from '@svc/flows';
import { BufferPool, freeBuffer } from './buffer-pool.ts';
import { createBatchEncoder } from './encode-batch.ts';
import { type EncodeReply, type EncodeRequest, type EncodeWork, toFailure } from './encode-message.ts';
import type { RowTarget } from './encode-rows.ts';

const port = parentPort;
if (port === null) throw new Error('this file is the beginning of a thread');
// Linux gives each thread a priority of its own: the main thread, which answers requests, goes first.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_LOW);

const spare = new BufferPool();
const encoder = createBatchEncoder(spare);

port.on('message', ({ id, work, target, spare: buffers }: EncodeRequest) => {
  for (const buffer of buffers) spare.give(buffer);
  let result: EncodedRows | NeedsFiles;
  try {
    result = encode(work, target);
  } catch (error) {
    port.postMessage({ id, failure: toFailure(error) } satisfies EncodeReply);
    return;
  }
  port.postMessage({ id, result } satisfies EncodeReply, buffersOf(result));
  // A batch that needs files went back; the bytes of any other may hold the next one's rows.
  if (!('needsFiles' in result)) spare.give(batchOf(work).bytes.buffer as ArrayBuffer);
  if (work.kind === 'filled')
    for (const { buffer } of work.lines.contents.flat()) freeBuffer(buffer as ArrayBuffer);
});

function encode(work: EncodeWork, target: RowTarget): EncodedRows | NeedsFiles {
  switch (work.kind) {
    case 'lines':
      return encoder.encodeLines(work.batch, target, work.options);
    case 'filled':
      return encoder.encodeFilled(work.lines, target, work.options);
    case 'cells':
      return encoder.encodeCells(work.batch, work.plan, target);
  }
}

const batchOf = (work: EncodeWork): { readonly bytes: Uint8Array } =>
  work.kind === 'filled' ? work.lines.batch : work.batch;

function buffersOf(result: EncodedRows | NeedsFiles): TransferListItem[] {
  const parts = 'needsFiles' in result ? [result.bytes] : [result.rows, result.itemHashes, result.lines];
  return parts.filter((part) => part !== null).map(({ buffer }) => buffer as ArrayBuffer);
}
