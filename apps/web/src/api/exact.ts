import { type JsonValue, parseJson } from '@svc/jsonl-v23/json';

/**
 * Parses a response with every digit of its numbers: those beyond 2^53 become `ExactNumber`. The type is that of the
 * document of the API.
 */
export function exact<T>(text: unknown): T {
  return parseJson(String(text)) as T;
}

/** Any JSON value, numbers with every digit. */
export type { JsonValue };
