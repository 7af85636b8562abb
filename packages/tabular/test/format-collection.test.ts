/**
 * Files with the features of the format's public test collection (apache/parquet-testing, `data` and `bad_data`), which no
 * package distributes. Titles begin with the names of the collection's files. Other tests have the features of the rest:
 *
 * | files | test |
 * |---|---|
 * | alltypes_* (INT96), int96_from_spark | odd-writers, cells/cell |
 * | byte_array_decimal, fixed_length_decimal, fixed_length_decimal_legacy | cells/cell, features-from-parquet |
 * | byte_stream_split*, delta_*, plain and dictionary pages of versions 1 and 2, hadoop_lz4_*, lz4_raw_* | decode-parquet |
 * | datapage_v1-*-checksum, *-corrupt-checksum | page-crc |
 * | nation.dict-malformed | odd-writers |
 * | old_list_structure, repeated_no_annotation, repeated_primitive_no_list | older-lists |
 * | encrypt_*, uniform_encryption*, external_key_material_* | read-parquet (refused) |
 * | unknown-logical-type, PARQUET-1481 | metadata/file-metadata |
 * | variant/*, shredded_variant/* | features-from-parquet (refused) |
 * | ARROW-GH-47662 | decode-parquet ("bytes of a neighbour") |
 * | geospatial/* | features-from-parquet (binary) |
 */
import { brotliDecompressSync, gunzipSync, gzipSync, zstdDecompressSync } from 'node:zlib';
import { canonicalJson, parseJson } from '@svc/jsonl-v23/json';
import {
  type Compressors,
  type FileMetaData,
  parquetMetadata,
  parquetReadObjects,
  type SchemaElement,
} from 'hyparquet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inflateLz4Block } from '../src/parquet/codecs/inflate-block.ts';
import { featuresFromParquet } from '../src/parquet/metadata/features-from-parquet.ts';
import { openParquetTable } from '../src/parquet/parquet-table.ts';
import { compileRow } from './compile-row.ts';
import { DuckDb } from './duckdb.ts';
import { memoryFile } from './memory-file.ts';
import { rawMetadata } from './raw-metadata.ts';
import { RAW_PARSERS } from './raw-parsers.ts';
import { readParquetFile } from './read-parquet.ts';
import { type RewriteOptions, rewriteParquet } from './rewrite-parquet.ts';
import { type WriteOptions, writeParquet } from './write-parquet.ts';

let duckDb: DuckDb;
beforeAll(async () => {
  duckDb = await DuckDb.open();
});
afterAll(async () => {
  await duckDb[Symbol.asyncDispose]();
});

const compressors: Compressors = {
  GZIP: (input) => gunzipSync(input),
  BROTLI: (input) => brotliDecompressSync(input),
  ZSTD: (input) => zstdDecompressSync(input),
  LZ4_RAW: inflateLz4Block,
};

/** Rows as hyparquet reads them, by our conversion of cells. */
async function hyparquetRows(bytes: Uint8Array): Promise<string[]> {
  const metadata = parquetMetadata(bytes.slice().buffer);
  const rows = await parquetReadObjects({
    file: bytes.slice().buffer,
    metadata: rawMetadata(metadata),
    parsers: RAW_PARSERS,
    utf8: false,
    compressors,
  });
  const convert = compileRow(featuresFromParquet(metadata));
  return rows.map((row) => canonicalJson(convert(row)));
}

/** DuckDB writes times with a blank, zones as +00, and NaN. */
const ourTimes = (text: string): string =>
  text
    .replaceAll(/\bNaN\b/gi, 'null')
    .replaceAll(/"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)(?:\+00)?"/g, '"$1T$2"');
const withoutZones = (text: string): string => text.replaceAll(/("\d{4}-\d\d-\d\dT[\d:.]+)Z"/g, '$1"');

describe('is what two other readers read:', () => {
  it.each([
    [
      'alltypes_plain, alltypes_dictionary, alltypes_tiny_pages, datapage_v2.snappy, single_nan',
      `select i, i::tinyint a, i::smallint b, (i * 1000003)::int c, (i * 10000000019)::bigint d, (i / 4)::float e,
         (i / 7)::double f, i % 3 = 0 g, 'text ' || (i % 5) h, if(i = 7, 'nan'::double, i / 2) j from range(100) t(i)`,
    ],
    [
      'int32_decimal, int64_decimal, fixed_length_decimal',
      `select (i / 100)::decimal(4, 2) a, (i * 1234.5678)::decimal(9, 4) b, (i * 8561252199.439193::decimal(18, 6))::decimal(18, 6) c,
         (i * 1234567890123456789.0123456789::decimal(36, 10))::decimal(38, 10) d from range(-50, 50) t(i)`,
    ],
    [
      'nested_lists.snappy, list_columns, null_list, nulls.snappy, nullable.impala',
      `select [[i, null], [], null] a, if(i % 3 = 0, null, ['x' || i, null]) b, null::int c, {'d': null::int, 'e': [{'f': i}]} g
         from range(50) t(i)`,
    ],
    [
      'nested_maps.snappy, large_string_map.brotli, nonnullable.impala',
      `select map {'a' || i: map {1: true, 2: false}} m, map {repeat('k', 100): repeat('v', 3000)} n, {'o': {'p': i}} q
         from range(20) t(i)`,
    ],
    ['rle_boolean_encoding', 'select i % 7 < 3 a, if(i % 5 = 0, null, i % 2 = 0) b from range(1000) t(i)'],
    [
      'binary, fixed_length_byte_array, int96_from_spark',
      `select date '1970-01-01' + i::int a, timestamp '2020-01-01 00:00:00.000001' + interval (i) hour b,
         timestamptz '2020-01-01 00:00:00+00' + interval (i) day c, uuid '00112233-4455-6677-8899-aabbccddeeff' d
         from range(60) t(i)`,
    ],
    ['a file without rows', 'select 1 a, [1] b where false'],
  ])('%s', async (_, query) => {
    for (const options of [
      'parquet_version v1, codec snappy, row_group_size 2048',
      'parquet_version v2, codec zstd',
      'parquet_version v2, codec brotli, dictionary_size_limit 1',
      'parquet_version v1, codec lz4_raw',
    ]) {
      const bytes = await duckDb.write(query, options);
      const expected = await duckDb.query('select to_json(file) as row from file');
      const { texts } = await readParquetFile(bytes);
      const duckRows = expected.map(({ row }) => canonicalJson(parseJson(ourTimes(String(row)))));
      expect([options, texts.map(withoutZones)]).toEqual([options, duckRows]);
      expect(texts).toEqual(await hyparquetRows(bytes));
    }
  });
});

const required = { repetition_type: 'REQUIRED' as const };
const optional = { repetition_type: 'OPTIONAL' as const };
const NUMBERS = Array.from({ length: 40 }, (_, n) => (n % 4 === 3 ? null : n % 5));
const numbers = (options: Partial<WriteOptions> = {}): Uint8Array =>
  writeParquet({
    columns: ['a', 'b'].map((name) => ({ name, data: NUMBERS, encoding: 'PLAIN', codec: 'UNCOMPRESSED' })),
    schema: [
      { name: 'root', num_children: 2 },
      { name: 'a', type: 'INT32', ...optional },
      { name: 'b', type: 'INT32', ...optional },
    ],
    pageSize: 100,
    ...options,
  });
const NUMBER_ROWS = NUMBERS.map((n) => `{"a":${n},"b":${n}}`);

describe('is read as it is written:', () => {
  const rewritten = (options: Partial<RewriteOptions>): Uint8Array =>
    rewriteParquet(numbers(), { codec: 'UNCOMPRESSED', version: 1, ...options });

  it('concatenated_gzip_members', async () => {
    const members = (page: Uint8Array): Uint8Array =>
      Buffer.concat([gzipSync(page.subarray(0, 9)), gzipSync(page.subarray(9))]);
    const bytes = rewritten({ codec: 'GZIP', version: 2, compress: members });
    expect((await readParquetFile(bytes)).texts).toEqual(NUMBER_ROWS);
  });

  it('page_v2_empty_compressed, datapage_v2_empty_datapage.snappy', async () => {
    const nothing = numbers({
      columns: ['a', 'b'].map((name) => ({
        name,
        data: [null, null],
        encoding: 'PLAIN',
        codec: 'UNCOMPRESSED',
      })),
    });
    for (const codec of ['SNAPPY', 'ZSTD', 'GZIP'] as const) {
      const bytes = rewriteParquet(nothing, { codec, version: 2, compress: (page) => page.subarray(0, 0) });
      expect((await readParquetFile(bytes)).texts).toEqual(Array(2).fill('{"a":null,"b":null}'));
    }
  });

  it('dict-page-offset-zero', async () => {
    const metadata = ({ row_groups: groups }: FileMetaData): void => {
      for (const { columns } of groups)
        for (const { meta_data: meta } of columns) meta!.dictionary_page_offset = 0n;
    };
    expect((await readParquetFile(rewritten({ metadata }))).texts).toEqual(NUMBER_ROWS);
  });

  it('overflow_i16_page_cnt', { timeout: 300_000 }, async () => {
    const data = Array.from({ length: 33_000 }, (_, n) => n);
    const bytes = writeParquet({
      columns: [{ name: 'a', data, encoding: 'PLAIN', codec: 'UNCOMPRESSED' }],
      schema: [
        { name: 'root', num_children: 1 },
        { name: 'a', type: 'INT32', ...required },
      ],
      pageSize: 1,
      rowGroupSize: 33_000,
    });
    const table = await openParquetTable([memoryFile(bytes)], {
      everyFooter: true,
      signal: undefined,
    });
    const found: unknown[] = [];
    for await (const { rows } of table.read({ from: 0, columns: ['a'], signal: undefined }))
      found.push(...rows.map((row) => row['a']));
    expect(found).toEqual(data);
  });

  it('incorrect_map_schema, map_no_value', async () => {
    // Without values it is a struct, not a map. The writer knows its levels as those of a list.
    const leaf: SchemaElement = { name: 'key', type: 'INT32', ...required };
    const source = writeParquet({
      columns: [{ name: 'm', data: [[1, 2], null], codec: 'UNCOMPRESSED' }],
      schema: [
        { name: 'root', num_children: 1 },
        { name: 'm', num_children: 1, converted_type: 'LIST', ...optional },
        { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
        leaf,
      ],
    });
    const metadata = ({ schema: [, group, entries], row_groups: [rows] }: FileMetaData): void => {
      group!.converted_type = 'MAP';
      entries!.name = 'key_value';
      rows!.columns[0]!.meta_data!.path_in_schema = ['m', 'key_value', 'key'];
    };
    const bytes = rewriteParquet(source, { codec: 'SNAPPY', version: 1, metadata });
    const { dtypes, texts } = await readParquetFile(bytes);
    expect(dtypes).toEqual({ m: 'list<int32>' });
    expect(texts).toEqual(['{"m":[1,2]}', '{"m":null}']);
  });
});

describe('bad data is refused:', () => {
  const refused = async (bytes: Uint8Array, reason: RegExp): Promise<void> => {
    await expect(readParquetFile(bytes)).rejects.toMatchObject({
      name: 'TableError',
      code: expect.stringMatching(/^(?:damaged|unsupported)_file$/),
      message: expect.stringMatching(reason),
    });
  };
  const lying = (
    change: (metadata: FileMetaData) => void,
    options: Partial<RewriteOptions> = {},
  ): Uint8Array => rewriteParquet(numbers(), { codec: 'SNAPPY', version: 1, metadata: change, ...options });

  it('ARROW-GH-41317: columns of one row group with different numbers of rows', async () => {
    await refused(
      lying(({ row_groups: [group] }) => {
        group!.columns[1]!.meta_data!.num_values = 10n;
      }),
      /column "b", row group 0/,
    );
    await refused(
      lying(({ row_groups: [group] }) => {
        group!.num_rows = 41n;
      }),
      /Cannot read the Parquet file: /,
    );
  });

  it('ARROW-GH-41317: a data page of another type, and a chunk of another column', async () => {
    for (const version of [1, 2] as const) {
      const bytes = lying(() => undefined, { codec: 'UNCOMPRESSED', version });
      // The first page begins with field 1 of its header, the type, as a zigzag number.
      expect([...bytes.subarray(4, 6)]).toEqual([0x15, version === 1 ? 0 : 6]);
      for (const type of [version === 1 ? 6 : 0, 2, 4, 18]) {
        await refused(bytes.with(5, type), /column "a", row group 0, page 0: a page of type /);
      }
    }
    const renamed = Buffer.from(lying(() => undefined));
    // The path of the chunk: a list of one text.
    const path = renamed.lastIndexOf(Buffer.of(0x18, 1, 98));
    expect(path).toBeGreaterThan(0);
    renamed[path + 2] = 66;
    await refused(renamed, /column "b" has a chunk of "B"/);
  });

  it('ARROW-GH-41321: pages that are shorter or longer than they say when they are decompressed', async () => {
    for (const change of [
      (page: Uint8Array) => page.subarray(1),
      (page: Uint8Array) => Buffer.concat([page, page]),
    ]) {
      const compress = (page: Uint8Array): Uint8Array => gzipSync(change(page));
      await refused(rewriteParquet(numbers(), { codec: 'GZIP', version: 1, compress }), /column "a".*page 0/);
    }
  });

  it('ARROW-GH-43605, ARROW-RS-GH-6229-DICTHEADER: a dictionary without the values that the pages name', async () => {
    const source = numbers({
      columns: ['a', 'b'].map((name) => ({
        name,
        data: NUMBERS,
        encoding: 'RLE_DICTIONARY',
        codec: 'UNCOMPRESSED',
      })),
    });
    const plain = rewriteParquet(source, { codec: 'UNCOMPRESSED', version: 1, dictionaryCount: 1 });
    await refused(plain, /not in its dictionary|fewer values/);
    const negative = rewriteParquet(source, { codec: 'UNCOMPRESSED', version: 1, dictionaryCount: -1 });
    await refused(negative, /its dictionary has/);
  });

  it('ARROW-RS-GH-6229-LEVELS: levels that end before the values', async () => {
    const levels = (): { count: number; definition: Uint8Array } => ({
      count: 40,
      definition: Uint8Array.of(4, 1),
    });
    await refused(
      rewriteParquet(numbers(), { codec: 'UNCOMPRESSED', version: 2, levels }),
      /column "a".*page 0/,
    );
  });

  it('ARROW-GH-45185: repetition levels that begin with a list that nothing began', async () => {
    const source = writeParquet({
      columns: [{ name: 'l', data: [[1, 2], [3]], codec: 'UNCOMPRESSED', encoding: 'PLAIN' }],
      schema: [
        { name: 'root', num_children: 1 },
        { name: 'l', num_children: 1, converted_type: 'LIST', ...optional },
        { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
        { name: 'element', type: 'INT32', ...required },
      ],
    });
    // Three levels in one bit each: the first entry claims to continue a list.
    const repetition = (): Uint8Array => Uint8Array.of(3, 0b011);
    await refused(
      rewriteParquet(source, { codec: 'UNCOMPRESSED', version: 2, repetition }),
      /column "l.list.element"/,
    );
  });
});
