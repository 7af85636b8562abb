import { type ProviderAnswer, RunError } from '@svc/flows';
import {
  canonicalJson,
  getMember,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '@svc/jsonl-v23';

/** The longest part of a provider's own error message that is repeated. */
const MAX_REASON_CHARS = 300;

/**
 * The answer in the body of a chat completion: the text of the first choice; where it has none, the refusal
 * or the tool calls. Usage is kept as it was reported.
 *
 * @throws RunError `provider_bad_response` when the body is not a chat completion
 */
export function readCompletion(body: string): ProviderAnswer {
  const completion = parsed(body);
  const choices = completion === undefined ? undefined : getMember(completion, 'choices');
  const choice = Array.isArray(choices) ? choices[0] : undefined;
  const message = isJsonObject(choice) ? getMember(choice, 'message') : undefined;
  if (completion === undefined || !isJsonObject(message)) {
    throw new RunError(
      'provider_bad_response',
      `The provider's answer is no chat completion: ${shortened(body)}`,
    );
  }
  const usage = getMember(completion, 'usage');
  return { output: outputOf(message), usage: isJsonObject(usage) ? usage : null };
}

/** What an error answer says of itself: its message, and its own code where it has one. */
export function readProviderError(body: string): { readonly reason: string; readonly code: string } {
  const whole = parsed(body);
  const error = whole === undefined ? undefined : (getMember(whole, 'error') ?? whole);
  if (typeof error === 'string') return { reason: shortened(error), code: '' };
  if (!isJsonObject(error)) return { reason: shortened(body), code: '' };
  const reason = getMember(error, 'message') ?? getMember(error, 'detail') ?? error;
  const code = getMember(error, 'code') ?? getMember(error, 'type');
  return {
    reason: shortened(typeof reason === 'string' ? reason : canonicalJson(reason)),
    code: typeof code === 'string' ? code : '',
  };
}

function parsed(body: string): JsonObject | undefined {
  try {
    const value = parseJson(body);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function outputOf(message: JsonObject): JsonValue {
  const content = getMember(message, 'content');
  if (typeof content === 'string' && content !== '') return content;
  if (Array.isArray(content)) {
    const texts = content.map((part) => (isJsonObject(part) ? getMember(part, 'text') : undefined));
    return texts.filter((text) => typeof text === 'string').join('');
  }
  const refusal = getMember(message, 'refusal');
  if (typeof refusal === 'string') return refusal;
  const calls = getMember(message, 'tool_calls');
  if (Array.isArray(calls) && calls.length > 0) return { tool_calls: calls };
  return '';
}

function shortened(text: string): string {
  const line = text.replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ').trim();
  if (line === '') return '(empty)';
  return line.length > MAX_REASON_CHARS ? `${line.slice(0, MAX_REASON_CHARS)}…` : line;
}
