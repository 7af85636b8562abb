import { canonicalJson } from '@svc/jsonl-v23/json';
import { type ResponseBody, readResponse } from '../item/read-response.ts';
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
export interface PackedResponse extends Omit<ResponseBody, 'completion' | 'usage'> {
  readonly completion: {
    readonly output: PackedValue;
    readonly reasoning: PackedValue;
    readonly finishReason: string | null;
  } | null;
  readonly usage: PackedValue;
}

/** Does the task on the current thread. */
export function packResponse({ body, format, maxOutputChars }: ResponseTask): PackedResponse {
  const { completion, usage, ...facts } = readResponse(body, format);
  const packed = { ...facts, usage: usage === null ? null : { json: canonicalJson(usage) } };
  if (completion === null) return { ...packed, completion };
  const { output, reasoning, finishReason } = completion;
  const needed =
    typeof output === 'string' && maxOutputChars !== null ? output.slice(-maxOutputChars) : output;
  const texts = {
    output: packOutput(needed),
    reasoning: reasoning === null ? null : packOutput(reasoning),
  };
  return { ...packed, completion: { ...texts, finishReason } };
}
