import { type JsonValue, parseNumber } from '@svc/jsonl-v23/json';

/** A whole number with every digit. */
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
