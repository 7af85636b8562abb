import { expect, it } from 'vitest';
import { plainText } from './pretty-json.ts';

it.each([
  ['ab\n c', 'ab c'],
  ['a'.repeat(10), 'aaaaaaaaaa'],
  ['a'.repeat(2_289), 'aaaaaaaaaa… (of 2,289 characters)'],
  ['aaaaaaaaa😀', 'aaaaaaaaa… (of 11 characters)'],
  [{ a: [1, 2] }, '{ "a": [… (of 29 characters)'],
  [null, ''],
])('shows %j in a line, and says of how much', (value, text) => {
  expect(plainText(value, 10)).toBe(text);
});
