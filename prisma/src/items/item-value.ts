import { isIndex, pointerSteps } from '@svc/evaluation';
import { memberText, readableJson, readableText, searchableText } from '../database/values.ts';

/** Parts of an item that have a separate column. */
const COLUMNS: ReadonlySet<string> = new Set(['answer', 'checker', 'assets']);

/** What `#>` takes for the index of an element, `-1` for the last one. */
const NUMBER = /^\s*[+-]?\d+$/;

/**
 * SQL for the JSON text of the value at a JSON Pointer in item `i`; null without one.
 *
 * @param pointer with one step at least
 * @param add adds a parameter and returns its placeholder
 */
export function itemValue(pointer: string, add: (value: unknown) => string): string {
  const [first = '', ...rest] = pointerSteps(pointer);
  const [column, steps] = COLUMNS.has(first) ? [first, rest] : ['payload', [first, ...rest]];
  let value = readableJson(`i.${column}`);
  let path: string[] = [];
  for (const step of steps.map(readableText)) {
    if (isIndex(step) || !NUMBER.test(step)) path.push(step);
    else {
      value = `(${value} #> ${add(path)}::text[] -> ${add(step)}::text)`;
      path = [];
    }
  }
  return memberText(`${value} #> ${add(path)}::text[]`);
}

/** A value of an item: a JSON Pointer into it, and a text, number, boolean or null as text. */
export interface StatedValue {
  readonly pointer: string;
  readonly value: string;
}

/** SQL that says whether item `i` has a value. */
export function hasValue({ pointer, value }: StatedValue, add: (value: unknown) => string): string {
  const found = itemValue(pointer, add);
  const text = searchableText(value);
  const stated = [add(JSON.stringify(text)), add(text)];
  // To find the value anywhere in the item costs a fraction of reading it.
  const hasEscapes = JSON.stringify(text) !== `"${text}"`;
  const [first = ''] = pointerSteps(pointer);
  const column = COLUMNS.has(first) ? first : 'payload';
  const isAnywhere = (hasEscapes ? stated : stated.slice(1))
    .map((one) => `position(${one}::text IN i.${column}::text) > 0`)
    .join(' OR ');
  return `CASE WHEN ${isAnywhere} THEN ${found} IN (${stated.join(', ')}) ELSE false END`;
}
