import { getMember, isJsonObject, type JsonObject, type JsonValue, parseJson } from '@svc/jsonl-v23/json';

/** The body of a response of the chat-completions protocol. */
export interface ResponseBody {
  /** Null if the body is not a chat completion. */
  readonly completion: { readonly output: JsonValue; readonly usage: JsonObject | null } | null;
  /** The code of an error, if it is a documented one; null otherwise. Nothing else of an error may be repeated. */
  readonly errorCode: string | null;
}

/** Error codes that providers of this protocol document. */
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

/**
 * Reads the body of a response. The output is the text of the first choice; without one, the refusal or the tool calls.
 * Usage stays as it was reported.
 *
 * @param bytes UTF-8; never throws, whatever they contain
 */
export function readResponse(bytes: Uint8Array): ResponseBody {
  const body = parseObject(new TextDecoder().decode(bytes));
  return body === undefined
    ? { completion: null, errorCode: null }
    : { completion: completionOf(body), errorCode: errorCodeOf(body) };
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value = parseJson(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function completionOf(body: JsonObject): ResponseBody['completion'] {
  const choices = getMember(body, 'choices');
  const choice = Array.isArray(choices) ? choices[0] : undefined;
  const message = isJsonObject(choice) ? getMember(choice, 'message') : undefined;
  if (!isJsonObject(message)) return null;
  const usage = getMember(body, 'usage');
  return { output: outputOf(message), usage: isJsonObject(usage) ? usage : null };
}

function outputOf(message: JsonObject): JsonValue {
  const content = getMember(message, 'content');
  if (typeof content === 'string' && content !== '') return content;
  if (Array.isArray(content)) {
    const texts = content.map((part) => (isJsonObject(part) ? getMember(part, 'text') : undefined));
    return texts.filter((text) => typeof text === 'string').join('');
  }
  const declined = getMember(message, 'refusal');
  if (typeof declined === 'string') return declined;
  const calls = getMember(message, 'tool_calls');
  if (Array.isArray(calls) && calls.length > 0) return { tool_calls: calls };
  return '';
}

function errorCodeOf(body: JsonObject): string | null {
  const error = getMember(body, 'error') ?? body;
  if (!isJsonObject(error)) return null;
  const codes = [getMember(error, 'code'), getMember(error, 'type')];
  return (
    codes.find((code): code is string => typeof code === 'string' && KNOWN_ERROR_CODES.has(code)) ?? null
  );
}
