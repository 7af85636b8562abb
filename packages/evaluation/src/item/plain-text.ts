import { canonicalJson, type JsonValue } from '@svc/jsonl-v23/json';

/** The beginning of a text in quotes, for a message. */
export function excerpt(text: string, maxChars = 100): string {
  return JSON.stringify(text.length > maxChars ? `${text.slice(0, maxChars)}…` : text);
}

/** A JSON value as plain text: a string unchanged, any other value as canonical JSON. */
export function plainText(value: JsonValue): string {
  return typeof value === 'string' ? value : canonicalJson(value);
}
