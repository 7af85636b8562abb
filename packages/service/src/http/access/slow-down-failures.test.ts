import { expect, it } from 'vitest';
import { slowDownFailures } from './limits.ts';

it('allows an address a number of failures a minute, and then checks no new key from it', () => {
  let now = 0;
  const attempt = slowDownFailures(3, () => now);
  expect(attempt('a', 'known')).toBe(0);
  expect([1, 2, 3].map(() => attempt('a', undefined))).toEqual([0, 0, 0]);
  expect(attempt('a', undefined)).toBe(20);
  // the right key gives itself away no more than a wrong one
  expect(attempt('a', 'guessed')).toBe(20);
  expect(attempt('a', 'known')).toBe(0);
  expect(attempt('b', 'guessed')).toBe(0);
  now += 20_000;
  expect(attempt('a', 'guessed')).toBe(0);
  expect([1, 2].map(() => attempt('a', undefined))).toEqual([0, 20]);
  expect(attempt('a', 'guessed')).toBe(0);
});

it('remembers a bounded number of keys', () => {
  const attempt = slowDownFailures(1, () => 0, 2);
  for (const key of ['one', 'two', 'three', 'two']) attempt('a', key);
  attempt('a', undefined);
  expect(['one', 'two', 'three'].map((key) => attempt('a', key))).toEqual([60, 0, 0]);
});
