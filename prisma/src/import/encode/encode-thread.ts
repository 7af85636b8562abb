/** The code of each thread of `row-encoder.ts`. */
import { parentPort } from 'node:worker_threads';
import { serveTasks } from '@svc/concurrency';
import { JsonlError } from '@svc/jsonl-v23';
import { Profiler } from '../../hub-files/profile.ts';
import { BufferPool, createBatchEncoder, freeBuffer } from './encode-rows.ts';
import {
  buffers,
  distinctFiles,
  type EncodedRows,
  type EncodeTask,
  type FilledLines,
  type FilledRows,
  type NeedsFiles,
  toFailure,
} from './encoded-rows.ts';

const pool = new BufferPool();
const encoder = createBatchEncoder(pool, new Profiler());

serveTasks(parentPort, (task: EncodeTask) => {
  for (const buffer of task.spare) pool.release(buffer);
  try {
    const outcome = encode(task);
    return { message: { kind: 'outcome', outcome }, transfer: buffersOf(outcome) };
  } catch (error) {
    if (!(error instanceof JsonlError)) return { message: { kind: 'fault', error } };
    return { message: { kind: 'failed', failure: toFailure(error) } };
  }
});

/** Keeps the bytes of a batch for the next ones, unless it goes back because it needs files. */
function encode({ batch, contents, target, options }: EncodeTask): EncodedRows | FilledRows | NeedsFiles {
  if (contents === null) {
    const outcome = encoder.encodeLines(batch, target, options);
    if (!('needsFiles' in outcome)) pool.release(batch.bytes.buffer as ArrayBuffer);
    return outcome;
  }
  const rows = withoutFiles(encoder.encodeFilled({ batch, contents }, target, options), contents);
  pool.release(batch.bytes.buffer as ArrayBuffer);
  for (const buffer of buffers(contents.flat())) freeBuffer(buffer);
  return rows;
}

/** The caller has the files that it gave: their bytes do not go back. */
function withoutFiles(rows: EncodedRows, files: FilledLines['contents']): FilledRows {
  const indexes = new Map(distinctFiles(files).map((file, index) => [file, index]));
  const fileIndexes = rows.contents.map(({ bytes }) => indexes.get(bytes) ?? null);
  const contents = rows.contents.map((one, index) =>
    fileIndexes[index] === null ? one : { ...one, bytes: new Uint8Array() },
  );
  return { ...rows, fileIndexes, contents };
}

function buffersOf(outcome: EncodedRows | NeedsFiles): ArrayBuffer[] {
  if ('needsFiles' in outcome) return buffers([outcome.bytes]);
  const { rows, itemHashes, lines, contents } = outcome;
  return buffers([
    rows,
    itemHashes,
    ...(lines === null ? [] : [lines]),
    ...contents.map(({ bytes }) => bytes),
  ]);
}
