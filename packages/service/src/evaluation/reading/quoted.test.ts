import { expect, it } from 'vitest';
import { compared, quoted } from './quoted.ts';

it.each([
  ['The answer\n is  B', 0, 14, 'The answer is'],
  ['so \\boxed{B}, not A', 3, 12, '\\boxed{B}'],
  ['key sk-live-4242-abcdef here', 4, 16, 'sk-live-4242-abcdef'],
  ['key sk-live-4242-abcdef here', 12, 28, 'sk-live-4242-abcdef here'],
])('quotes words of %j', (text, start, end, expected) => {
  expect(quoted(text, start, end)).toBe(expected);
});

it('cuts a long text, but no key', () => {
  const key = `sk-${'a1'.repeat(40)}`;
  expect(quoted('word '.repeat(100))).toMatch(/^(?:word ){24}…$|^(?:word ){23}word…$/);
  expect(quoted(`${'word '.repeat(20)}${key} more`)).not.toContain('sk-');
  expect(quoted('字'.repeat(200))).toBe(`${'字'.repeat(120)}…`);
});

it('says how long a text is that it does not quote', () => {
  expect(compared('a "b"')).toBe('Compared "a \\"b\\""');
  expect(compared('x'.repeat(121))).toBe('Compared 121 characters');
});
