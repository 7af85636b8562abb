/** The code of each thread of `row-encoder.ts`. */
import { parentPort } from 'node:worker_threads';
import { serveTasks } from '@svc/concurrency';
import { JsonlError } from '@svc/jsonl-v23';
import { Profiler } from '../../hub-files/profile.ts';
import { createBatchEncoder } from './encode-batch.ts';
import { BufferPool, freeBuffer, type RowTarget } from './encode-rows.ts';
import { buffers, type EncodeOutcome, type EncodeTask, type EncodeWork } from './encode-task.ts';
import {
  distinctFiles,
  type EncodedRows,
  type FilledLines,
  type FilledRows,
  type NeedsFiles,
} from './encoded-rows.ts';
import { toFailure } from './row-failures.ts';

const pool = new BufferPool();
const encoder = createBatchEncoder(pool, new Profiler());

serveTasks(parentPort, ({ work, target, spare }: EncodeTask) => {
  for (const buffer of spare) pool.release(buffer);
  try {
    const outcome = encode(work, target);
    reuse(work, outcome);
    return { message: { kind: 'outcome', outcome }, transfer: buffersOf(outcome) };
  } catch (error) {
    if (!(error instanceof JsonlError)) return { message: { kind: 'fault', error } };
    return { message: { kind: 'failed', failure: toFailure(error) } };
  }
});

function encode(work: EncodeWork, target: RowTarget): EncodeOutcome {
  switch (work.kind) {
    case 'lines':
      return encoder.encodeLines(work.batch, target, work.options);
    case 'filled':
      return withoutFiles(encoder.encodeFilled(work.lines, target, work.options), work.lines);
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

/** Keeps the bytes of a batch for the next ones, unless it goes back because it needs files. */
function reuse(work: EncodeWork, outcome: EncodeOutcome): void {
  if ('needsFiles' in outcome) return;
  const { bytes } = work.kind === 'filled' ? work.lines.batch : work.batch;
  pool.release(bytes.buffer as ArrayBuffer);
  if (work.kind === 'filled') for (const buffer of buffers(work.lines.contents.flat())) freeBuffer(buffer);
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
