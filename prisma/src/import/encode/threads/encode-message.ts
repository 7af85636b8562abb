import type { LineBatch, SizedBatch } from '@svc/jsonl-v23/internal';
import type { RowTarget } from '../encode-rows.ts';
import type { FilledLines, LineOptions, NumberedPlan } from '../encoded-rows.ts';
import type { Failure } from '../row-failures.ts';

/** A batch for a thread to encode. The thread takes over the buffers of the batch, and the spare ones. */
export interface EncodeRequest {
  readonly id: number;
  readonly work: EncodeWork;
  readonly target: RowTarget;
  readonly spare: readonly ArrayBuffer[];
}

export type EncodeWork =
  | { readonly kind: 'lines'; readonly batch: LineBatch; readonly options: LineOptions }
  | { readonly kind: 'filled'; readonly lines: FilledLines; readonly options: LineOptions }
  | { readonly kind: 'cells'; readonly batch: SizedBatch; readonly plan: NumberedPlan };

/** The thread's reply: an `EncodedRows`, a `NeedsFiles` or an error. */
export type EncodeReply = { readonly id: number } & (
  | { readonly result: unknown; readonly failure?: undefined }
  | { readonly failure: Failure }
);
