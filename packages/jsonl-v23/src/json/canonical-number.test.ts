import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { numberLiteral, thrownBy } from '../../test/arbitrary-json.ts';
import { JsonlError } from '../errors.ts';
import { canonicalNumber } from './canonical-number.ts';

const zeros = (count: number): string => '0'.repeat(count);

/** The exact value, as an integer and a power of ten. */
function exactValue(literal: string): { readonly integer: bigint; readonly exponent: bigint } {
  const [, sign = '', integer = '', fraction = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(literal) ?? [];
  let value = BigInt(sign + integer + fraction);
  let exponent = BigInt(power) - BigInt(fraction.length);
  if (value === 0n) return { integer: 0n, exponent: 0n };
  for (; value % 10n === 0n; value /= 10n) exponent += 1n;
  return { integer: value, exponent };
}

describe('canonicalNumber', () => {
  it.each([
    // The ECMAScript form of the nearest double has the same value.
    ['0', '0'],
    ['-0', '0'],
    ['-0.0', '0'],
    ['0e999', '0'],
    ['-0.000e-999', '0'],
    ['1', '1'],
    ['-17', '-17'],
    ['1.0', '1'],
    ['4.50', '4.5'],
    ['0.1000', '0.1'],
    ['1E2', '100'],
    ['1e+2', '100'],
    ['2e-3', '0.002'],
    ['1e-7', '1e-7'],
    ['0.000001', '0.000001'],
    ['0.000000000000000000000000001', '1e-27'],
    ['1e21', '1e+21'],
    ['5e-324', '5e-324'],
    ['-1.5e300', '-1.5e+300'],
    ['0.30000000000000004', '0.30000000000000004'],
    ['1.7976931348623157e308', '1.7976931348623157e+308'],
    ['1.2345678901234566e-31', '1.2345678901234566e-31'],
    [`0.${zeros(30)}12345678901234566`, '1.2345678901234566e-31'],
    ['2.2250738585072014e-308', '2.2250738585072014e-308'],
    ['1e-323', '1e-323'],
    // It has another value: a plain decimal.
    ['333333333.33333329', '333333333.33333329'],
    ['85612521990.439193', '85612521990.439193'],
    ['0.10000000000000001', '0.10000000000000001'],
    ['8.5612521990439193E+10', '85612521990.439193'],
    [`0.${zeros(30)}12345678901234567`, `0.${zeros(30)}12345678901234567`],
    [`12345678901234567.${zeros(30)}`, '12345678901234567'],
    ['1.25e-323', `0.${zeros(322)}125`],
    ['3e-324', `0.${zeros(323)}3`],
    // Integers that their ECMAScript form equals.
    ['999999999999999', '999999999999999'],
    ['9007199254740992', '9007199254740992'],
    ['100000000000000000000', '100000000000000000000'],
    ['123456789012345680000', '123456789012345680000'],
    [`1${zeros(21)}`, '1e+21'],
    [`-1${zeros(21)}`, '-1e+21'],
    [`1${zeros(23)}`, '1e+23'],
    [`15${zeros(30)}`, '1.5e+31'],
    // Integers that it does not equal keep their digits.
    ['9007199254740993', '9007199254740993'],
    ['-9007199254740993', '-9007199254740993'],
    ['12345678901234567890', '12345678901234567890'],
    [`1${zeros(20)}1`, `1${zeros(20)}1`],
    // Over 17 digits, too large or too small for a double: a plain decimal.
    ['0.12345678901234567890123', '0.12345678901234567890123'],
    ['1234567890123456789012.5', '1234567890123456789012.5'],
    ['12345678901234567890.0', '12345678901234567890'],
    ['1.2345678901234567890e19', '12345678901234567890'],
    ['-1.23456789012345678901e2', '-123.456789012345678901'],
    ['123456789012345678901E-30', '0.000000000123456789012345678901'],
  ])('writes %s', (literal, expected) => {
    expect(canonicalNumber(literal)).toBe(expected);
  });

  it.each([
    ['an integer of 401 digits', `1${zeros(400)}`, `1${zeros(400)}`],
    ['an integer of 1,000 digits', '7'.repeat(1000), '7'.repeat(1000)],
    ['1e400', '1e400', `1${zeros(400)}`],
    ['-1.5e400', '-1.5e400', `-15${zeros(399)}`],
    ['1e-400', '1e-400', `0.${zeros(399)}1`],
    ['-1e-330', '-1e-330', `-0.${zeros(329)}1`],
    ['1e999, 1,000 digits', '1e999', `1${zeros(999)}`],
    ['1e-999, 1,000 digits', '1e-999', `0.${zeros(998)}1`],
  ])('writes out %s', (_, literal, expected) => {
    expect(canonicalNumber(literal)).toBe(expected);
  });

  it.each([
    '1e1000',
    '1e-1000',
    '1e999999999',
    '-1e-999999999999999999999',
    `0.${'1'.repeat(1000)}`,
    `1.${'1'.repeat(1000)}`,
    `1${zeros(2000)}`,
    '7'.repeat(1001),
  ])('refuses literal %# of over 1,000 digits when written out', (literal) => {
    const error = thrownBy(() => canonicalNumber(literal));
    expect(error).toBeInstanceOf(JsonlError);
    expect(error).toMatchObject({ code: 'number_too_long' });
  });

  it.each([
    '',
    '-',
    '+1',
    '01',
    '-01',
    '1.',
    '.5',
    '1e',
    '1e+',
    '1.e1',
    '0x10',
    'NaN',
    'Infinity',
    '1 ',
    ' 1',
    '1_000',
    '１',
  ])('refuses %j, which is not a JSON number', (literal) => {
    expect(thrownBy(() => canonicalNumber(literal))).toMatchObject({ code: 'invalid_json' });
  });

  it('is idempotent and keeps the value', () => {
    fc.assert(
      fc.property(numberLiteral, (literal) => {
        const text = canonicalNumber(literal);
        expect(canonicalNumber(text)).toBe(text);
        expect(Number(text) || 0).toBe(Number(literal) || 0);
        expect(exactValue(text)).toEqual(exactValue(literal));
      }),
    );
  });

  it('keeps every digit of an integer', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), (value) => {
        const text = canonicalNumber(String(value));
        const [, sign, first, fraction = '', exponent = '0'] =
          /^(-?)(\d+)(?:\.(\d+))?(?:e\+(\d+))?$/.exec(text) ?? [];
        const digits = `${first}${fraction}`.padEnd((first as string).length + Number(exponent), '0');
        expect(BigInt(sign + digits)).toBe(value);
      }),
    );
  });
});
