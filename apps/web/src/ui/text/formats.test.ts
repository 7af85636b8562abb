import { expect, it } from 'vitest';
import { clampedInterval, firstLine, formatCost, formatDuration, plainText } from './formats.ts';

it.each([
  [0.4, '0 ms'],
  [999.4, '999 ms'],
  [999.6, '1.0 s'],
  [9_949, '9.9 s'],
  [9_960, '10 s'],
  [59_400, '59 s'],
  [59_600, '1 min 0 s'],
  [119_700, '2 min 0 s'],
  [3_599_600, '1 h 0 min'],
  [7_199_000, '2 h 0 min'],
  [7_500_000, '2 h 5 min'],
])('shows %d ms as %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

it('shows no cost as nothing that is something', () => {
  const costs = [0, 0.00004, 0.0001, 1.23456].map((amount) => formatCost({ amount, currency: 'USD' }));
  expect(costs).toEqual(['0.0000 USD', '< 0.0001 USD', '0.0001 USD', '1.2346 USD']);
});

it.each([
  [
    [0.935, 1.01],
    [0.935, 1],
  ],
  [
    [-0.1, 0.2],
    [0, 0.2],
  ],
  [
    [0.2, 0.4],
    [0.2, 0.4],
  ],
  [[0, 0], null],
  [null, null],
])('shows the interval %j as %j', (interval, shown) => {
  expect(clampedInterval(interval)).toEqual(shown);
});

it.each([
  ['Grade school maths: **300 questions** of `test`.\n\n- one', 'Grade school maths: 300 questions of test.'],
  ['## A title\nand a text', 'A title'],
  ['- see [the paper](https://example.org/a) and ![a picture](x.png)', 'see the paper and a picture'],
  ['snake_case and 2 > 1 stay', 'snake_case and 2 > 1 stay'],
  ['\n\n  late', 'late'],
  ['', ''],
])('reads %j as %j', (text, line) => {
  expect(firstLine(text)).toBe(line);
});

it('takes time that grows with what is shown only', () => {
  expect(firstLine('['.repeat(10_000_000))).toBe('['.repeat(300));
});

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
