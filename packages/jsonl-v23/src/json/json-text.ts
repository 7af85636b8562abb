import { ExactNumber } from './json-value.ts';

/**
 * Writes JSON as `JSON.stringify` does, and numbers with all their digits in every engine: `JSON.rawJSON`, which
 * `ExactNumber` uses, is missing in Node 20.
 */
export function jsonText(value: unknown, indent: number = 0): string {
  if ('rawJSON' in JSON) return JSON.stringify(value, null, indent);
  // No other text has the mark.
  const mark = Array.from(crypto.getRandomValues(new Uint32Array(4)), (word) => word.toString(36)).join('');
  const text = JSON.stringify(withMarks(value, mark), null, indent);
  return text.includes(mark) ? text.replaceAll(new RegExp(`"${mark}([-+.0-9Ee]+)${mark}"`, 'g'), '$1') : text;
}

/** A value with marked texts in place of long numbers. */
function withMarks(value: unknown, mark: string): unknown {
  if (value instanceof ExactNumber) return `${mark}${value.text}${mark}`;
  if (Array.isArray(value)) return value.map((member) => withMarks(member, mark));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withMarks(member, mark)]));
}
