import { expect, it } from 'vitest';
import { isCodeLike } from './is-code-like.ts';

it.each([
  ['def fib(n):\n    a, b = 0, 1\n    for _ in range(n):\n        a, b = b, a + b\n    return a', true],
  ['function f() {\n  return 1;\n}', true],
  ['SELECT *\nFROM t;\n', true],
  ['let a = 1;', false],
  ['First, I add.\nThen I multiply.\nThe answer is 4.', false],
  ['Buy:\n  - milk\n  - bread', false],
  ['```py\ndef f():\n    pass\n```', false],
  ['We know that:\n  the sum is 4.', false],
  ['', false],
])('%j: %s', (text, is) => {
  expect(isCodeLike(text)).toBe(is);
});

it('takes time that grows with the text only', () => {
  const started = performance.now();
  for (const text of [' '.repeat(1e6), ':\n  x'.repeat(1e5), 'A'.repeat(1e6), '\n'.repeat(1e6)])
    isCodeLike(text);
  expect(performance.now() - started).toBeLessThan(30_000);
});

it('is true for what is known to be code, unless it says something around it', () => {
  expect(isCodeLike('return 1', true)).toBe(true);
  expect(isCodeLike('Here it is:\n\n```python\nreturn 1\n```', true)).toBe(false);
});
