import { describe, expect, it } from 'vitest';
import type { LoaderParams } from './raw-row.ts';
import { readRows, readText } from './read-rows.ts';

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
      await expect(Array.fromAsync(readRows(cut(), 'text', { file: 'a.txt' }))).rejects.toMatchObject({
        code: 'invalid_row',
        location: { file: 'a.txt', line: 2, column: 3 },
      });
    }
  });

  // what is before the invalid bytes has characters of every length, and the third line is the faulty one
  it.each([
    ['utf-8', Buffer.from('a😀\nb\né\uFFFD'), [0xff], 3],
    ['utf-16le', Buffer.from('\uFEFFa😀\u0A0A\nb\né😀', 'utf16le'), [0x00, 0xdc], 4],
    ['shift_jis', Buffer.from('6182a0b10a620a835c889f', 'hex'), [0xff], 3],
    ['gb18030', Buffer.from('61d6d09439fc360a620aa8a69439fc36', 'hex'), [0xff], 4],
  ])(
    'names the place of invalid bytes of %s, wherever the file is cut',
    async (encoding, before, faulty, column) => {
      const rest = Buffer.from('\nc\n', encoding === 'utf-16le' ? 'utf16le' : 'utf8');
      const bytes = Uint8Array.of(...before, ...faulty, ...rest);
      for (let size = 1; size <= bytes.length; size += 1) {
        async function* cut() {
          for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
        }
        const reading = Array.fromAsync(readRows(cut(), 'text', { file: 'a.txt', params: { encoding } }));
        await expect(reading, `${size}`).rejects.toMatchObject({
          code: 'invalid_row',
          location: { file: 'a.txt', line: 3, column },
        });
      }
    },
  );

  it.each([{ sample_by: 'paragraph' }, { keep_linebreaks: true }])('refuses %j', async (params) => {
    await expect(read('a', params)).rejects.toMatchObject({ code: 'unsupported_file' });
  });
});
