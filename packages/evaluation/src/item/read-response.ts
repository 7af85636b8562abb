import {
  getMember,
  isJsonObject,
  JsonlError,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '@svc/jsonl-v23/json';
import type { WireFormat } from '../provider.ts';
import { providerWords } from './provider-words.ts';
import { anthropicCompletion } from './read-anthropic-response.ts';
import { type ReadCompletion, readReason } from './read-reason.ts';
import { isThought, reasoningOf } from './read-reasoning.ts';

/** The body of a response. */
export interface ResponseBody {
  /** Null if the body is not a completion in the format of the provider. */
  readonly completion: ReadCompletion | null;
  /** The code of an error, if it is a documented one; null otherwise. */
  readonly errorCode: string | null;
  /** What the provider says about an error, as it was sent; null without it, or with a completion. */
  readonly errorText: string | null;
}

/** Error codes that providers of this protocol document. */
const KNOWN_ERROR_CODES: ReadonlySet<string> = new Set([
  'account_deactivated',
  'api_error',
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
  'not_found_error',
  'overloaded_error',
  'permission_error',
  'rate_limit_error',
  'rate_limit_exceeded',
  'request_too_large',
  'server_error',
  'string_above_max_length',
  'timeout_error',
  'unsupported_parameter',
  'unsupported_value',
]);

/**
 * Reads the body of a response. Of chat completions, the output is the text of the first choice; without one, the
 * refusal or the tool calls. Usage stays as it was reported.
 *
 * @param bytes UTF-8; never throws, whatever they contain
 */
export function readResponse(bytes: Uint8Array, format: WireFormat): ResponseBody {
  const parsed = parseBody(new TextDecoder().decode(bytes));
  const errorText = providerWords(parsed);
  const body = Array.isArray(parsed) ? parsed[0] : parsed;
  if (!isJsonObject(body)) return { completion: null, errorCode: null, errorText };
  const completion = format === 'anthropic_messages' ? anthropicCompletion(body) : completionOf(body);
  return {
    completion,
    errorCode: errorCodeOf(body),
    errorText: completion === null ? errorText : null,
  };
}

function parseBody(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch (error) {
    const isRepeated = error instanceof JsonlError && error.code === 'duplicate_key';
    return isRepeated ? parseRepeated(text) : null;
  }
}

/** An answer with a repeated key has been paid for: as other clients do, this keeps the last of its members. */
function parseRepeated(text: string): JsonValue {
  try {
    return parseJson(JSON.stringify(JSON.parse(text)));
  } catch {
    return null;
  }
}

function completionOf(body: JsonObject): ReadCompletion | null {
  const choices = getMember(body, 'choices');
  const choice = Array.isArray(choices) ? choices[0] : undefined;
  const message = isJsonObject(choice) ? getMember(choice, 'message') : undefined;
  if (!isJsonObject(message)) return null;
  const usage = getMember(body, 'usage');
  return {
    output: outputOf(message),
    reasoning: reasoningOf(message),
    usage: isJsonObject(usage) ? usage : null,
    finishReason: isJsonObject(choice) ? readReason(getMember(choice, 'finish_reason')) : null,
  };
}

function outputOf(message: JsonObject): JsonValue {
  const content = getMember(message, 'content');
  if (typeof content === 'string' && content !== '') return content;
  if (Array.isArray(content)) {
    const texts = content.map((part) =>
      isJsonObject(part) && !isThought(part) ? getMember(part, 'text') : undefined,
    );
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
