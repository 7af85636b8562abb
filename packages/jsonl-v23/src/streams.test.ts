import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { JsonStream } from './json/json-stream.ts';
import { readItems, writeItems } from './lines/read-items.ts';
import { abortable, chunksOf } from './streams.ts';

const LINES = '{"id":1}\n{"id":2}\n';

interface Watched<T> {
  readonly stream: ReadableStream<T>;
  readonly cancelled: () => unknown;
}

/** A stream that never ends, and what it was cancelled with. */
function endless<T>(chunk: T): Watched<T> {
  let cancelled: unknown = 'open';
  const stream = new ReadableStream<T>({
    pull: (controller) => controller.enqueue(chunk),
    cancel: () => {
      cancelled = 'cancelled';
    },
  });
  return { stream, cancelled: () => cancelled };
}

async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const value of source) found.push(value);
  return found;
}

const prototype = ReadableStream.prototype as { [Symbol.asyncIterator]?: unknown };
const native = Object.getOwnPropertyDescriptor(prototype, Symbol.asyncIterator) as PropertyDescriptor;

describe.each([
  ['with async iteration', false],
  ['without async iteration, as in Safari', true],
])('web streams %s', (_, isMissing) => {
  beforeEach(() => {
    if (isMissing) delete prototype[Symbol.asyncIterator];
  });
  afterEach(() => {
    Object.defineProperty(prototype, Symbol.asyncIterator, native);
  });

  it('give items, from bytes and from texts', async () => {
    const bytes = await collect(readItems(new Blob([LINES]).stream()));
    const texts = await collect(readItems(new Blob([LINES]).stream().pipeThrough(new TextDecoderStream())));
    expect(bytes.map(({ item }) => item['id'])).toEqual([1, 2]);
    expect(texts).toEqual(bytes);
  });

  it('give a JSON document', async () => {
    await using json = new JsonStream(new Blob(['{"a":[1,2]}']).stream());
    expect(await json.value()).toEqual({ a: [1, 2] });
  });

  it('give items to write', async () => {
    const items = new ReadableStream<{ id: number }>({
      start(controller) {
        controller.enqueue({ id: 1 });
        controller.enqueue({ id: 2 });
        controller.close();
      },
    });
    expect(Buffer.concat(await collect(writeItems(items))).toString()).toBe(LINES);
  });

  it('are cancelled and unlocked when the reader stops', async () => {
    const { stream, cancelled } = endless(new TextEncoder().encode('{"id":1}\n'));
    for await (const _ of readItems(stream)) break;
    expect(cancelled()).toBe('cancelled');
    expect(stream.locked).toBe(false);
  });

  it('are cancelled and unlocked when the reader throws', async () => {
    const { stream, cancelled } = endless(new TextEncoder().encode('{"id":\n'));
    await expect(collect(readItems(stream))).rejects.toMatchObject({ code: 'invalid_json' });
    expect(cancelled()).toBe('cancelled');
    expect(stream.locked).toBe(false);
  });

  it('are cancelled while they are silent', async () => {
    let isCancelled = false;
    const stream = new ReadableStream<Uint8Array>({
      cancel: () => {
        isCancelled = true;
      },
    });
    const controller = new AbortController();
    const reading = readItems(stream, { signal: controller.signal }).next();
    controller.abort(new Error('stop'));
    await expect(reading).rejects.toThrow('stop');
    expect(isCancelled).toBe(true);
  });

  it('stay at their end', async () => {
    const chunks = chunksOf(new Blob(['a']).stream());
    expect(await chunks.next()).toMatchObject({ done: false });
    for (let time = 0; time < 2; time += 1) expect(await chunks.next()).toMatchObject({ done: true });
    expect(await chunks.return?.()).toMatchObject({ done: true });
  });

  it('pass their error on, and are unlocked', async () => {
    const stream = new ReadableStream<Uint8Array>({ pull: () => Promise.reject(new Error('disk')) });
    await expect(collect(readItems(stream))).rejects.toThrow('disk');
    expect(stream.locked).toBe(false);
  });
});

it.each<[unknown, string]>([
  [null, 'got null.'],
  [1, 'got number.'],
  [{}, 'got Object.'],
])('refuses %j', (source, message) => {
  expect(() => chunksOf(source as never)).toThrow(message);
  expect(() => new JsonStream(source as never)).toThrow(TypeError);
});

it('does not close a source that has failed', async () => {
  let isClosed = false;
  const failing: AsyncIterable<number> = {
    [Symbol.asyncIterator]: () => ({
      next: () => Promise.reject(new Error('the source is gone')),
      return: async () => {
        isClosed = true;
        throw new Error('it cannot be closed');
      },
    }),
  };
  await expect(collect(abortable(failing, new AbortController().signal))).rejects.toThrow(
    'the source is gone',
  );
  expect(isClosed).toBe(false);
});
