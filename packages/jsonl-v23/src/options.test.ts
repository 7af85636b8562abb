import { expect, it } from 'vitest';
import { JsonStream } from './json/json-stream.ts';
import { parseJson } from './json/parse-json.ts';
import { checkItems, readItems } from './lines/read-items.ts';
import { compileMapping } from './mapping.ts';

const first = (source: AsyncGenerator<unknown>): Promise<unknown> => source.next();

it.each<[string, (options: never) => unknown]>([
  ['readItems', (options) => first(readItems('{}', options))],
  ['checkItems', (options) => first(checkItems('{}', options))],
  ['JsonStream', async (options) => new JsonStream(new Blob(['1']).stream(), options)],
])('%s refuses options that cannot be', async (of, call) => {
  const number = of === 'JsonStream' ? 'maxValueLength' : 'maxLineBytes';
  await expect(call({ [number]: '1' } as never)).rejects.toThrow(`${number} must be a positive integer, got`);
  await expect(call({ maxDepth: 1001 } as never)).rejects.toThrow('integer of at most 1000, got 1001.');
  await call({ maxDepth: 1000, file: 'a' } as never);
  await expect(call({ file: 5 } as never)).rejects.toThrow(
    new TypeError('file must be a string, got a value of the type number.'),
  );
});

it.each<[string, unknown, string]>([
  [
    'parseJson',
    { maxDepth: '1' },
    'maxDepth must be a non-negative integer, got a value of the type string.',
  ],
  ['parseJson', { maxDepth: Number.NaN }, 'maxDepth must be a non-negative integer, got NaN.'],
  ['parseJson', { toNumber: 1 }, 'toNumber must be a function, got a value of the type number.'],
  ['compileMapping', { split: 1 }, 'split must be a string, got number.'],
  ['compileMapping', { maxPatternSteps: -1 }, 'maxPatternSteps must be a positive integer, got -1.'],
])('%s refuses the options %j', (of, options, message) => {
  const call = (): unknown =>
    of === 'parseJson'
      ? parseJson('1', options as object)
      : compileMapping({ promptColumn: 'q' }, null, options as object);
  expect(call).toThrow(message);
});

it('compileMapping needs no features for plain rows', () => {
  const expected = { id: 'train-0', type: 'freeform', inputs: { prompt: 'x' } };
  expect(compileMapping({ promptColumn: 'q' })({ q: 'x' }, 0)).toEqual(expected);
  const toItem = compileMapping({ promptColumn: 'q', answerColumn: 'a' }, null);
  expect(() => toItem({ q: 'x' }, 3)).toThrow(
    expect.objectContaining({ code: 'column_not_found', location: { row: 3 } }),
  );
  expect(() => compileMapping({ promptColumn: 'q' }, 'q' as never)).toThrow(
    'features must be an array, got string.',
  );
});
