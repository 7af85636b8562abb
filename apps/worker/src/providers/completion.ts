import type { Completion } from '@svc/evaluation';
import { getMember, isJsonObject, type JsonObject, type JsonValue, parseJson } from '@svc/jsonl-v23/json';

/**
 * The answer in the body of a chat completion: the text of the first choice; where it has none, the refusal
 * or the tool calls. Usage is kept as it was reported. Undefined when the body is not a chat completion.
 */
export function readCompletion(body: string): Completion | undefined {
  const completion = parsed(body);
  const choices = completion === undefined ? undefined : getMember(completion, 'choices');
  const choice = Array.isArray(choices) ? choices[0] : undefined;
  const message = isJsonObject(choice) ? getMember(choice, 'message') : undefined;
  if (completion === undefined || !isJsonObject(message)) return undefined;
  const usage = getMember(completion, 'usage');
  return { output: outputOf(message), usage: isJsonObject(usage) ? usage : null };
}

/** Codes of errors that providers of this protocol document. */
const KNOWN_ERROR_CODES: ReadonlySet<string> = new Set([
  'account_deactivated',
  'authentication_error',
  'billing_hard_limit_reached',
  'billing_not_active',
  'content_filter',
  'content_policy_violation',
  'context_length_exceeded',
  'insufficient_quota',
  'invalid_api_key',
  'invalid_request_error',
  'invalid_value',
  'model_not_found',
  'overloaded_error',
  'permission_error',
  'rate_limit_exceeded',
  'server_error',
  'string_above_max_length',
  'unsupported_parameter',
  'unsupported_value',
]);

/** The code in the body of an error answer, where it is a documented one; nothing else of the body may be repeated. */
export function readErrorCode(body: string): string | undefined {
  const whole = parsed(body);
  const error = whole === undefined ? undefined : (getMember(whole, 'error') ?? whole);
  if (!isJsonObject(error)) return undefined;
  const codes = [getMember(error, 'code'), getMember(error, 'type')];
  return codes.find((code): code is string => typeof code === 'string' && KNOWN_ERROR_CODES.has(code));
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
