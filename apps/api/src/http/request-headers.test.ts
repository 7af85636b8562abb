import { expect, it } from 'vitest';
import { prefersAsync } from './request-headers.ts';

it.each([
  ['respond-async', true],
  ['Respond-Async', true],
  ['wait=10, respond-async', true],
  ['respond-async; x=1 , wait=10', true],
  ['return=minimal,respond-async,', true],
  [undefined, false],
  ['', false],
  ['return=representation', false],
  ['respond-asynchronously', false],
  ['x="a, respond-async, b"', false],
  ['x="\\", respond-async"', false],
  ['x="respond-async, ', false],
  ['x="\\"\\", respond-async\\', false],
])('%j: %j', (header, expected) => {
  expect(prefersAsync(header)).toBe(expected);
});

it('takes time that grows with the header and no faster', () => {
  const startMs = performance.now();
  for (const part of ['"\\"', '"', '\\', '",']) {
    for (const end of ['', '\\']) prefersAsync(part.repeat(200_000) + end);
  }
  expect(performance.now() - startMs).toBeLessThan(30_000);
});
