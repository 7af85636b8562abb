import { type JsonValue, parseNumber } from '@svc/jsonl-v23/json';

export function wholeNumber(value: bigint): JsonValue {
  const nearest = Number(value);
  return Number.isSafeInteger(nearest) ? nearest : parseNumber(value.toString());
}

/** Parquet, DECIMAL: the unscaled value as big-endian two's complement. */
export function signedInteger(bytes: Uint8Array): bigint {
  if (bytes.length === 0) return 0n;
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return BigInt.asIntN(bytes.length * 8, value);
}

/** An unscaled number with its point: 12345 of scale 2 is 123.45, of scale -1 it is 123450. */
export function decimalText(unscaled: bigint, scale: number): string {
  if (scale <= 0) return (unscaled * 10n ** BigInt(-scale)).toString();
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, '0');
  const text = `${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
  return unscaled < 0n ? `-${text}` : text;
}

export function isInt64(text: string): boolean {
  if (!/^-?[0-9]{1,19}$/.test(text)) return false;
  return BigInt.asIntN(64, BigInt(text)) === BigInt(text);
}

/** Whether digits without leading zeros fit 64 bits without a sign. */
export function isUint64(digits: string): boolean {
  // Converting millions of digits takes seconds.
  return digits.length <= 20 && BigInt(digits) < 1n << 64n;
}

const SHORT_INTEGER = /^(?:0|-?[1-9][0-9]{0,14})$/;
/** A longer text has more digits than a number may have. */
export const MAX_NUMBER_LENGTH = 2048;

/** The number in a CSV field: null for infinities, undefined if it is not a number. */
export function csvNumber(text: string): JsonValue | undefined {
  // Nearly every field.
  if (SHORT_INTEGER.test(text)) return Number(text);
  if (text.length > MAX_NUMBER_LENGTH) return undefined;
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
