import { describe, expect, it } from 'vitest';
import { splitLines } from '../lines/line-cutter.ts';
import { MAX_LINE_VALUES, ValueCounter } from './value-counter.ts';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('ValueCounter', () => {
  it.each([
    ['1', 1],
    ['[1]', 2],
    ['[1,2,3]', 4],
    ['{"a":1,"b":[true]}', 4],
    ['"a,[{,"', 1],
    [String.raw`["\",[\\",1]`, 3],
    ['[]', 2],
  ])('counts %s', (text, values) => {
    const whole = new ValueCounter();
    whole.add(utf8(text));
    expect(whole.values).toBe(values);
    const inPieces = new ValueCounter();
    for (const byte of utf8(text)) inPieces.add(Uint8Array.of(byte));
    expect(inPieces.values).toBe(values);
    expect(inPieces.bytes).toBe(utf8(text).length);
  });
});

describe('splitLines', () => {
  /** Lines of arrays with this number of values. */
  const arrayOf = (values: number): string => `[${'0,'.repeat(values - 2)}0]\n`;

  async function linesOf(text: string, chunkBytes: number): Promise<number> {
    const bytes = utf8(text);
    async function* chunks(): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
    }
    let lines = 0;
    for await (const { lineCount } of splitLines(chunks(), { file: 'a.jsonl' })) lines += lineCount;
    return lines;
  }

  it.each([70_001, 10_000_000])(
    'takes lines with as many values as allowed, in chunks of %i bytes',
    async (chunkBytes) => {
      const text = `{}\n${arrayOf(MAX_LINE_VALUES)}{}\n${arrayOf(MAX_LINE_VALUES)}{}`;
      expect(await linesOf(text, chunkBytes)).toBe(5);
    },
  );

  it.each([70_001, 10_000_000])('refuses a line with one more, in chunks of %i bytes', async (chunkBytes) => {
    const text = `{}\n${arrayOf(MAX_LINE_VALUES)}{}\n${arrayOf(MAX_LINE_VALUES + 1)}{}`;
    await expect(linesOf(text, chunkBytes)).rejects.toMatchObject({
      code: 'line_too_long',
      message: `Line 4 has more than ${MAX_LINE_VALUES} values`,
      location: { file: 'a.jsonl', line: 4 },
    });
  });

  it('refuses it before it ends', async () => {
    let sent = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      const piece = utf8('0,'.repeat(32_768));
      for (yield utf8('['); ; sent += piece.length) yield piece;
    }
    await expect(splitLines(endless()).next()).rejects.toMatchObject({
      code: 'line_too_long',
      location: { line: 1 },
    });
    expect(sent).toBeLessThan(3 * MAX_LINE_VALUES);
  });
});
