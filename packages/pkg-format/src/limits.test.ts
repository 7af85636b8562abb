import { expect, it } from 'vitest';
import { DEFAULT_LIMITS, openPackage } from './index.ts';
import { resolveLimits } from './package/open-archive.ts';

it.each<[object, string]>([
  [{ maxEntries: -1 }, 'RangeError: limits.maxEntries must be a positive integer, got -1.'],
  [{ maxTotalBytes: 0 }, 'RangeError: limits.maxTotalBytes must be a positive integer, got 0.'],
  [{ maxDepth: 1.5 }, 'RangeError: limits.maxDepth must be a positive integer, got 1.5.'],
  [{ maxLineBytes: Number.NaN }, 'RangeError: limits.maxLineBytes must be a positive integer, got NaN.'],
  [
    { maxAssetBytes: '9' },
    'TypeError: limits.maxAssetBytes must be a positive integer, got a value of the type string.',
  ],
  [{ maxExpansionRatio: -0.5 }, 'RangeError: limits.maxExpansionRatio must be a positive number, got -0.5.'],
])('refuses the limits %j', async (limits, message) => {
  const error: unknown = await openPackage(new Uint8Array(22), { limits }).catch((reason) => reason);
  expect(String(error)).toBe(message);
});

it('has the default for a limit that is absent or undefined', () => {
  expect(resolveLimits({ maxEntries: undefined as never, maxExpansionRatio: 2.5 })).toEqual({
    ...DEFAULT_LIMITS,
    maxExpansionRatio: 2.5,
  });
});

it('has no limit of expansion for a ratio of Infinity', () => {
  const maxExpansionRatio = Number.POSITIVE_INFINITY;
  expect(resolveLimits({ maxExpansionRatio })).toEqual({ ...DEFAULT_LIMITS, maxExpansionRatio });
});
