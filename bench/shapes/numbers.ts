import type { Shape } from './shape.ts';
import { between, prose } from './text.ts';

/** Numbers in every spelling: 16 and 17 digits, exponents, zeros at the end, integers beyond 64 bits. */
export const NUMBERS: Shape = {
  name: 'numbers',
  lineBytes: 435,
  line: (next, index) => {
    const numbers = [
      next(),
      next() * 1e6,
      next() * 1e-8,
      `${(next() * 100).toFixed(2)}0`,
      `${between(next, 1, 10)}.${between(next, 1e5, 1e6)}e${between(next, -20, 40)}`,
      `${between(next, 1, 10)}E+${between(next, 2, 30)}`,
      `${between(next, 1e8, 1e9)}${between(next, 1e8, 1e9)}${between(next, 1e6, 1e7)}`,
      `9007199254${between(next, 1e6, 1e7)}`,
      between(next, -1e6, 1e6),
      `-${(next() * 1e3).toFixed(1)}`,
      `${between(next, 1e8, 1e9)}.${between(next, 1e8, 1e9)}`,
      next() * 2 - 1,
    ];
    return `{"id": ${index}, "inputs": {"prompt": "${prose(next, 60)}?", "vector": [${numbers.join(', ')}]}, "answer": ${next() * 1e3}, "meta": {"mean": ${next()}, "seed": ${between(next, 1e8, 1e9)}${between(next, 1e8, 1e9)}, "rate": ${between(next, 1, 9)}e-05}, "tags": ["numeric"]}`;
  },
};
