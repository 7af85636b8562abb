import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { JsonlError } from '../src/errors.ts';
import { canonicalNumber } from '../src/json/canonical-number.ts';

const PROGRAM = fileURLToPath(new URL('../../../conformance/numbers/canonical_number.py', import.meta.url));
const LITERALS = 100_000;
const hasPython = spawnSync('python3', ['--version']).status === 0;

/** Numbers in [0, 1) from a seed: mulberry32. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Literals as programs and people write them: doubles of any size, their neighbours, long digits, exponents. */
function* literals(count: number, random: () => number): Generator<string> {
  const below = (bound: number): number => Math.floor(random() * bound);
  const digits = (length: number): string => Array.from({ length }, () => below(10)).join('');
  const bits = new DataView(new ArrayBuffer(8));
  const anyDouble = (): number => {
    for (;;) {
      bits.setUint32(0, below(2 ** 32));
      bits.setUint32(4, below(2 ** 32));
      const double = bits.getFloat64(0);
      if (Number.isFinite(double)) return double;
    }
  };
  const kinds: readonly (() => string)[] = [
    () => String(anyDouble()).replace('e+', ['e', 'E', 'e+'][below(3)] as string),
    () => anyDouble().toExponential(17 + below(4)),
    () => String(random() * 10 ** below(20)),
    () => `${1 + below(9)}${digits(below(40))}`,
    () => `-${below(10)}.${digits(1 + below(25))}`,
    () => `${below(10)}.${digits(1 + below(19))}e${below(2) === 0 ? '-' : ''}${below(420)}`,
    () => `${1 + below(9)}${digits(below(20))}${'0'.repeat(below(30))}.${digits(1 + below(3))}0`,
    () => `${below(100)}e${below(2200) - 1100}`,
  ];
  for (let index = 0; index < count; index += 1) yield (kinds[below(kinds.length)] as () => string)();
}

function written(literal: string): string {
  try {
    return canonicalNumber(literal);
  } catch (error) {
    if (error instanceof JsonlError) return error.code;
    throw error;
  }
}

it.skipIf(!hasPython)(`writes ${LITERALS} numbers as an independent program in Python does`, () => {
  const given = [...literals(LITERALS, randomFrom(20))];
  const { stdout, stderr, status } = spawnSync('python3', [PROGRAM], {
    input: `${given.join('\n')}\n`,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  expect([status, stderr]).toEqual([0, '']);
  const expected = stdout.trimEnd().split('\n');
  expect(expected).toHaveLength(given.length);
  const different = given.flatMap((literal, index) => {
    const ours = written(literal);
    return ours === expected[index] ? [] : [{ literal, ours, expected: expected[index] }];
  });
  expect(different).toEqual([]);
});
