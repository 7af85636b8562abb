import { canonicalJson, getMember, isJsonObject, type JsonObject } from '@svc/jsonl-v23/json';
import { type ReadCompletion, readReason, withCalls } from './read-completion.ts';
import { thoughtsIn } from './read-reasoning.ts';

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
 *
 * @returns null if the body is not a message
 */
export function anthropicCompletion(body: JsonObject): ReadCompletion | null {
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
