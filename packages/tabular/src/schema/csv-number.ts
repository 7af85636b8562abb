import { type JsonValue, parseNumber } from '@svc/jsonl-v23/json';

const SHORT_INTEGER = /^(?:0|-?[1-9][0-9]{0,14})$/;

/** The number in a CSV field: null for infinities, undefined if it is not a number. */
export function csvNumber(text: string): JsonValue | undefined {
  // Nearly every field.
  if (SHORT_INTEGER.test(text)) return Number(text);
  const trimmed = text.trim();
  // As pandas does, only without blanks.
  if (/^[+-]?inf(?:inity)?$/i.test(text)) return null;
  const match = /^([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?$/.exec(trimmed);
  if (match === null) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent] = match;
  if (whole === '' && fraction === '') return undefined;
  const integer = whole.replace(/^0+(?=[0-9])/, '') || '0';
  const literal = `${sign === '-' ? '-' : ''}${integer}${fraction === '' ? '' : `.${fraction}`}${exponent === undefined ? '' : `e${exponent}`}`;
  try {
    return parseNumber(literal);
  } catch {
    // More digits than a number may have.
    return undefined;
  }
}
