import { isIndex, pointerSteps } from '@svc/evaluation';
import { memberText, readableJson, readableText } from '../database/values.ts';

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
