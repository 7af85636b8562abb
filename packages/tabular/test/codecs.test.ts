import { brotliDecompressSync, zstdDecompressSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { loadPageCodec } from '#runtime';
import { readTable } from '../src/index.ts';
import { PageInflater } from '../src/parquet/codecs/inflate-page.ts';
import { writeParquet } from '../src/write/index.ts';
import { memoryFile } from './memory-file.ts';
import { CODECS, rewriteParquet } from './rewrite-parquet.ts';
import { writeParquet as writeSource } from './write-parquet.ts';

/** This file runs twice: with the codecs of Node, and with those of browsers. */
const isMissing = (codec: string): boolean =>
  (codec === 'BROTLI' || codec === 'ZSTD') && loadPageCodec(codec) === undefined;
const rows = Array.from({ length: 3000 }, (_, n) => ({ n, text: `row ${n % 40} ${'x'.repeat(n % 30)}` }));
const source = writeSource({
  columns: (['n', 'text'] as const).map((name) => ({
    name,
    data: rows.map((row) => row[name]),
    codec: 'UNCOMPRESSED',
  })),
  pageSize: 2000,
});
const read = (bytes: Uint8Array, decompressors = {}): Promise<unknown[]> =>
  Array.fromAsync(readTable(bytes, { decompressors }));

it.each(CODECS.filter((codec) => !isMissing(codec)))('reads pages of %s', async (codec) => {
  for (const version of [1, 2] as const) {
    expect(await read(rewriteParquet(source, { codec, version }))).toEqual(rows);
  }
});

it.runIf(isMissing('ZSTD'))('says where zstd is, and what to do without it', async () => {
  await expect(read(rewriteParquet(source, { codec: 'ZSTD', version: 1 }))).rejects.toMatchObject({
    code: 'unsupported_file',
    message: expect.stringMatching(/compressed with ZSTD.* Node 22\.15 or newer, .*`decompressors`/),
  });
});

it('reads with decompressors that it is given', async () => {
  const bytes = rewriteParquet(source, { codec: 'BROTLI', version: 1 });
  let pages = 0;
  const BROTLI = (page: Uint8Array): Uint8Array => {
    pages += 1;
    return brotliDecompressSync(page);
  };
  expect(await read(bytes, { BROTLI })).toEqual(rows);
  expect(pages).toBeGreaterThan(1);
  const wrong = (): Uint8Array => new Uint8Array(3);
  await expect(read(bytes, { BROTLI: wrong })).rejects.toMatchObject({ code: 'damaged_file' });
});

it('copies a page before its decompressor writes the next one into the same memory', async () => {
  const memory = new Uint8Array(8);
  const GZIP = ([byte = 0]: Uint8Array): Uint8Array => memory.fill(byte).subarray(0, 2);
  const inflater = new PageInflater(new Map([['GZIP', 'n']]), { GZIP });
  const inflate = (byte: number) => inflater.inflate('GZIP', Uint8Array.of(byte), 2);
  expect(await Promise.all([inflate(1), inflate(2)])).toEqual([Uint8Array.of(1, 1), Uint8Array.of(2, 2)]);
});

it('says what it cannot decompress before it reads a page', async () => {
  const unknown = rewriteParquet(source, { codec: 'LZO', version: 1, compress: (page) => page });
  const file = memoryFile(unknown);
  const { readRange } = file;
  await expect(
    Array.fromAsync(readTable({ byteLength: file.byteLength, read: (start, end) => readRange(start, end) })),
  ).rejects.toMatchObject({
    code: 'unsupported_file',
    message: expect.stringMatching(
      /column "n" is compressed with LZO.*write the file with snappy or gzip, or .*`decompressors`/,
    ),
  });
  const pages = file.ranges.filter(([start, end]) => start > 0 && end < file.byteLength);
  expect(pages).toEqual([]);
});

it('reads what it writes', async () => {
  async function* batches(): AsyncGenerator<typeof rows> {
    yield rows;
  }
  const parts = await Array.fromAsync(
    writeParquet(batches(), [
      { name: 'n', type: 'int64', json: ({ n }) => String(n) },
      { name: 'text', type: 'string', json: ({ text }) => JSON.stringify(text) },
    ]),
  );
  const ZSTD = (page: Uint8Array): Uint8Array => zstdDecompressSync(page);
  expect(await read(Buffer.concat(parts), { ZSTD })).toEqual(rows);
});
