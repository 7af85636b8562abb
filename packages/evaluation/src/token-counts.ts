import { getMember, type JsonObject } from '@svc/jsonl-v23/json';
import { JsonText } from './json-text.ts';

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
