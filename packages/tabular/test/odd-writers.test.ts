import type { FileMetaData } from 'hyparquet';
import { describe, expect, it } from 'vitest';
import { plainReader } from '../src/parquet/encodings/plain.ts';
import { ByteCursor } from '../src/parquet/metadata/byte-cursor.ts';
import { openParquetTable } from '../src/parquet/parquet-table.ts';
import { memoryFile } from './memory-file.ts';
import { rewriteParquet } from './rewrite-parquet.ts';
import { writeParquet } from './write-parquet.ts';

async function read(bytes: Uint8Array): Promise<unknown[]> {
  const table = await openParquetTable([memoryFile(bytes)], {
    everyFooter: true,
    signal: undefined,
  });
  const rows: unknown[] = [];
  const columns = table.features.map(({ name }) => name);
  for await (const batch of table.read({ from: 0, columns, signal: undefined })) rows.push(...batch.rows);
  return rows;
}

const optional = { repetition_type: 'OPTIONAL' as const };
const ROWS = Array.from({ length: 50 }, (_, n) => ({
  a: `text ${n % 3}`,
  b: n % 4 === 0 ? [] : [n % 2, n % 3],
}));
const LISTS_AND_TEXTS = writeParquet({
  columns: (['a', 'b'] as const).map((name) => ({
    name,
    data: ROWS.map((row) => row[name]),
    encoding: 'RLE_DICTIONARY',
    codec: 'UNCOMPRESSED',
  })),
  schema: [
    { name: 'root', num_children: 2 },
    { name: 'a', type: 'BYTE_ARRAY', converted_type: 'UTF8', ...optional },
    { name: 'b', num_children: 1, converted_type: 'LIST', ...optional },
    { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
    { name: 'element', type: 'INT32', ...optional },
  ],
  rowGroupSize: 20,
});

/** What the header of a dictionary takes here, about. */
const HEADER_BYTES = 15;

function withShortChunks(createdBy: string): Uint8Array {
  return rewriteParquet(LISTS_AND_TEXTS, {
    codec: 'UNCOMPRESSED',
    version: 1,
    metadata: (metadata: FileMetaData) => {
      metadata.created_by = createdBy;
      for (const { meta_data: chunk } of metadata.row_groups.flatMap(({ columns }) => columns)) {
        chunk!.total_compressed_size -= BigInt(HEADER_BYTES);
      }
    },
  });
}

describe('chunks that are longer than they state', () => {
  it.each([
    'parquet-mr',
    'parquet-mr version 1.2.8',
    'parquet-mr version 1.1.0 (build 9)',
    'parquet-mr version 1.2.0-cdh',
  ])('are read if %s wrote them', async (createdBy) => {
    expect(await read(withShortChunks(createdBy))).toEqual(ROWS);
  });

  it.each(['parquet-mr version 1.2.9', 'parquet-mr version 1.10.1', 'parquet-cpp version 1.2.8'])(
    'are damaged if %s wrote them',
    async (createdBy) => {
      await expect(read(withShortChunks(createdBy))).rejects.toMatchObject({ code: 'damaged_file' });
    },
  );
});

describe('two columns of one name', () => {
  it.each([
    ['columns', ['x', 'x'], [{ name: 'root', num_children: 2 }]],
    [
      'members',
      ['s', 's'],
      [
        { name: 'root', num_children: 1 },
        { name: 's', num_children: 2, ...optional },
      ],
    ],
  ])('are refused: %s', async (_, [name = ''], groups) => {
    const isStruct = name === 's';
    const leaves = ['one', 'two'].map((leaf) => ({ name: leaf, type: 'INT32' as const, ...optional }));
    const source = writeParquet({
      columns: isStruct
        ? [{ name: 's', data: [{ one: 1, two: 2 }] }]
        : leaves.map((leaf, index) => ({ name: leaf.name, data: [index] })),
      schema: [...groups, ...leaves],
    });
    // The footer comes last: names of one length can change in place.
    const text = Buffer.from(source).toString('latin1').replaceAll('two', 'one');
    await expect(read(Buffer.from(text, 'latin1'))).rejects.toMatchObject({
      code: 'unsupported_file',
      message: 'Cannot read the Parquet file: two of its columns are named "one".',
    });
  });
});

it('INT96 takes a negative time of day off the day', () => {
  const bytes = new Uint8Array(24);
  const view = new DataView(bytes.buffer);
  view.setBigInt64(0, -1n, true);
  view.setInt32(8, 2_440_588, true);
  view.setBigInt64(12, -(2n ** 63n), true);
  view.setInt32(20, 2_440_589, true);
  const nanos = plainReader(new ByteCursor(bytes), 'INT96', undefined).next(2);
  expect([...(nanos as bigint[])]).toEqual([-1n, 86_400_000_000_000n - 2n ** 63n]);
});
