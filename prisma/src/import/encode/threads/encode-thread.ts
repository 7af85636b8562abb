/** Entry of each thread of `encoder-threads.ts`: encodes one batch after another. */
import { parentPort, type TransferListItem } from 'node:worker_threads';
import { lowerThreadPriority } from '@svc/concurrency';
import { BufferPool, freeBuffer } from '../buffer-pool.ts';
import { createBatchEncoder } from '../encode-batch.ts';
import type { RowTarget } from '../encode-rows.ts';
import {
  distinctFiles,
  type EncodedRows,
  type FilledLines,
  type FilledRows,
  type NeedsFiles,
} from '../encoded-rows.ts';
import { toFailure } from '../row-failures.ts';
import type { EncodeReply, EncodeRequest, EncodeWork } from './encode-message.ts';

const port = parentPort;
if (port === null) throw new Error('This file must run in a worker thread.');
lowerThreadPriority();

const pool = new BufferPool();
const encoder = createBatchEncoder(pool);

port.on('message', ({ id, work, target, spare: buffers }: EncodeRequest) => {
  for (const buffer of buffers) pool.release(buffer);
  let result: EncodedRows | NeedsFiles;
  try {
    result = encode(work, target);
    if (work.kind === 'filled') result = withoutFiles(result as EncodedRows, work.lines);
  } catch (error) {
    port.postMessage({ id, failure: toFailure(error) } satisfies EncodeReply);
    return;
  }
  port.postMessage({ id, result } satisfies EncodeReply, buffersOf(result));
  // A batch that needs files went back; reuse the bytes of any other.
  if (!('needsFiles' in result)) pool.release(batchOf(work).bytes.buffer as ArrayBuffer);
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

/** The caller has the files that it gave: their bytes do not go back. */
function withoutFiles(rows: EncodedRows, { contents }: FilledLines): FilledRows {
  const indexes = new Map(distinctFiles(contents).map((file, index) => [file, index]));
  const fileIndexes = rows.contents.map(({ bytes }) => indexes.get(bytes) ?? null);
  return {
    ...rows,
    fileIndexes,
    contents: rows.contents.map((one, index) =>
      fileIndexes[index] === null ? one : { ...one, bytes: new Uint8Array() },
    ),
  };
}

const batchOf = (work: EncodeWork): { readonly bytes: Uint8Array } =>
  work.kind === 'filled' ? work.lines.batch : work.batch;

function buffersOf(result: EncodedRows | NeedsFiles): TransferListItem[] {
  if ('needsFiles' in result) return [result.bytes.buffer as ArrayBuffer];
  const { rows, itemHashes, lines, contents } = result;
  const parts = [rows, itemHashes, ...(lines === null ? [] : [lines]), ...contents.map(({ bytes }) => bytes)];
  return [...new Set(parts.map(({ buffer }) => buffer as ArrayBuffer))].filter(
    ({ byteLength }) => byteLength > 0,
  );
}
