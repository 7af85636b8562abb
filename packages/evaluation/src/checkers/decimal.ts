import { canonicalNumber } from '@svc/jsonl-v23/json';

/** An exact decimal number: `digits` × 10^−`scale`. */
interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

/**
 * Whether two JSON number literals differ by at most `tolerance`, compared exactly and not as doubles: 1.1 and 1 differ
 * by 0.1.
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
