import { gzipSync } from 'node:zlib';
import { canonicalJson } from '@svc/jsonl-v23/json';
import { describe, expect, it } from 'vitest';
import { IS_LONG, times } from '../../../tools/vitest/long.ts';
import { TableError } from '../src/errors.ts';
import { measureRow, openParquetTable } from '../src/parquet/parquet-table.ts';
import { type ByteSource, createExpansionMeter } from '../src/source/byte-source.ts';
import { openTextTables } from '../src/text/text-table.ts';
import { encodeRuns } from './encode-runs.ts';
import { memoryFile } from './memory-file.ts';
import { rewriteParquet } from './rewrite-parquet.ts';
import { writeParquet } from './write-parquet.ts';

const signal = undefined;
const LIST = [
  { name: 'root', num_children: 1 },
  { name: 'tags', num_children: 1, converted_type: 'LIST' as const, repetition_type: 'OPTIONAL' as const },
  { name: 'list', num_children: 1, repetition_type: 'REPEATED' as const },
  {
    name: 'element',
    type: 'BYTE_ARRAY' as const,
    converted_type: 'UTF8' as const,
    repetition_type: 'OPTIONAL' as const,
  },
];

async function readAll(
  files: readonly ByteSource[],
  columns: readonly string[],
): Promise<{ rows: number; bytes: number; failure: TableError | null }> {
  let rows = 0;
  let bytes = 0;
  try {
    const source = await openParquetTable(files, { everyFooter: true, signal });
    for await (const batch of source.read({ from: 0, columns, signal })) {
      rows += batch.rows.length;
      bytes += canonicalJson([...batch.rows]).length;
    }
  } catch (error) {
    if (!(error instanceof TableError)) throw error;
    return { rows, bytes, failure: error };
  }
  return { rows, bytes, failure: null };
}

describe('a small Parquet file that expands to a lot', () => {
  it.runIf(IS_LONG)(
    'of one long value for every row ends at a thousand times its size',
    { timeout: 300_000 },
    async () => {
      const rows = 3000;
      const bytes = writeParquet({
        columns: [
          {
            name: 't',
            data: Array(rows).fill('x'.repeat(1_000_000)),
            encoding: 'RLE_DICTIONARY',
            codec: 'GZIP',
          },
        ],
        schema: [
          { name: 'root', num_children: 1 },
          { name: 't', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'REQUIRED' },
        ],
      });
      expect(bytes.length).toBeLessThan(10_000);
      const before = process.memoryUsage.rss();
      const { failure, bytes: produced } = await readAll([memoryFile(bytes)], ['t']);
      expect(failure).toMatchObject({
        code: 'too_large',
        message: expect.stringContaining(
          `more than ${1024 ** 3} bytes come out of its ${bytes.length} bytes`,
        ),
        location: { file: 'data.parquet' },
      });
      expect(produced).toBeLessThanOrEqual(1024 ** 3 + 2_000_000);
      expect(process.memoryUsage.rss() - before).toBeLessThan(400 * 1024 * 1024);
    },
  );

  it('of one row that refers to a long value many times is refused before it is made', async () => {
    const source = writeParquet({
      columns: [
        {
          name: 'tags',
          data: [Array(400).fill('x'.repeat(1_000_000))],
          encoding: 'RLE_DICTIONARY',
          codec: 'UNCOMPRESSED',
        },
      ],
      schema: LIST,
    });
    const bytes = rewriteParquet(source, { codec: 'GZIP', version: 1 });
    const { failure } = await readAll([memoryFile(bytes)], ['tags']);
    expect(failure).toMatchObject({ code: 'invalid_row', location: { file: 'data.parquet', row: 0 } });
  });

  it('of sixteen million nulls in some bytes takes little memory', async () => {
    const rows = 2 ** 24;
    const columns = Array.from({ length: 8 }, (_, n) => `c${n}`);
    const file = writeParquet({
      columns: columns.map((name) => ({
        name,
        data: Array(100).fill(null),
        encoding: 'PLAIN',
        codec: 'UNCOMPRESSED' as const,
      })),
      schema: [
        { name: 'root', num_children: 8 },
        ...columns.map((name) => ({ name, type: 'INT64' as const, repetition_type: 'OPTIONAL' as const })),
      ],
    });
    const bytes = rewriteParquet(file, {
      codec: 'UNCOMPRESSED',
      version: 2,
      levels: () => ({ count: rows, definition: encodeRuns([{ repeat: rows, value: 0 }], 1) }),
      metadata: ({ row_groups: groups }) => {
        groups[0]!.num_rows = BigInt(rows);
        for (const { meta_data: meta } of groups[0]!.columns) meta!.num_values = BigInt(rows);
      },
    });
    const source = await openParquetTable([memoryFile(bytes)], {
      everyFooter: true,
      signal,
    });
    expect(source.rowCount).toBe(rows);
    const before = process.memoryUsage.rss();
    let seen = 0;
    for await (const batch of source.read({ from: 0, columns, signal })) {
      seen += batch.rows.length;
      if (seen > 20_000) break;
    }
    expect(seen).toBeGreaterThan(20_000);
    expect(process.memoryUsage.rss() - before).toBeLessThan(300 * 1024 * 1024);
  });
});

describe('text files', () => {
  const open = (file: ByteSource, format: 'csv' | 'json') =>
    openTextTables(new Map([['train', [file]]]), {
      format,
      params: {},
      count: new Set(),
      signal,
    });
  const textFile = (path: string, bytes: Uint8Array): ByteSource => memoryFile(bytes, path);

  it('of more columns than any table has are refused', async () => {
    const header = Array.from({ length: 60_000 }, (_, n) => `c${n}`).join(',');
    await expect(
      open(textFile('train.csv', Buffer.from(`${header}\n${'1\n'.repeat(1000)}`)), 'csv'),
    ).rejects.toMatchObject({
      code: 'unsupported_file',
      message: expect.stringContaining('more than 16384 columns'),
    });
    const row = JSON.stringify(Object.fromEntries(Array.from({ length: 60_000 }, (_, n) => [`c${n}`, 1])));
    await expect(open(textFile('train.jsonl', Buffer.from(`${row}\n{}\n`)), 'json')).rejects.toMatchObject({
      message: expect.stringContaining('more than 16384 columns'),
    });
  });

  it('of many columns and short rows come a few rows at a time', { timeout: 300_000 }, async () => {
    const header = Array.from({ length: 16_000 }, (_, n) => `c${n}`).join(',');
    const sources = await open(
      textFile('train.csv.gz', gzipSync(`${header}\n${'1\n'.repeat(times(200, 60))}`)),
      'csv',
    );
    const source = sources.get('train');
    expect(source).toBeDefined();
    let most = 0;
    for await (const { rows } of source!.read({ signal })) {
      most = Math.max(most, rows.length);
    }
    expect(most).toBeLessThan(50);
  });
});

it('createExpansionMeter lets a file of any size have a gigabyte, and no more than a thousand times itself', () => {
  const small = createExpansionMeter({ path: 'a', byteLength: 10 });
  small(1024 ** 3);
  expect(() => small(1)).toThrow(TableError);
  const large = createExpansionMeter({ path: 'a', byteLength: 1024 ** 3 });
  large(1000 * 1024 ** 3);
  expect(() => large(1)).toThrow(`more than ${1000 * 1024 ** 3} bytes come out of its ${1024 ** 3} bytes`);
  const own = createExpansionMeter({ path: 'a', byteLength: 10, maxContentBytes: 20 });
  own(20);
  expect(() => own(1)).toThrow('more than 20 bytes come out of its 10 bytes');
});

it('measureRow weighs what JSON would have at least', () => {
  const location = { file: 'a', row: 3 };
  expect(measureRow(['abc', 1, null, [1, 'xy'], { a: 'b' }, new Uint8Array(4)], location).bytes).toBe(25);
  const long = 'x'.repeat(1_000_000);
  expect(() => measureRow([Array(300).fill(long)], location)).toThrow(
    expect.objectContaining({ code: 'invalid_row', location }),
  );
});
