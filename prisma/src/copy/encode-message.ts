import type { FilledLines, LineOptions, RowPlan } from '@svc/flows';
import { JsonlError, type JsonlErrorCode, type SourceLocation } from '@svc/jsonl-v23';
import type { CellBatch, LineBatch } from '@svc/jsonl-v23/internal';
import type { RowTarget } from './encode-rows.ts';

/** What a thread is asked to do. The batch's buffers and the spare ones become the thread's. */
export interface EncodeRequest {
  readonly id: number;
  readonly work: EncodeWork;
  readonly target: RowTarget;
  readonly spare: readonly ArrayBuffer[];
}

export type EncodeWork =
  | { readonly kind: 'lines'; readonly batch: LineBatch; readonly options: LineOptions }
  | { readonly kind: 'filled'; readonly lines: FilledLines; readonly options: LineOptions }
  | { readonly kind: 'cells'; readonly batch: CellBatch; readonly plan: NumberedPlan };

/** A plan with a number by which it is known again on the other side. */
export interface NumberedPlan extends RowPlan {
  readonly number: number;
}

/** What it answers: an `EncodedRows`, a `NeedsFiles` or an error. */
export type EncodeReply = { readonly id: number } & (
  | { readonly result: unknown; readonly failure?: undefined }
  | { readonly failure: Failure }
);

/** An error that can be sent between threads. */
export type Failure =
  | {
      readonly kind: 'jsonl';
      readonly code: JsonlErrorCode;
      readonly message: string;
      readonly location: SourceLocation;
      readonly cause: unknown;
    }
  | { readonly kind: 'other'; readonly error: unknown };

/** Classes do not survive the way between threads: the errors that matter to a caller are taken apart. */
export function toFailure(error: unknown): Failure {
  if (!(error instanceof JsonlError)) return { kind: 'other', error };
  const { code, message, location, cause } = error;
  return { kind: 'jsonl', code, message, location, cause };
}

/** The error again. */
export function toError(failure: Failure): unknown {
  if (failure.kind === 'other') return failure.error;
  const { code, message, location, cause } = failure;
  return new JsonlError(code, message, location, cause === undefined ? undefined : { cause });
}
