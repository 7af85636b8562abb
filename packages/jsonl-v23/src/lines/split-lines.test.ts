import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { times } from '../../../../tools/vitest/long.ts';
import { collect, rejectionOf, streamIn, streamOf } from '../../test/arbitrary-json.ts';
import { JsonlError } from '../errors.ts';
import { type LineBatch, splitLines } from './line-cutter.ts';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
const split = async (text: string, options = {}): Promise<LineBatch[]> =>
  collect(splitLines(streamOf(text), options));

describe('splitLines', () => {
  it.each<[string, text: string, lines: number, items: number, kept?: string]>([
    ['an empty file', '', 0, 0],
    ['a byte order mark alone', '\ufeff', 0, 0, ''],
    ['one line', '{}\n', 1, 1],
    ['a last line without an end', '{}\n{}', 2, 2],
    ['CRLF', '{}\r\n{}\r\n', 2, 2],
    ['blank lines', '\n \t\n{}\n\r\n\t\r\n \n', 6, 1],
    ['a blank last line without an end', '{}\n  ', 2, 1],
    ['other white space, which is not a blank line', '\f\n\u00a0\n\u2028\n', 3, 3],
    ['a carriage return in a line', '{}\r{}\n', 1, 1],
    ['a byte order mark at the start', '\ufeff{}\n', 1, 1, '{}\n'],
    ['a byte order mark before a blank line', '\ufeff\n{}', 2, 1, '\n{}'],
    ['a byte order mark elsewhere', '{}\n\ufeff{}\n', 2, 2],
    ['two byte order marks', '\ufeff\ufeff', 1, 1, '\ufeff'],
    ['part of a byte order mark', '\u00ef\n', 1, 1],
    ['two bytes', '{}', 1, 1],
  ])('%s', async (_, text, lineCount, itemCount, kept = text) => {
    const batches = await split(text);
    expect(batches.length).toBe(kept === '' ? 0 : 1);
    expect(batches.map(({ bytes }) => decode(bytes)).join('')).toBe(kept);
    expect(batches[0]?.lineCount ?? 0).toBe(lineCount);
    expect(batches[0]?.itemCount ?? 0).toBe(itemCount);
    expect(batches[0]?.firstLine ?? 1).toBe(1);
  });

  it('yields whole lines in batches of at most batchBytes, except for a longer line', async () => {
    const text = `${'a'.repeat(9)}\n${'b'.repeat(4)}\n${'c'.repeat(50)}\nd\n${'e'.repeat(19)}\n${'f'.repeat(20)}\ng`;
    const batches = await split(text, { batchBytes: 20 });
    expect(
      batches.map(({ bytes, firstLine, lineCount }) => [decode(bytes).length, firstLine, lineCount]),
    ).toEqual([
      [15, 1, 2],
      [51, 3, 1],
      [2, 4, 1],
      [20, 5, 1],
      [21, 6, 1],
      [1, 7, 1],
    ]);
  });

  it('puts an unterminated last line that does not fit into a separate batch', async () => {
    const batches = await collect(splitLines(streamIn(encode('longer\n\nlast'), 6), { batchBytes: 3 }));
    expect(batches.map(({ bytes }) => decode(bytes))).toEqual(['longer\n', '\n', 'last']);
  });

  it('yields the same lines wherever the stream is cut', async () => {
    const piece = fc.constantFrom('{}', '\n', '\r\n', ' ', '\t', '\ufeff', '\f', 'é', '{"a":1}', '\n\n');
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { maxLength: 20 }),
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 0, max: 30 }),
        async (pieces, size, batchBytes) => {
          const text = pieces.join('');
          const whole = text.startsWith('\ufeff') ? text.slice(1) : text;
          const lines = whole.split('\n');
          if (lines.at(-1) === '') lines.pop();
          const batches = await collect(splitLines(streamIn(encode(text), size), { batchBytes }));
          expect(batches.map(({ bytes }) => decode(bytes)).join('')).toBe(whole);
          let firstLine = 1;
          for (const batch of batches) {
            const found = lines.slice(firstLine - 1, firstLine - 1 + batch.lineCount);
            expect(batch.firstLine).toBe(firstLine);
            expect(decode(batch.bytes).replace(/\n$/, '')).toBe(found.join('\n'));
            expect(batch.itemCount).toBe(found.filter((line) => /[^ \t\r]/.test(line)).length);
            if (batch.lineCount > 1) expect(batch.bytes.length).toBeLessThanOrEqual(batchBytes);
            firstLine += batch.lineCount;
          }
          expect(firstLine - 1).toBe(lines.length);
        },
      ),
      { numRuns: times(2000, 400) },
    );
  });

  it.each([1, 2, 3, 1000])(
    'refuses a line over maxLineBytes, in pieces of %i bytes, after the lines before it',
    async (size) => {
      const source = streamIn(encode(`{}\n${'x'.repeat(10)}\r\n{}\n${'y'.repeat(11)}\n{}\n`), size);
      const batches: LineBatch[] = [];
      const error = await rejectionOf(
        (async () => {
          for await (const batch of splitLines(source, { file: 'a.jsonl', maxLineBytes: 10, batchBytes: 16 }))
            batches.push(batch);
        })(),
      );
      expect(error).toBeInstanceOf(JsonlError);
      expect(error).toMatchObject({
        code: 'line_too_long',
        message: 'Line 4 is longer than 10 bytes',
        location: { file: 'a.jsonl', line: 4 },
      });
      expect(batches.map(({ bytes }) => decode(bytes)).join('')).toBe('{}\nxxxxxxxxxx\r\n{}\n');
    },
  );

  it.each(['x'.repeat(11), `${'x'.repeat(11)}\r\n`, `${' '.repeat(11)}\n`, `${'x'.repeat(10)}\r\r\n`])(
    'refuses the long line %j',
    async (text) => {
      expect(await rejectionOf(split(text, { maxLineBytes: 10 }))).toMatchObject({
        code: 'line_too_long',
        location: { line: 1 },
      });
    },
  );

  it('stops reading at a line that is too long', async () => {
    let read = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        read++;
        yield new Uint8Array(1000).fill(120);
      }
    }
    expect(await rejectionOf(collect(splitLines(endless(), { maxLineBytes: 10_000 })))).toMatchObject({
      code: 'line_too_long',
    });
    expect(read).toBe(11);
  });

  it('gives each batch its own buffer, which you can transfer', async () => {
    const seen: string[] = [];
    for await (const { bytes } of splitLines(streamOf('{"a":1}\n'.repeat(100)), { batchBytes: 50 })) {
      seen.push(decode(bytes));
      structuredClone(bytes, { transfer: [bytes.buffer as ArrayBuffer] });
    }
    expect(seen.join('')).toBe('{"a":1}\n'.repeat(100));
  });

  it('rethrows errors of the source, and closes a source that is left early', async () => {
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield encode('{}\n');
      throw new Error('gone');
    }
    expect(await rejectionOf(collect(splitLines(failing())))).toMatchObject({ message: 'gone' });
    expect(
      await rejectionOf(collect(splitLines(failing(), { signal: new AbortController().signal }))),
    ).toMatchObject({ message: 'gone' });

    for (const signal of [undefined, new AbortController().signal]) {
      let closed = false;
      async function* source(): AsyncGenerator<Uint8Array> {
        try {
          for (;;) yield encode('{}\n'.repeat(100));
        } finally {
          closed = true;
        }
      }
      for await (const _ of splitLines(source(), { batchBytes: 10, ...(signal && { signal }) })) break;
      expect(closed).toBe(true);
    }
  });

  it('aborts immediately, even while the source is stuck', async () => {
    const controller = new AbortController();
    let returned = false;
    const source: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise<never>(() => {}),
        return: () => {
          returned = true;
          return new Promise<never>(() => {});
        },
      }),
    };
    const result = rejectionOf(collect(splitLines(source, { signal: controller.signal })));
    controller.abort(new Error('enough'));
    expect(await result).toMatchObject({ message: 'enough' });
    expect(returned).toBe(true);
  });

  it('does not start when already aborted, and yields no batch after an abort', async () => {
    const aborted = AbortSignal.abort(new Error('before'));
    expect(await rejectionOf(collect(splitLines(streamOf('{}'), { signal: aborted })))).toMatchObject({
      message: 'before',
    });

    const controller = new AbortController();
    const lines = splitLines(streamOf('{}\n'.repeat(100)), { batchBytes: 10, signal: controller.signal });
    await lines.next();
    controller.abort(new Error('between'));
    expect(await rejectionOf(lines.next())).toMatchObject({ message: 'between' });
  });

  it('removes its listener from the signal', async () => {
    const { signal } = new AbortController();
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>): void => {
      listeners++;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>): void => {
      listeners--;
      remove(...args);
    };
    await collect(splitLines(streamOf('{}\n', '{}\n'), { signal }));
    expect(listeners).toBe(0);
  });
});
