import { crc32 } from 'node:zlib';
import { canonicalJson } from '@svc/jsonl-v23/json';
import { describe, expect, it } from 'vitest';
import { openParquetTable } from '../src/parquet/parquet-table.ts';
import { memoryFile } from './memory-file.ts';
import { rewriteParquet } from './rewrite-parquet.ts';
import { writeParquet } from './write-parquet.ts';

const DATA = Array.from({ length: 40 }, (_, n) => `text ${n % 5}`);
const ENCODINGS = ['PLAIN', 'RLE_DICTIONARY'] as const;

async function read(bytes: Uint8Array): Promise<unknown[]> {
  const table = await openParquetTable([memoryFile(bytes)], {
    everyFooter: true,
    signal: undefined,
  });
  const values: unknown[] = [];
  for await (const { rows } of table.read({ from: 0, columns: ['x'], signal: undefined })) {
    values.push(...rows.map((row) => row['x']));
  }
  return values;
}

describe.each(ENCODINGS)('pages of %s', (encoding) => {
  const source = writeParquet({
    columns: [{ name: 'x', data: DATA, encoding, codec: 'UNCOMPRESSED' }],
    schema: [
      { name: 'root', num_children: 1 },
      { name: 'x', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
    ],
    pageSize: 100,
  });

  describe.each([1, 2] as const)('of version %i', (version) => {
    it.each(['UNCOMPRESSED', 'GZIP'] as const)('in %s are read with the right CRC', async (codec) => {
      const signed = rewriteParquet(source, { codec, version, crc: (body) => crc32(body) | 0 });
      expect(canonicalJson((await read(signed)) as string[])).toBe(canonicalJson(DATA));
    });

    it('are refused with a wrong CRC', async () => {
      const wrong = rewriteParquet(source, {
        codec: 'GZIP',
        version,
        crc: (body) => (crc32(body) ^ 1) | 0,
      });
      await expect(read(wrong)).rejects.toMatchObject({
        code: 'damaged_file',
        message:
          'Cannot read the Parquet file: column "x", row group 0, page 0: its bytes do not match its CRC.',
      });
    });

    it('are refused if one byte of a text is another', async () => {
      const signed = rewriteParquet(source, {
        codec: 'UNCOMPRESSED',
        version,
        crc: (body) => crc32(body) | 0,
      });
      const at = Buffer.from(signed).indexOf('text 3');
      signed[at] = 'T'.charCodeAt(0);
      await expect(read(signed)).rejects.toMatchObject({ code: 'damaged_file' });
    });
  });
});
