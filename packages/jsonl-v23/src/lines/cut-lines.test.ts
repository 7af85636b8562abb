import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LineCutter } from './line-cutter.ts';

async function* cut(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (let turn = 0; at < bytes.length; turn += 1) {
    const size = Math.max(1, sizes[turn % sizes.length] ?? bytes.length);
    yield bytes.slice(at, at + size);
    at += size;
  }
}

async function read(text: string, maxLineBytes: number, sizes: readonly number[] = [], batchBytes?: number) {
  const options = { maxLineBytes, ...(batchBytes !== undefined && { batchBytes }) };
  const source = new LineCutter(options);
  const lines: string[] = [];
  const tooLong: number[] = [];
  for await (const batch of source.lines(cut(Buffer.from(text), sizes))) {
    for (const { line, bytes, fault } of batch) {
      expect(line).toBe(lines.length + 1);
      lines.push(Buffer.from(bytes).toString());
      if (fault !== null) tooLong.push(line);
    }
  }
  return { source, lines, tooLong };
}

it.each([
  ['nothing', '', 5, [], []],
  ['lines that fit', 'abcde\nab\n', 5, ['abcde', 'ab'], []],
  ['blank lines', '\n\na', 5, ['', '', 'a'], []],
  ['a carriage return beyond the limit', 'abcde\r\nab', 5, ['abcde\r', 'ab'], []],
  ['a line that is one too long', 'x\nabcdef\ny\n', 5, ['x', 'abcdef', 'y'], [2]],
  ['a last line without an end', 'x\nabcdefghijk', 5, ['x', expect.stringMatching(/^abcdef/)], [2]],
  ['a byte order mark that does not count', '\ufeffabcde\nx', 5, ['abcde', 'x'], []],
  ['a long first line behind a byte order mark', '\ufeffabcdef\nx', 5, ['abcdef', 'x'], [1]],
] as const)('cuts %s', async (_name, text, maxLineBytes, expected, tooLong) => {
  for (const sizes of [[], [1], [2, 3]]) {
    const result = await read(text, maxLineBytes, sizes);
    expect(result.lines).toEqual(expected);
    expect(result.tooLong).toEqual(tooLong);
  }
});

it('says how the file begins and ends', async () => {
  const facts = async (text: string) => {
    const { source } = await read(text, 10, [1]);
    return [source.hasByteOrderMark, source.endsWithLineFeed];
  };
  expect(await facts('')).toEqual([false, true]);
  expect(await facts('\ufeff')).toEqual([true, false]);
  expect(await facts('a\n')).toEqual([false, true]);
  expect(await facts('\ufeffa\nb')).toEqual([true, false]);
});

it('refuses a line with too many values', async () => {
  const { tooLong } = await read(`1\n[${'0,'.repeat(250_000)}0]\n2`, 1_000_000, [4096]);
  expect(tooLong).toEqual([2]);
});

it('finds the same lines however the file is cut into chunks', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ maxLength: 12, unit: fc.constantFrom('a', 'b', '\r', ' ') }), { maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 0, max: 30 }),
      async (parts, sizes, batchBytes) => {
        const { lines, tooLong } = await read(parts.join('\n'), 6, sizes, batchBytes);
        const expected = parts.at(-1) === '' ? parts.slice(0, -1) : parts;
        expect(lines).toHaveLength(expected.length);
        expect(tooLong).toEqual(
          expected.flatMap((part, index) => (part.replace(/\r$/, '').length > 6 ? [index + 1] : [])),
        );
        for (const [index, part] of expected.entries()) {
          if (tooLong.includes(index + 1)) expect(part.startsWith(lines[index] ?? '-')).toBe(true);
          else expect(lines[index]).toBe(part);
        }
      },
    ),
  );
});
