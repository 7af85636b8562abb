import fc from 'fast-check';
import { expect, it } from 'vitest';
import { shortenLines } from './shorten-lines.ts';

async function* cut(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (let turn = 0; at < bytes.length; turn++) {
    const size = Math.max(1, sizes[turn % sizes.length] ?? bytes.length);
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

async function read(text: string, maxLineBytes: number, sizes: readonly number[] = []) {
  const lines = shortenLines(cut(Buffer.from(text), sizes), maxLineBytes);
  const chunks: Uint8Array[] = [];
  for await (const chunk of lines) chunks.push(chunk);
  return { lines, text: Buffer.concat(chunks).toString() };
}

it.each([
  ['nothing', '', 5, '', []],
  ['lines that fit', 'abcde\nab\n', 5, 'abcde\nab\n', []],
  ['a carriage return beyond the limit', 'abcde\r\nab', 5, 'abcde\r\nab', []],
  ['a line that is one too long', 'x\nabcdef\ny\n', 5, 'x\nabcdef\ny\n', [2]],
  ['a line that is much too long', 'x\nabcdefghijk\ny', 5, 'x\nabcdef\ny', [2]],
  ['a last line without an end', 'x\nabcdefghijk', 5, 'x\nabcdef', [2]],
  ['a byte order mark that does not count', '\ufeffabcde\nx', 5, '\ufeffabcde\nx', []],
  ['a first line that is too long behind a byte order mark', '\ufeffabcdef\nx', 5, '\ufeffabcdef\nx', [1]],
  ['a first line that is too long without one', 'abcdefgh\nx', 5, 'abcdefgh\nx', [1]],
  ['two in a row', 'abcdefgh\nabcdefgh\n', 2, 'abcdef\nabc\n', [1, 2]],
] as const)('passes on %s', async (_name, text, maxLineBytes, expected, tooLong) => {
  for (const sizes of [[], [1], [2, 3]]) {
    const result = await read(text, maxLineBytes, sizes);
    expect(result.text).toBe(expected);
    expect([...result.lines.tooLong]).toEqual(tooLong);
  }
});

it('says how the file begins and ends', async () => {
  const facts = async (text: string) => {
    const { lines } = await read(text, 10, [1]);
    return [lines.hasByteOrderMark, lines.endsWithLineFeed];
  };
  expect(await facts('')).toEqual([false, true]);
  expect(await facts('\ufeff')).toEqual([true, false]);
  expect(await facts('a\n')).toEqual([false, true]);
  expect(await facts('\ufeffa\nb')).toEqual([true, false]);
});

it('changes nothing but lines that are too long, however the file is cut into chunks', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ maxLength: 12, unit: fc.constantFrom('a', 'b', '\r', ' ') }), { maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 }),
      async (parts, sizes) => {
        const { lines, text } = await read(parts.join('\n'), 6, sizes);
        const long = parts.flatMap((part, index) => (part.replace(/\r$/, '').length > 6 ? [index + 1] : []));
        expect([...lines.tooLong]).toEqual(long);
        const kept = text.split('\n');
        expect(kept).toHaveLength(Math.max(1, parts.length));
        for (const [index, part] of parts.entries()) {
          if (!long.includes(index + 1)) expect(kept[index]).toBe(part);
          else expect(part.startsWith(kept[index]!)).toBe(true);
        }
      },
    ),
  );
});
