import { describe, expect, it } from 'vitest';
import type { LoaderParams } from './raw-row.ts';
import { readRows } from './read-rows.ts';
import { readText } from './read-text.ts';

async function read(content: string, params: LoaderParams = {}, size = 1 << 16): Promise<unknown[]> {
  async function* pieces(): AsyncGenerator<Uint8Array> {
    const bytes = new TextEncoder().encode(content);
    for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
  }
  const rows: unknown[] = [];
  for await (const { row } of readText(pieces(), params, { file: 'a.txt', maxRowSize: 100 }))
    rows.push(row['text']);
  return rows;
}

describe('readText', () => {
  it.each<[string, LoaderParams, string, string[]]>([
    ['lines, blank ones too', {}, 'a\n\nb\n', ['a', '', 'b']],
    ['a last line without an end', {}, 'a\nb', ['a', 'b']],
    ['all line ends', {}, 'a\r\nb\rc\n\r\n', ['a', 'b', 'c', '']],
    ['a byte order mark', {}, '\uFEFFa\n', ['a']],
    ['nothing', {}, '', []],
    ['lines with their ends', { keep_linebreaks: true }, 'a\r\n\nb', ['a\n', '\n', 'b']],
    ['paragraphs', { sample_by: 'paragraph' }, 'a\nb\n\n\n\nc\r\n\r\nd', ['a\nb', 'c', 'd']],
    ['a document', { sample_by: 'document' }, 'a\n\nb\n', ['a\n\nb\n']],
  ])('reads %s', async (_, params, content, rows) => {
    for (const size of [1 << 16, 1, 2]) expect(await read(content, params, size)).toEqual(rows);
  });

  it('refuses a line that is too long and names it', async () => {
    for (const size of [1 << 16, 10]) {
      const location = { file: 'a.txt', line: 2 };
      await expect(read(`a\n${'x'.repeat(200)}\n`, {}, size)).rejects.toMatchObject({
        code: 'invalid_row',
        location,
      });
    }
  });

  it('names the line and the column of bytes that are not text, however the file is cut', async () => {
    const bytes = Uint8Array.of(0x61, 10, 0xc3, 0xa9, 0x62, 0xe2, 0x82, 10, 0x63);
    for (const size of [9, 7, 6, 1]) {
      async function* cut() {
        for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
      }
      for (const format of ['text', 'csv'] as const) {
        await expect(Array.fromAsync(readRows(cut(), format, { file: 'a.txt' }))).rejects.toMatchObject({
          code: 'invalid_row',
          location: { file: 'a.txt', line: 2, column: 3 },
        });
      }
    }
  });

  it('names it also where a character was cut in two before it', async () => {
    const bytes = Uint8Array.of(0x61, 0xf0, 0x9f, 0x98, 0x80, 10, 0x62, 10, 0xc3, 0xa9, 0xff, 10, 0x63);
    for (const size of [13, 2, 3, 4, 9, 1]) {
      async function* cut() {
        for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
      }
      await expect(Array.fromAsync(readRows(cut(), 'text', { file: 'a.txt' }))).rejects.toMatchObject({
        location: { file: 'a.txt', line: 3, column: 2 },
      });
    }
  });

  it('refuses parameters it does not know', async () => {
    await expect(read('a', { sample_by: 'word' })).rejects.toMatchObject({ code: 'unsupported_file' });
  });
});
