import { canonicalJson, parseJson } from '@svc/jsonl-v23/json';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { times } from '../../../tools/vitest/long.ts';
import { kindOf, typeOf } from './value-kinds.ts';

/** The type of a column of one number, by what its type can hold. */
function typeOfNumber(text: string): string {
  const value = Number(text);
  if (!/^-?\d+$/.test(text)) return String(value) === text && !Number.isInteger(value) ? 'double' : 'json';
  return text.length <= 20 && BigInt.asIntN(64, BigInt(text)) === BigInt(text) ? 'int64' : 'json';
}

it('tells the type of every number from its canonical text, wherever it stands', () => {
  const digits = fc.stringMatching(/^-?(?:0|[1-9]\d{0,24})(?:\.\d{0,12}[1-9])?(?:e[+-]?\d{1,2})?$/);
  fc.assert(
    fc.property(
      fc.oneof(digits, fc.double({ noNaN: true, noDefaultInfinity: true }).map(String)),
      (literal) => {
        const text = canonicalJson(parseJson(literal));
        const bytes = Buffer.from(`[${text}]`);
        expect(typeOf(kindOf(bytes, 1, bytes.length - 1))).toBe(typeOfNumber(text));
      },
    ),
    { numRuns: times(20_000, 1_000) },
  );
});
