import { describeText } from './describe-text.ts';
import { ExactNumber } from './json-value.ts';

/** What a value is, for a message: `null`, `the number 5`, `the string "abc"`, `an array`, `an object`. */
export function describeValue(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return `the number ${value}`;
  if (typeof value === 'string') return `the string ${describeText(value)}`;
  if (value instanceof ExactNumber) return `the number ${value.text.slice(0, 100)}`;
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : typeof value;
}
