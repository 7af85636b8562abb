import { expect, it } from 'vitest';
import { firstLine } from './first-line.ts';

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
