import {
  canonicalJson,
  getMember,
  isJsonObject,
  JsonlError,
  type JsonObject,
  type JsonValue,
  parseJson,
  replacePythonLiterals,
} from '@svc/jsonl-v23/json';
import { tokenCounts, type WireFormat } from '../provider.ts';
import { failureOf } from './read-failure.ts';

/** Reasons to stop in the terms of chat completions; others keep their name. */
const FINISH_REASONS: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
};

/**
 * The completion in a response of the Messages API: the texts of its content, its tool calls as chat completions have them,
 * and its thinking apart.
 */
function anthropicCompletion(body: JsonObject): ReadCompletion | null {
  const content = getMember(body, 'content');
  if (getMember(body, 'type') !== 'message' || !Array.isArray(content)) return null;
  const blocks = content.filter(isJsonObject);
  const texts = blocks.filter((block) => block['type'] === 'text').map((block) => getMember(block, 'text'));
  const output = texts.filter((text) => typeof text === 'string').join('');
  const calls = blocks.filter((block) => block['type'] === 'tool_use').map(toCall);
  const usage = getMember(body, 'usage');
  const reason = getMember(body, 'stop_reason');
  return {
    output: withCalls(output, calls),
    reasoning: thoughtsIn(content),
    usage: isJsonObject(usage) ? usage : null,
    finishReason: readReason(
      typeof reason === 'string' && Object.hasOwn(FINISH_REASONS, reason) ? FINISH_REASONS[reason] : reason,
    ),
  };
}

function toCall(block: JsonObject): JsonObject {
  const name = getMember(block, 'name') ?? null;
  const call = { name, arguments: canonicalJson(getMember(block, 'input') ?? {}) };
  return { id: getMember(block, 'id') ?? null, type: 'function', function: call };
}

/** Characters that are read of a message; the service shows far fewer. */
const MAX_CHARS = 20_000;
const MAX_PROBLEMS = 10;

/**
 * What a provider says about an error, in the forms that providers use: `error.message`, `error_description`, `message`,
 * `detail`, `detail[].msg` (FastAPI), `error` as text (Ollama, TGI), and an array of one error (Gemini).
 */
function providerWords(body: JsonValue): string | null {
  const [only] = Array.isArray(body) ? body : [body];
  if (!isJsonObject(only)) return null;
  const error = getMember(only, 'error');
  const detail = getMember(only, 'detail');
  const texts = [
    isJsonObject(error) ? getMember(error, 'message') : undefined,
    getMember(only, 'error_description'),
    getMember(only, 'message'),
    detail,
    Array.isArray(detail) ? problemsOf(detail) : undefined,
    error,
  ];
  const found = texts.find((text): text is string => typeof text === 'string' && text.trim() !== '');
  return found === undefined ? null : cutAtSpace(found);
}

function problemsOf(detail: readonly JsonValue[]): string {
  const problems = detail.slice(0, MAX_PROBLEMS).filter(isJsonObject).map(problemOf);
  return problems.filter((text) => text !== '').join('; ');
}

/** `loc` is the path of the member that has the problem. */
function problemOf(problem: JsonObject): string {
  const message = getMember(problem, 'msg');
  if (typeof message !== 'string') return '';
  const loc = getMember(problem, 'loc');
  const path = Array.isArray(loc)
    ? loc.filter((step) => typeof step === 'string' || typeof step === 'number')
    : [];
  return path.length === 0 ? message : `${path.join('.')}: ${message}`;
}

/** A cut inside a word could leave a part of a secret that nothing recognises. */
function cutAtSpace(text: string): string {
  if (text.length <= MAX_CHARS) return text;
  const end = Math.max(text.lastIndexOf(' ', MAX_CHARS), text.lastIndexOf('\n', MAX_CHARS));
  return text.slice(0, Math.max(0, end));
}

/** What stands for `NaN` and `Infinity`, until it is known that nothing uses them. */
const NO_NUMBER = '\0NaN\0';

/**
 * Reads the body of a response. Of chat completions, the output is the text of the first choice; without one, the
 * refusal or the tool calls. Usage stays as the provider reported it. `NaN` and `Infinity`, which are no JSON, are null
 * if nothing uses them.
 *
 * @param bytes UTF-8; never throws, whatever they contain
 */
export function readResponse(bytes: Uint8Array, format: WireFormat) {
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
    /** Null if the body is not a completion in the format of the provider, or holds an error. */
    completion: isUsable ? { ...read, usage } : null,
    failure: failure && { statusCode: failure.statusCode, code: failure.code },
    /** What the provider says about an error, as it was sent. */
    errorText: isUsable ? null : providerWords(error === null ? parsed : { error }),
    usage,
    /** Of an answer, with or without a completion; null if the body is no answer. */
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

/** An answer with a repeated key has been paid for. Like other clients, this keeps the last of its members. */
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

interface ReadCompletion {
  readonly output: JsonValue;
  /** Reasoning that the provider sent with it; null without any. */
  readonly reasoning: string | null;
  readonly usage: JsonObject | null;
  readonly finishReason: string | null;
}

/** The output of a message: its text; `{tool_calls}` if it only calls tools, and `{content, tool_calls}` if it does both. */
function withCalls(text: string, calls: readonly JsonValue[]): JsonValue {
  if (calls.length === 0) return text;
  return text === '' ? { tool_calls: [...calls] } : { content: text, tool_calls: [...calls] };
}

/** Why a completion ended. A text that does not look like a name is no reason. */
function readReason(value: JsonValue | undefined): string | null {
  return typeof value === 'string' && /^[\w.-]{1,64}$/.test(value) ? value : null;
}

/**
 * What a model thought, if a server sends it with the answer: as `reasoning_content` (DeepSeek, llama.cpp, vLLM),
 * `reasoning` (OpenRouter, Ollama, vLLM), `reasoning_details` (OpenRouter), or in parts of its content (Mistral).
 */
function reasoningOf(message: JsonObject): string | null {
  for (const name of ['reasoning_content', 'reasoning']) {
    const text = getMember(message, name);
    if (typeof text === 'string' && text !== '') return text;
  }
  return thoughtsIn(getMember(message, 'reasoning_details')) ?? thoughtsIn(getMember(message, 'content'));
}

/** Whether a part of a message is no answer. */
function isThought(part: JsonValue): part is JsonObject {
  const type = isJsonObject(part) ? getMember(part, 'type') : undefined;
  return typeof type === 'string' && /^(?:thinking$|reasoning)/.test(type);
}

/** The texts of the thoughts among parts; null without any. Thoughts that a provider encrypts or hides do not count. */
function thoughtsIn(parts: JsonValue | undefined): string | null {
  if (!Array.isArray(parts)) return null;
  const texts = parts.filter(isThought).map((part) => {
    const names = ['thinking', 'text', 'summary'].map((name) => getMember(part, name));
    return thoughtText(names.find((value) => value != null && value !== ''));
  });
  return texts.filter((text) => text !== '').join('\n\n') || null;
}

function thoughtText(value: JsonValue | undefined): string {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return '';
  const texts = value.map((part) => (isJsonObject(part) ? getMember(part, 'text') : undefined));
  return texts.filter((text) => typeof text === 'string').join('');
}
