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

/** The reason of a completion to end. A text that does not look like a name is none. */
export function readReason(value: JsonValue | undefined): string | null {
  return typeof value === 'string' && /^[\w.-]{1,64}$/.test(value) ? value : null;
}
