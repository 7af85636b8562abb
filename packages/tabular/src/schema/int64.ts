/** Whether the digits of a whole number fit 64 bits with a sign. */
export function isInt64(text: string): boolean {
  if (!/^-?[0-9]{1,19}$/.test(text)) return false;
  return BigInt.asIntN(64, BigInt(text)) === BigInt(text);
}

/** Whether digits without leading zeros fit 64 bits without a sign. */
export function isUint64(digits: string): boolean {
  // Converting millions of digits takes seconds.
  return digits.length <= 20 && BigInt(digits) < 1n << 64n;
}
