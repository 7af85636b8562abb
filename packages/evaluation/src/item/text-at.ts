import { joinItem } from '@svc/jsonl-v23';
import type { ItemParts } from '@svc/jsonl-v23/internal';
import { findElement, findMembers, type TextRange } from './canonical-text.ts';

/** The JSON text of the value at a JSON Pointer in an item; undefined without one. Parses no values. */
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
