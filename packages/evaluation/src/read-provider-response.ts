import type { JsonObject } from '@svc/jsonl-v23/json';
import { MAX_INLINE_TEXT_CHARS } from './item/large-item.ts';
import { readResponse } from './item/read-response.ts';
import type { JsonText } from './json-text.ts';
import type { Completion, WireFormat } from './provider.ts';
import { unpackSmall } from './scoring/packed-value.ts';
import type { CheckRunner } from './threads/check-runner.ts';

/** A response of a provider: a completion, an error with a documented code, or neither. */
export interface ProviderResponse {
  readonly completion: Omit<Completion, 'attempts'> | null;
  readonly errorCode: string | null;
  /** What the provider says about the error, as it was sent: not yet fit to be shown. */
  readonly errorText: string | null;
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
  const { completion, errorCode, errorText } = await checks.run(
    { kind: 'response', body, format, maxOutputChars },
    signal,
  );
  if (completion === null) return { completion, errorCode, errorText };
  const { output, reasoning, usage, finishReason } = completion;
  return {
    completion: {
      output: unpackSmall(output),
      reasoning: unpackSmall(reasoning) as string | JsonText | null,
      usage: unpackSmall(usage) as JsonObject | JsonText | null,
      finishReason,
    },
    errorCode,
    errorText,
  };
}
