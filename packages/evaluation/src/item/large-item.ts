import { type Item, joinItem } from '@svc/jsonl-v23';
import type { ItemParts } from '@svc/jsonl-v23/internal';
import type { JsonObject } from '@svc/jsonl-v23/json';
import { RunError } from '../run-error.ts';
import {
  countValues,
  findElement,
  findMembers,
  readCanonicalText,
  type TextRange,
} from './canonical-text.ts';

/** Characters of an item, and of an output, that are read sooner than a thread is asked. */
export const MAX_INLINE_TEXT_CHARS: number = 64 * 1024;
/** Values of what a run reads of a large item, members of lists and objects at any depth. */
const MAX_ITEM_VALUES = 250_000;

/** What a run reads of an item beside its own parts, ... */
const MEMBERS: ReadonlySet<string> = new Set(['criteria', 'id', 'inputs', 'meta', 'type']);
/** ... and of members that hold anything. */
const NESTED: Readonly<Record<string, ReadonlySet<string>>> = {
  inputs: new Set(['choices', 'messages', 'prompt', 'system_prompt']),
  meta: new Set(['judge_prompt']),
};

/** Whether a thread has to read an item: its values may take seconds to make. */
export function isLargeItem({ payload, answer, checker, assets }: ItemParts): boolean {
  const others = (answer?.length ?? 0) + (checker?.length ?? 0) + (assets?.length ?? 0);
  return payload.length + others > MAX_INLINE_TEXT_CHARS;
}

/** Reads an item as a whole. For one that is not large. */
export function readItem(parts: ItemParts): Item {
  // stored items are checked and normal: only their text has to be read
  return readCanonicalText(joinItem(parts)) as Item;
}

/**
 * Reads what a run needs of an item: `id`, `type`, `answer`, `checker`, `assets`, `criteria`, the prompts, messages and
 * choices of `inputs`, and `meta.judge_prompt`. Nothing is made of the rest.
 *
 * @throws RunError `item_too_large` when that is more than 250,000 values, before any of them is made
 */
export function readLargeItem({ payload, ...parts }: ItemParts): Item {
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
      `The item must have at most ${MAX_ITEM_VALUES} values for a run to read, beside those that runs do not use`,
    );
  }
  for (const { key, into, text, range } of values) {
    into[key] = readCanonicalText(text.slice(range.start, range.end));
  }
  return item;
}

/** The JSON text of an item's id; null where it has none. */
export function itemIdText({ payload }: ItemParts): string | null {
  const range = findMembers(payload, 0, new Set(['id'])).get('id');
  return range === undefined ? null : payload.slice(range.start, range.end);
}

/** The JSON text of what stands at a JSON Pointer in an item; undefined where nothing does. Makes no values. */
export function textAt(parts: ItemParts, pointer: string): string | undefined {
  const [first, ...rest] = pointerSteps(pointer);
  if (first === undefined) return joinItem(parts);
  const isPart = first === 'answer' || first === 'assets' || first === 'checker';
  const text = isPart ? parts[first] : parts.payload;
  if (text === null) return undefined;
  let range: TextRange | undefined = { start: 0, end: text.length };
  for (const step of isPart ? rest : [first, ...rest]) {
    if (range === undefined) return undefined;
    range = text.startsWith('[', range.start)
      ? isIndex(step)
        ? findElement(text, range.start, Number(step))
        : undefined
      : findMembers(text, range.start, new Set([step])).get(step);
  }
  return range === undefined ? undefined : text.slice(range.start, range.end);
}

/** The steps of a JSON Pointer (RFC 6901). */
export function pointerSteps(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Whether a step of a JSON Pointer can be the index of an element. */
export function isIndex(step: string): boolean {
  return /^(?:0|[1-9]\d*)$/.test(step);
}
