import { canonicalJson, type JsonValue } from '@svc/jsonl-v23/json';

/** A JSON value as plain text: a string unchanged, any other value as canonical JSON. */
export function plainText(value: JsonValue): string {
  return typeof value === 'string' ? value : canonicalJson(value);
}
