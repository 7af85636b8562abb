import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { byteChunks, type ItemSource } from './byte-chunks.ts';
import { readItems } from './read-items.ts';

const TEXT = '{"id":1,"answer":"é"}\n{"id":2}\n';
const bytes = new TextEncoder().encode(TEXT);

const ids = async (source: ItemSource): Promise<unknown[]> => {
  const found: unknown[] = [];
  for await (const { item } of readItems(source)) found.push(item['id']);
  return found;
};

it.each<[string, () => ItemSource]>([
  ['a text', () => TEXT],
  ['bytes', () => bytes],
  ['an array of texts', () => [TEXT.slice(0, 5), TEXT.slice(5)]],
  ['an array of bytes', () => [bytes.subarray(0, 19), bytes.subarray(19)]],
  ['a stream of bytes', () => Readable.from([bytes])],
  ['a stream of texts', () => Readable.from([TEXT], { encoding: 'utf8' })],
  [
    'a generator',
    async function* () {
      yield TEXT.slice(0, 9);
      yield new TextEncoder().encode(TEXT.slice(9));
    } as () => ItemSource,
  ],
])('reads items from %s', async (_, source) => {
  expect(await ids(source())).toEqual([1, 2]);
});

it.each<[string, unknown, string]>([
  ['an ArrayBuffer', bytes.buffer, 'or an iterable, got ArrayBuffer.'],
  ['null', null, 'or an iterable, got null.'],
  ['a number', 1, 'or an iterable, got number.'],
  ['objects', [{ id: 1 }], 'A chunk of items must be a string or a Uint8Array, got Object.'],
  ['rows of numbers', [1], 'A chunk of items must be a string or a Uint8Array, got number.'],
])('refuses %s', async (_, source, message) => {
  await expect(ids(source as ItemSource)).rejects.toThrow(message);
  await expect(ids(source as ItemSource)).rejects.toBeInstanceOf(TypeError);
});

it('closes a source that waits for a chunk, and one with a wrong chunk', async () => {
  let isClosed = false;
  const waiting: AsyncIterable<Uint8Array> = {
    [Symbol.asyncIterator]: () => ({
      next: () => new Promise(() => {}),
      return: async () => {
        isClosed = true;
        return { done: true, value: undefined };
      },
    }),
  };
  const controller = new AbortController();
  const reading = readItems(waiting, { signal: controller.signal }).next();
  controller.abort(new Error('stop'));
  await expect(reading).rejects.toThrow('stop');
  expect(isClosed).toBe(true);

  const wrong = Readable.from([1, 2]);
  await expect(byteChunks(wrong)[Symbol.asyncIterator]().next()).rejects.toThrow(TypeError);
  expect(wrong.destroyed).toBe(true);
});
