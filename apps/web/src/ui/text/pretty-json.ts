import { ExactNumber, isJsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { formatCount } from './formats.ts';

/** JSON text with line breaks and every digit of its numbers. */
export function prettyJson(value: JsonValue | undefined, indent = ''): string {
  if (value === undefined) return '';
  if (value instanceof ExactNumber) return String(value);
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    return `[\n${value.map((one) => inner + prettyJson(one, inner)).join(',\n')}\n${indent}]`;
  }
  if (isJsonObject(value)) {
    const members = Object.entries(value).map(
      ([name, one]) => `${inner}${JSON.stringify(name)}: ${prettyJson(one, inner)}`,
    );
    return members.length === 0 ? '{}' : `{\n${members.join(',\n')}\n${indent}}`;
  }
  return JSON.stringify(value);
}

/** A text as it is, any other value as JSON text. */
export const textOrJson = (value: JsonValue | undefined): string =>
  typeof value === 'string' ? value : prettyJson(value);

/** A value as one line for a table: texts as they are, everything else as JSON. A longer one ends with its whole length. */
export function plainText(value: JsonValue | undefined, maxLength = 300): string {
  if (value === undefined || value === null) return '';
  const text = textOrJson(value);
  const isShortened = text.length > maxLength;
  const shown = isShortened ? text.slice(0, maxLength).replace(/[\ud800-\udbff]$/, '') : text;
  return shown.replaceAll(/\s+/g, ' ') + (isShortened ? `… (of ${formatCount(text.length)} characters)` : '');
}
