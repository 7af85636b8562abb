import { canonicalJson } from '@svc/jsonl-v23/json';
import { readResponse } from '../item/read-response.ts';
import type { WireFormat } from '../provider.ts';
import { type PackedValue, packOutput } from '../scoring/packed-value.ts';

/** Reads the body of a provider's response. */
export interface ResponseTask {
  readonly kind: 'response';
  readonly body: Uint8Array;
  readonly format: WireFormat;
  /** Characters that the caller needs of a text output, from its end; null for all. */
  readonly maxOutputChars: number | null;
}

/** A `ResponseBody` on its way between threads. */
export interface PackedResponse {
  readonly completion: {
    readonly output: PackedValue;
    readonly reasoning: PackedValue;
    readonly usage: PackedValue;
    readonly finishReason: string | null;
  } | null;
  readonly errorCode: string | null;
  readonly errorText: string | null;
}

/** Does the task on the current thread. */
export function packResponse({ body, format, maxOutputChars }: ResponseTask): PackedResponse {
  const { completion, errorCode, errorText } = readResponse(body, format);
  if (completion === null) return { completion, errorCode, errorText };
  const { output, reasoning, usage, finishReason } = completion;
  const needed =
    typeof output === 'string' && maxOutputChars !== null ? output.slice(-maxOutputChars) : output;
  return {
    completion: {
      output: packOutput(needed),
      reasoning: reasoning === null ? null : packOutput(reasoning),
      usage: usage === null ? null : { json: canonicalJson(usage) },
      finishReason,
    },
    errorCode,
    errorText,
  };
}
