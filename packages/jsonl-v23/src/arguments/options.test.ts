import { expect, it } from 'vitest';
import { JsonStream } from '../json/json-stream.ts';
import { checkItems } from '../lines/check-items.ts';
import { readItems } from '../lines/read-items.ts';

const first = (source: AsyncGenerator<unknown>): Promise<unknown> => source.next();

it.each<[string, (options: never) => unknown]>([
  ['readItems', (options) => first(readItems('{}', options))],
  ['checkItems', (options) => first(checkItems('{}', options))],
  ['JsonStream', async (options) => new JsonStream(new Blob(['1']).stream(), options)],
])('%s refuses options that do not exist or cannot be', async (of, call) => {
  await expect(call({ maxDepht: 1 } as never)).rejects.toThrow(
    `"maxDepht" is not an option of ${of}: these are file, `,
  );
  await expect(call({ maxDepht: 1 } as never)).rejects.toBeInstanceOf(TypeError);
  const number = of === 'JsonStream' ? 'maxValueLength' : 'maxLineBytes';
  await expect(call({ [number]: '1' } as never)).rejects.toThrow(`${number} must be a positive integer, got`);
});
