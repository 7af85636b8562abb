import { jsonText } from '@svc/jsonl-v23/internal';
import { ExactNumber } from '@svc/jsonl-v23/json';
import { printableText } from './format.ts';

const MAX_STRING_LENGTH = 200;
const MAX_ENTRIES = 20;

/**
 * Formats a JSON value over several lines for people: cuts long strings, lists and objects, with a mark, and escapes
 * everything that could move the cursor.
 */
export function sampleText(value: unknown, indent: string): string {
  const text = printableText(jsonText(shortened(value), 2), { keepLines: true });
  return `${indent}${text.replaceAll('\n', `\n${indent}`)}\n`;
}

function shortened(value: unknown): unknown {
  if (typeof value === 'string') {
    if (value.length <= MAX_STRING_LENGTH) return value;
    return `${value.slice(0, MAX_STRING_LENGTH).toWellFormed()}... (${value.length} characters)`;
  }
  if (Array.isArray(value)) {
    const entries = value.slice(0, MAX_ENTRIES).map(shortened);
    return value.length > MAX_ENTRIES ? [...entries, `... (${value.length} entries)`] : entries;
  }
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return value;
  const entries = Object.entries(value);
  const shown = entries.slice(0, MAX_ENTRIES).map(([key, member]) => [key, shortened(member)] as const);
  if (entries.length > MAX_ENTRIES) shown.push(['...', `(${entries.length} keys)`]);
  return Object.fromEntries(shown);
}
