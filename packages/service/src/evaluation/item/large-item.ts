import type { Item, ItemParts } from '@svc/jsonl-v23';
import type { JsonObject } from '@svc/jsonl-v23/json';
import { RunError } from '../run-error.ts';
import { countValues, findMembers, readCanonicalText, type TextRange } from './canonical-text.ts';

/** Characters of an item, an output or a response. Up to here, posting to a thread costs more than reading inline. */
export const MAX_INLINE_TEXT_CHARS: number = 64 * 1024;
/** Values, at any depth, that a run reads of a large item. */
const MAX_ITEM_VALUES = 250_000;

/** What a run reads of the payload of an item, ... */
const MEMBERS: ReadonlySet<string> = new Set(['criteria', 'id', 'inputs', 'meta', 'type']);
/** ... and of members with any content. */
const NESTED: Readonly<Record<string, ReadonlySet<string>>> = {
  inputs: new Set(['choices', 'messages', 'prompt', 'system_prompt']),
  meta: new Set(['judge_prompt']),
};

/** Whether a thread must read an item: parsing it may take seconds. */
export function isLargeItem({ payload, answer, checker, assets }: ItemParts): boolean {
  const others = (answer?.length ?? 0) + (checker?.length ?? 0) + (assets?.length ?? 0);
  return payload.length + others > MAX_INLINE_TEXT_CHARS;
}

/**
 * Reads what a run needs of an item: `id`, `type`, `answer`, `checker`, `assets`, `criteria`, the prompts, messages and
 * choices of `inputs`, and `meta.judge_prompt`. It skips the rest.
 *
 * @throws RunError `item_too_large` if that is more than 250,000 values, before any of them is parsed
 */
export function readItem({ payload, ...parts }: ItemParts): Item {
  const values: { key: string; into: JsonObject; text: string; range: TextRange }[] = [];
  const item: Item = {};
  for (const key of ['answer', 'assets', 'checker'] as const) {
    const text = parts[key];
    if (text !== null) values.push({ key, into: item, text, range: { start: 0, end: text.length } });
  }
  for (const [key, range] of findMembers(payload, 0, MEMBERS)) {
    const nested = NESTED[key];
    if (nested === undefined) values.push({ key, into: item, text: payload, range });
    else {
      const into: JsonObject = {};
      item[key] = into;
      for (const [inner, innerRange] of findMembers(payload, range.start, nested)) {
        values.push({ key: inner, into, text: payload, range: innerRange });
      }
    }
  }
  let count = 0;
  for (const { text, range } of values) count += countValues(text, range);
  if (count > MAX_ITEM_VALUES) {
    throw new RunError(
      'item_too_large',
      `The item must have at most ${MAX_ITEM_VALUES} values that a run reads.`,
    );
  }
  for (const { key, into, text, range } of values) {
    into[key] = readCanonicalText(text.slice(range.start, range.end));
  }
  return item;
}

export function itemIdText({ payload }: ItemParts): string | null {
  const range = findMembers(payload, 0, new Set(['id'])).get('id');
  return range === undefined ? null : payload.slice(range.start, range.end);
}

export interface RunChecker {
  /** Canonical JSON text of what an item would have as its `checker`. */
  readonly json: string;
  /** `default` for items without a checker, `override` for all. */
  readonly mode: 'default' | 'override';
}

export function withChecker(parts: ItemParts, checker: RunChecker | null): ItemParts {
  if (checker === null) return parts;
  const hasOwn = parts.checker !== null && parts.checker !== 'null';
  return hasOwn && checker.mode === 'default' ? parts : { ...parts, checker: checker.json };
}
