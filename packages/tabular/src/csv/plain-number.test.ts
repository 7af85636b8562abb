import { canonicalJson } from '@svc/jsonl-v23/json';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { times } from '../../../../tools/vitest/long.ts';
import { csvNumber } from '../scalars/numbers.ts';
import { csvKind } from './infer-pandas.ts';
import { isTruth, numberKind, plainNumberKind } from './plain-number.ts';

const digits = fc.string({ unit: fc.constantFrom(...'0012345678999'), maxLength: 24 });
const field = fc.oneof(
  fc
    .tuple(
      fc.constantFrom('', '-', '+'),
      digits,
      fc.constantFrom('', '.', '.0'),
      digits,
      fc.constantFrom('', 'e', 'E+', 'e-'),
      digits,
    )
    .map((parts) => parts.join('')),
  fc.double().map(String),
  fc.bigInt().map(String),
  fc.mixedCase(fc.constantFrom('true', 'false', 'tru', 'trues', 'f', 'fa', 'falsey', 'nul', '')),
);

/** What `read` says of a field between other bytes. */
function of<T>(text: string, read: (bytes: Uint8Array, start: number, end: number) => T): T {
  const bytes = new TextEncoder().encode(`9${text}9`);
  return read(bytes, 1, bytes.length - 1);
}

describe('the kinds of fields', () => {
  it('are those of their texts, where bytes tell them', () => {
    fc.assert(
      fc.property(field, (text) => {
        const kind = csvKind(text);
        expect([null, kind]).toContain(of(text, numberKind));
        expect(of(text, isTruth)).toBe(kind === 'bool');
        const plain = of(text, plainNumberKind);
        if (plain === null) return;
        expect(plain).toBe(kind);
        expect(canonicalJson(csvNumber(text) ?? null)).toBe(text);
      }),
      { numRuns: times(5000, 1000) },
    );
  });

  it.each(['0', '7', '-12.5', '123456789012345678', '0.000001', '3.141592653589793'])(
    'are found for %s',
    (text) => {
      expect(of(text, plainNumberKind)).toBe(csvKind(text));
    },
  );

  it.each(['1.50', '-0', '1e5', '0.00E-3', '0.0000001'])(
    'are found for %s, which has another canonical text',
    (text) => {
      expect(of(text, plainNumberKind)).toBeNull();
      expect(of(text, numberKind)).toBe(csvKind(text));
    },
  );
});
