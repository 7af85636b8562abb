import { getMember, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { type ReadCompletion, readReason } from './read-reason.ts';
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
 * The completion in a response of the Messages API: the texts of its content, else its tool calls, and its
 * thinking apart.
 *
 * @returns null if the body is not a message
 */
export function anthropicCompletion(body: JsonObject): ReadCompletion | null {
  const content = getMember(body, 'content');
  if (getMember(body, 'type') !== 'message' || !Array.isArray(content)) return null;
  const blocks = content.filter(isJsonObject);
  const texts = blocks.filter((block) => block['type'] === 'text').map((block) => getMember(block, 'text'));
  const output = texts.filter((text) => typeof text === 'string').join('');
  const calls: JsonValue[] = blocks.filter((block) => block['type'] === 'tool_use');
  const usage = getMember(body, 'usage');
  const reason = getMember(body, 'stop_reason');
  return {
    output: output === '' && calls.length > 0 ? { tool_calls: calls } : output,
    reasoning: thoughtsIn(content),
    usage: isJsonObject(usage) ? usage : null,
    finishReason: readReason(
      typeof reason === 'string' && Object.hasOwn(FINISH_REASONS, reason) ? FINISH_REASONS[reason] : reason,
    ),
  };
}
