import type { TransferListItem } from 'node:worker_threads';
import type { ThreadTasks } from '@svc/concurrency';
import type { LineBatch } from '@svc/jsonl-v23/internal';
import type { RowTarget } from './encode-rows.ts';
import type { EncodedRows, FilledLines, FilledRows, LineOptions, NeedsFiles } from './encoded-rows.ts';
import { type Failure, toError } from './row-failures.ts';

/** A batch for a thread to encode. The thread takes over the buffers of the batch, and the spare ones. */
export interface EncodeTask {
  readonly work: EncodeWork;
  readonly target: RowTarget;
  readonly spare: readonly ArrayBuffer[];
}

export type EncodeWork =
  | { readonly kind: 'lines'; readonly batch: LineBatch; readonly options: LineOptions }
  | { readonly kind: 'filled'; readonly lines: FilledLines; readonly options: LineOptions };

export type EncodeOutcome = EncodedRows | FilledRows | NeedsFiles;

/** The tasks of `encode-thread.ts`, which is next to this file, compiled or not. */
export const ENCODE_TASKS: ThreadTasks<EncodeTask, Failure> = {
  file: new URL(
    import.meta.url.endsWith('.ts') ? './encode-thread.ts' : './encode-thread.js',
    import.meta.url,
  ),
  limitError: (_, reason) => new Error(`Encoding a batch of items ${reason}.`),
  failedError: toError,
  transfer: ({ work, spare }) => [...buffersOf(work), ...spare],
};

function buffersOf(work: EncodeWork): TransferListItem[] {
  switch (work.kind) {
    case 'lines':
      return [work.batch.bytes.buffer as ArrayBuffer];
    case 'filled':
      return buffers([work.lines.batch.bytes, ...work.lines.contents.flat()]);
  }
}

/** The buffers of views, each once. */
export function buffers(views: readonly ArrayBufferView[]): ArrayBuffer[] {
  return [...new Set(views.map(({ buffer }) => buffer as ArrayBuffer))].filter(
    ({ byteLength }) => byteLength > 0,
  );
}
