import { replacePythonLiterals } from '@svc/jsonl-v23/internal';
import {
  getMember,
  isJsonObject,
  JsonlError,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '@svc/jsonl-v23/json';
import type { WireFormat } from '../provider.ts';
import { type TokenCounts, tokenCounts } from '../token-counts.ts';
import { providerWords } from './provider-words.ts';
import { anthropicCompletion } from './read-anthropic-response.ts';
import { type ReadCompletion, readReason, withCalls } from './read-completion.ts';
import { failureOf, type ResponseFailure } from './read-failure.ts';
import { isThought, reasoningOf } from './read-reasoning.ts';

/** The body of a response. */
export interface ResponseBody {
  /** Null if the body is not a completion in the format of the provider, or holds an error. */
  readonly completion: ReadCompletion | null;
  /** The error that the body holds; null without one. */
  readonly failure: Pick<ResponseFailure, 'statusCode' | 'code'> | null;
  /** What the provider says about an error, as it was sent; null without it, or with a completion. */
  readonly errorText: string | null;
  /** What the answer has used, as it was reported; null without it. */
  readonly usage: JsonObject | null;
  /** The tokens of an answer, with or without a completion; null if the body is no answer. */
  readonly tokens: TokenCounts | null;
}

/** What stands for `NaN` and `Infinity`, until it is known that nothing uses them. */
const NO_NUMBER = '\0NaN\0';

/**
 * Reads the body of a response. Of chat completions, the output is the text of the first choice; without one, the
 * refusal or the tool calls. Usage stays as it was reported. `NaN` and `Infinity`, which are no JSON, are null where
 * nothing uses them.
 *
 * @param bytes UTF-8; never throws, whatever they contain
 */
export function readResponse(bytes: Uint8Array, format: WireFormat): ResponseBody {
  const parsed = parseBody(new TextDecoder().decode(bytes));
  const body = Array.isArray(parsed) ? parsed[0] : parsed;
  if (!isJsonObject(body)) {
    return { completion: null, failure: null, errorText: providerWords(parsed), usage: null, tokens: null };
  }
  const failure = failureOf(body);
  const read = format === 'anthropic_messages' ? anthropicCompletion(body) : completionOf(body);
  const isUsable = read !== null && failure === null && !holdsNoNumber({ ...read, usage: null });
  const reported = getMember(body, 'usage') ?? null;
  const usage = isJsonObject(reported) ? (withoutNoNumbers(reported) as JsonObject) : null;
  const error = failure?.ofChoice ?? null;
  return {
    completion: isUsable ? { ...read, usage } : null,
    failure: failure && { statusCode: failure.statusCode, code: failure.code },
    errorText: isUsable ? null : providerWords(error === null ? parsed : { error }),
    usage,
    tokens: reported === null && read === null ? null : tokenCounts(usage),
  };
}

function parseBody(text: string): JsonValue {
  const parsed = parseOnce(text);
  if (parsed !== null) return parsed;
  const replaced = replacePythonLiterals(text, JSON.stringify(NO_NUMBER));
  return replaced === text ? null : parseOnce(replaced);
}

function parseOnce(text: string): JsonValue {
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

function holdsNoNumber(value: JsonValue): boolean {
  if (typeof value === 'string') return value.includes(NO_NUMBER);
  if (Array.isArray(value)) return value.some(holdsNoNumber);
  return isJsonObject(value) && Object.values(value).some(holdsNoNumber);
}

function withoutNoNumbers(value: JsonValue): JsonValue {
  if (value === NO_NUMBER) return null;
  if (Array.isArray(value)) return value.map(withoutNoNumbers);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutNoNumbers(member)]));
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
  const calls = getMember(message, 'tool_calls');
  return withCalls(textOf(message), Array.isArray(calls) ? calls : []);
}

function textOf(message: JsonObject): string {
  const content = getMember(message, 'content');
  if (typeof content === 'string' && content !== '') return content;
  if (Array.isArray(content)) {
    const texts = content.map((part) =>
      isJsonObject(part) && !isThought(part) ? getMember(part, 'text') : undefined,
    );
    return texts.filter((text) => typeof text === 'string').join('');
  }
  const declined = getMember(message, 'refusal');
  return typeof declined === 'string' ? declined : '';
}
