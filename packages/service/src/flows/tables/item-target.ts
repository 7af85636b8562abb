import { inspectChoices } from '@svc/formats';
import { canonicalJson, type JsonObject, type JsonValue, parseJson } from '@svc/jsonl-v23/json';
import type { ItemRow } from './item-row.ts';

/** What an item is asked with and compared with, as Inspect takes it. */
export interface ItemTarget {
  /** The letters of its answer for an item with choices, else its criteria, else its answer; the first of several. */
  readonly target: string | null;
  /** Null for an item without choices. */
  readonly choices: readonly string[] | null;
}

/** Target and choices of an item. */
export function itemTarget(row: ItemRow): ItemTarget {
  const answer = readValue(row.item.answer);
  const item: JsonObject = { answer, inputs: { choices: readValue(row.input('choices')) } };
  const { choices, letters } = inspectChoices(item);
  // Null is no letter.
  if (choices.length > 0) return { target: letters.join('') || null, choices };
  const criteria = readValue(row.member('criteria'));
  const stated = Array.isArray(criteria) && criteria.length > 0 ? criteria.map(textOf).join('\n') : null;
  const first = Array.isArray(answer) ? (answer[0] ?? null) : answer;
  return { target: stated ?? (first === null ? null : textOf(first)), choices: null };
}

const readValue = (text: string | null): JsonValue =>
  text === null ? null : parseJson(text, { maxDepth: 1_000 });

const textOf = (value: JsonValue): string =>
  (typeof value === 'string' ? value : canonicalJson(value)).toWellFormed();
