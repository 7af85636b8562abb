import type { JsonObject, JsonValue } from '@svc/jsonl-v23/json';

/** A completion in the body of a response. */
export interface ReadCompletion {
  readonly output: JsonValue;
  /** Reasoning that the provider sent with it; null without any. */
  readonly reasoning: string | null;
  readonly usage: JsonObject | null;
  /** In the terms of chat completions. */
  readonly finishReason: string | null;
}

/**
 * The output of a message: its text; `{tool_calls}` if it only calls tools, and `{content, tool_calls}` if it does both.
 *
 * @param calls as chat completions have them
 */
export function withCalls(text: string, calls: readonly JsonValue[]): JsonValue {
  if (calls.length === 0) return text;
  return text === '' ? { tool_calls: [...calls] } : { content: text, tool_calls: [...calls] };
}

/** Why a completion ended. A text that does not look like a name is no reason. */
export function readReason(value: JsonValue | undefined): string | null {
  return typeof value === 'string' && /^[\w.-]{1,64}$/.test(value) ? value : null;
}
