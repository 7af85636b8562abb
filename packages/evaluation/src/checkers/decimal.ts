import { canonicalNumber } from '@svc/jsonl-v23/json';

/** A decimal number, exactly: `digits` times ten to the power of minus `scale`. */
interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

/**
 * Whether two numbers, written as JSON number literals, differ by at most `tolerance`, counted exactly and
 * not in doubles: 1.1 and 1 differ by 0.1.
 */
export function isWithin(a: string, b: string, tolerance: string): boolean {
  const [x, y, limit] = [parse(a), parse(b), parse(tolerance)];
  const scale = Math.max(x.scale, y.scale, limit.scale);
  const distance = scaled(x, scale) - scaled(y, scale);
  return (distance < 0n ? -distance : distance) <= scaled(limit, scale);
}

function parse(literal: string): Decimal {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(canonicalNumber(literal));
  const [, sign = '', whole = '0', fraction = '', exponent = '0'] = match ?? [];
  return { digits: BigInt(`${sign}${whole}${fraction}`), scale: fraction.length - Number(exponent) };
}

function scaled({ digits, scale }: Decimal, to: number): bigint {
  return digits * 10n ** BigInt(to - scale);
}
