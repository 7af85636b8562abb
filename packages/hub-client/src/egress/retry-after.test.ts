import { expect, it } from 'vitest';
import { parseRetryAfter } from './retry-after.ts';

const nowMs = Date.UTC(2026, 0, 2, 3, 4, 5);

it.each([
  ['120', 120_000],
  ['0', 0],
  ['Fri, 02 Jan 2026 03:05:05 GMT', 60_000],
  ['Fri, 02 Jan 2026 03:00:00 GMT', 0],
  ['not-a-date', null],
  ['', null],
  ['-5', null],
  ['1.5', null],
  [null, null],
  [undefined, null],
])('%j is %j', (value, delayMs) => {
  expect(parseRetryAfter(value, nowMs)).toBe(delayMs);
});
