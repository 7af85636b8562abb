import type { JsonObject } from '@svc/jsonl-v23/json';
import type { JsonText } from './item/canonical-text.ts';
import { MAX_INLINE_TEXT_CHARS } from './item/large-item.ts';
import { type ResponseBody, readResponse } from './item/read-response.ts';
import type { Completion, WireFormat } from './provider.ts';
import { unpackSmall } from './scoring/packed-value.ts';
import type { CheckRunner } from './threads/check-runner.ts';

/** A response of a provider: a completion, an error, or neither. Words of the provider are not yet fit to be shown. */
export interface ProviderResponse extends Omit<ResponseBody, 'completion' | 'usage'> {
  readonly completion: Omit<Completion, 'attempts'> | null;
  /** What the answer used, with or without a completion. */
  readonly usage: Completion['usage'];
}

export interface ReadResponseOptions {
  readonly format: WireFormat;
  /** Characters that the caller needs of a text output, from its end; null for all. */
  readonly maxOutputChars: number | null;
}

/**
 * Reads the body of a provider's response: a large one on a thread, so that the event loop is not blocked.
 *
 * @throws RunError `provider_bad_response` if reading takes too much time or memory; the signal's reason when it is
 * aborted
 */
export async function readProviderResponse(
  body: Uint8Array,
  { format, maxOutputChars }: ReadResponseOptions,
  checks: CheckRunner,
  signal: AbortSignal,
): Promise<ProviderResponse> {
  if (body.byteLength <= MAX_INLINE_TEXT_CHARS) return readResponse(body, format);
  const {
    completion,
    usage: packedUsage,
    ...facts
  } = await checks.run({ kind: 'response', body, format, maxOutputChars }, signal);
  const usage = unpackSmall(packedUsage) as JsonObject | JsonText | null;
  if (completion === null) return { ...facts, usage, completion };
  const { finishReason } = completion;
  const output = unpackSmall(completion.output);
  const reasoning = unpackSmall(completion.reasoning) as string | JsonText | null;
  return { ...facts, usage, completion: { output, reasoning, usage, finishReason } };
}
