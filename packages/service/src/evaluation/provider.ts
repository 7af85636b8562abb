import { getMember, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import type { MarkedFiles } from './assets/marked-files.ts';
import { JsonText } from './item/canonical-text.ts';

/** A message of a conversation, in the chat-completions format, which items use as well. */
export interface ChatMessage extends JsonObject {
  readonly role: string;
  /** Text, or parts such as `{type: 'text', text}` and `{type: 'image_url', image_url: {url}}`. */
  readonly content: JsonValue;
}

/** How a conversation and its answer are written: as chat completions, or as Anthropic messages. */
export type WireFormat = 'chat_completions' | 'anthropic_messages';

export interface ProviderRequest {
  /** The conversation to continue: the members of a request body that hold it, as the JSON text of an object in UTF-8. */
  readonly conversationJson: Uint8Array;
  /** Files whose marks the conversation contains. */
  readonly files?: MarkedFiles | undefined;
  /** Characters that the caller needs of a text output, from its end. Default: all. */
  readonly maxOutputChars?: number | undefined;
}

/** Where an item holds an output: the text of its last message, or the value at a JSON Pointer (RFC 6901). */
export type OutputSource =
  | { readonly from: 'last_message' }
  | { readonly from: 'pointer'; readonly pointer: string };

export interface Completion {
  readonly output: JsonValue | JsonText;
  /** Reasoning that the provider sent with it; null, the default, without any. */
  readonly reasoning?: string | JsonText | null;
  /** Token counts as the provider reported them. */
  readonly usage: JsonObject | JsonText | null;
  /** Why the output ended, in the terms of chat completions: `stop`, `length`...; null if unknown. */
  readonly finishReason: string | null;
  /** Requests that were sent for it; null if there were none. */
  readonly attempts: number | null;
  /** How long the requests waited for their turn at the run's rate limit, in milliseconds. Default: 0. */
  readonly pacedMs?: number | undefined;
  /** The tokens of each answer to its requests, failed attempts included. Default: what `usage` says. */
  readonly answers?: readonly TokenCounts[] | undefined;
}

/** The source of the outputs that are scored. It retries by itself and takes concurrent calls. */
export interface Provider {
  /** Whether it needs `messages`. If not, an item may lack a prompt. */
  readonly usesMessages: boolean;
  /** Set by a provider that sends no requests: the output is taken from the item. */
  readonly outputSource?: OutputSource | undefined;
  /** How a conversation is written for it. Default: `chat_completions`. */
  readonly wireFormat?: WireFormat | undefined;
  /** The most tokens that its requests allow for an output. Default: unknown. */
  readonly maxOutputTokens?: number | null | undefined;
  /**
   * The SHA-256 of what a request asks, see `hashRequest`. Absent for a provider that sends no requests.
   *
   * @param repetition from 1
   */
  hashRequest?(request: ProviderRequest, repetition: number): Promise<Uint8Array>;
  /**
   * @throws RunError, with `endsRun` if every other item would fail in the same way, such as for an invalid key; the
   * signal's reason when it is aborted
   */
  complete(request: ProviderRequest, signal: AbortSignal): Promise<Completion>;
}

/** Tokens of one completion; null if the provider reported no number. */
export interface TokenCounts {
  readonly input: number | null;
  readonly output: number | null;
}

/** The largest number of an `integer` column. */
const MAX_TOKENS = 2_147_483_647;

/**
 * The tokens in a provider's usage: `prompt_tokens` and `completion_tokens` of chat completions, else `input_tokens`
 * with the tokens read from and written to a cache, and `output_tokens`, of Anthropic messages.
 */
export function tokenCounts(usage: JsonObject | JsonText | null): TokenCounts {
  if (usage === null || usage instanceof JsonText) return { input: null, output: null };
  const input = count(usage, 'input_tokens');
  const cached =
    (count(usage, 'cache_creation_input_tokens') ?? 0) + (count(usage, 'cache_read_input_tokens') ?? 0);
  return {
    input: count(usage, 'prompt_tokens') ?? (input === null ? null : Math.min(input + cached, MAX_TOKENS)),
    output: count(usage, 'completion_tokens') ?? count(usage, 'output_tokens'),
  };
}

function count(usage: JsonObject, name: string): number | null {
  const value = getMember(usage, name);
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_TOKENS
    ? value
    : null;
}
