import { canonicalJson, type JsonValue } from '@svc/jsonl-v23/json';
import { JsonText, readCanonicalText } from '../item/canonical-text.ts';
import { MAX_INLINE_TEXT_CHARS } from '../item/large-item.ts';

/**
 * A JSON value on its way between threads: a text, JSON text of any other value, or null for an absent value. Classes
 * such as `ExactNumber` do not survive a structured clone.
 */
export type PackedValue = { readonly text: string } | { readonly json: string } | null;

export function packValue(value: JsonValue | JsonText | undefined): PackedValue {
  if (value === undefined) return null;
  if (value instanceof JsonText) return { json: value.json };
  return typeof value === 'string' ? { text: value } : { json: canonicalJson(value) };
}

export function unpackValue(packed: PackedValue): JsonValue | undefined {
  if (packed === null) return undefined;
  return 'text' in packed ? packed.text : readCanonicalText(packed.json);
}

/** Packs an output so that {@link unpackSmall} leaves a long text as JSON text. */
export function packOutput(output: JsonValue): PackedValue {
  return typeof output === 'string' && output.length > MAX_INLINE_TEXT_CHARS
    ? { json: canonicalJson(output) }
    : packValue(output);
}

/** Unpacks a value, but leaves large JSON text as it is. */
export function unpackSmall(packed: PackedValue): JsonValue | JsonText {
  if (packed !== null && 'json' in packed && packed.json.length > MAX_INLINE_TEXT_CHARS) {
    return new JsonText(packed.json);
  }
  return unpackValue(packed) ?? null;
}
