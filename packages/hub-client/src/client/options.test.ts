import { expect, it } from 'vitest';
import { createHubClient, parseSplit, resolveSplit } from '../index.ts';

const unused = (): Promise<Response> => Promise.reject(new Error('no request was expected'));

it.each<[object, string]>([
  [{ timeouts: { headersMs: 0 } }, 'RangeError: timeouts.headersMs must be a positive number, got 0.'],
  [
    { timeouts: { connectMs: Number.NaN } },
    'RangeError: timeouts.connectMs must be a positive number, got NaN.',
  ],
  [
    { timeouts: { idleBodyMs: Number.POSITIVE_INFINITY } },
    'RangeError: timeouts.idleBodyMs must be a positive number, got Infinity.',
  ],
  [
    { timeouts: { headersMs: '30' } },
    'TypeError: timeouts.headersMs must be a positive number, got a value of the type string.',
  ],
  [{ retry: { maxRetries: -1 } }, 'RangeError: retry.maxRetries must be a non-negative integer, got -1.'],
  [{ retry: { maxRetries: 1.5 } }, 'RangeError: retry.maxRetries must be a non-negative integer, got 1.5.'],
  [{ retry: { budgetMs: -1 } }, 'RangeError: retry.budgetMs must be a non-negative number, got -1.'],
])('createHubClient refuses %j', (options, message) => {
  let found: unknown;
  try {
    createHubClient({ fetch: unused as never, ...options });
  } catch (error) {
    found = error;
  }
  expect(String(found)).toBe(message);
});

it('openDataset refuses an invalid retry policy and budget before any request', async () => {
  await using hub = createHubClient({ fetch: unused as never, retry: { maxRetries: undefined as never } });
  await expect(hub.openDataset({ path: 'a/b', retry: { baseDelayMs: -1 } })).rejects.toThrow(
    new RangeError('retry.baseDelayMs must be a non-negative number, got -1.'),
  );
  await expect(hub.openDataset({ path: 'a/b', budgetMs: Number.NaN })).rejects.toThrow(
    new RangeError('budgetMs must be a non-negative number, got NaN.'),
  );
});

it.each<[unknown, string]>([
  [-1, 'RangeError: numRows of split "a" must be a non-negative integer, got -1.'],
  [1.5, 'RangeError: numRows of split "a" must be a non-negative integer, got 1.5.'],
  [-1n, 'RangeError: numRows of split "a" must be a non-negative integer, got -1.'],
  ['7', 'TypeError: numRows of split "a" must be a non-negative integer, got a value of the type string.'],
])('resolveSplit refuses %s rows', (numRows, message) => {
  let found: unknown;
  try {
    resolveSplit(parseSplit('a[:1]'), [{ name: 'a', numRows: numRows as number }]);
  } catch (error) {
    found = error;
  }
  expect(String(found)).toBe(message);
});
