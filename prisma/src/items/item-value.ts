import { pointerSteps } from '@svc/evaluation';
import { memberText, readableJson } from '../database/values.ts';

/** Parts of an item that have a separate column. */
const COLUMNS: ReadonlySet<string> = new Set(['answer', 'checker', 'assets']);

/**
 * SQL for the JSON text of the value at a JSON Pointer in item `i`; null without one.
 *
 * @param pointer with one step at least
 * @param add adds a parameter and returns its placeholder
 */
export function itemValue(pointer: string, add: (value: unknown) => string): string {
  const [first = '', ...rest] = pointerSteps(pointer);
  const [column, steps] = COLUMNS.has(first) ? [first, rest] : ['payload', [first, ...rest]];
  return memberText(`${readableJson(`i.${column}`)} #> ${add(steps)}::text[]`);
}
