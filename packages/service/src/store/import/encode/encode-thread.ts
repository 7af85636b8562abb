/** The code of each thread of `row-encoder.ts`. */
import { parentPort } from 'node:worker_threads';
import { JsonlError } from '@svc/jsonl-v23';
import { serveTasks } from '../../../concurrency/index.ts';
import { Profiler } from '../../hub-files/profile.ts';
import {
  BufferPool,
  buffers,
  createBatchEncoder,
  type EncodedRows,
  type EncodeTask,
  type NeedsFiles,
  toFailure,
} from './encode-rows.ts';

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
function encode({ batch, contents, target, options }: EncodeTask): EncodedRows | NeedsFiles {
  const outcome =
    contents === null
      ? encoder.encodeLines(batch, target, options)
      : encoder.encodeFilled({ batch, contents }, target, options);
  if (!('needsFiles' in outcome)) pool.release(batch.bytes.buffer as ArrayBuffer);
  return outcome;
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
