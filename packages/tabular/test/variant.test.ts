import { canonicalJson, parseJson } from '@svc/jsonl-v23/json';
import type { SchemaElement } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DuckDb } from './duckdb.ts';
import { encodeNames, encodeValue, type VariantNode } from './encode-variant.ts';
import { readParquetFile } from './read-parquet.ts';
import { rewriteParquet } from './rewrite-parquet.ts';
import { writeParquet } from './write-parquet.ts';

let duckDb: DuckDb;
beforeAll(async () => {
  duckDb = await DuckDb.open();
});
afterAll(async () => {
  await duckDb[Symbol.asyncDispose]();
});

/** SQL of a value, and its JSON. */
const VALUES: ReadonlyArray<readonly [sql: string, json: string]> = [
  ['true', 'true'],
  ['1::tinyint', '1'],
  ['-30000::smallint', '-30000'],
  ['2147483647', '2147483647'],
  ['9223372036854775807', '9223372036854775807'],
  ['1.5::float', '1.5'],
  ['0.1::double', '0.1'],
  ["'nan'::double", 'null'],
  ['12345.6789::decimal(9, 4)', '12345.6789'],
  ['85612521990.439193::decimal(18, 6)', '85612521990.439193'],
  ['-1234567890123456789012345678.0123456789::decimal(38, 10)', '-1234567890123456789012345678.0123456789'],
  ["date '2020-02-29'", '"2020-02-29"'],
  ["time '03:04:05.000100'", '"03:04:05.000100"'],
  ["timestamp '2020-01-02 03:04:05.123456'", '"2020-01-02T03:04:05.123456"'],
  ["timestamptz '2020-01-02 03:04:05+00'", '"2020-01-02T03:04:05Z"'],
  ["timestamp_ns '2020-01-02 03:04:05.123456789'", '"2020-01-02T03:04:05.123456789"'],
  ["'\\xAA\\xBB'::blob", '"qrs="'],
  ["uuid '00112233-4455-6677-8899-aabbccddeeff'", '"00112233-4455-6677-8899-aabbccddeeff"'],
  ["'short'", '"short"'],
  ["repeat('é', 200)", JSON.stringify('é'.repeat(200))],
  ['[1, null, 3]', '[1,null,3]'],
  ["[{'a': [1.25::decimal(4, 2)], 'b': 'x'}]", '[{"a":[1.25],"b":"x"}]'],
  ["{'b': 1, 'a': {'c': 'x'}}", '{"a":{"c":"x"},"b":1}'],
];

const variants = (values: typeof VALUES): string =>
  values.map(([sql]) => `select (${sql})::variant as v`).join(' union all ');

describe('VARIANT columns of DuckDB', () => {
  it('are decoded exactly if they hold values of every type', async () => {
    const values: typeof VALUES = [
      ...VALUES,
      ["{'__proto__': [], 'c': null}", '{"__proto__":[],"c":null}'],
      ['null', 'null'],
    ];
    const { dtypes, texts } = await readParquetFile(
      await duckDb.write(variants(values), "shredding {v: 'STRUCT(z INTEGER)'}"),
    );
    expect(dtypes).toEqual({ v: 'json' });
    expect(texts).toEqual(values.map(([, json]) => `{"v":${json}}`));
  });

  it.each(VALUES)('are decoded exactly if they are shredded as the type of %s', async (sql, json) => {
    const rows: typeof VALUES = [[sql, json], ["'other'", '"other"'], ...VALUES.slice(0, 3), [sql, json]];
    const type = String((await duckDb.query(`select typeof(${sql}) as type`))[0]!['type']);
    for (const option of [`shredding {v: '${type}'}`, '']) {
      const { texts } = await readParquetFile(await duckDb.write(variants(rows), option));
      expect([sql, option, texts]).toEqual([sql, option, rows.map(([, value]) => `{"v":${value}}`)]);
    }
  });

  it.each([
    ['BIGINT'],
    ['STRUCT(a BIGINT)'],
    ['STRUCT(a BIGINT, b VARCHAR)'],
    ['STRUCT(c BIGINT[], b STRUCT(x VARCHAR))'],
    ['STRUCT(a VARCHAR)[]'],
    ['VARCHAR[][]'],
  ])('are what DuckDB reads if they are shredded as %s', async (type) => {
    const query = `
      select case i % 6
        when 0 then {'a': i, 'b': 'text ' || i}::variant
        when 1 then [{'a': 'x' || i}, {'a': null}]::variant
        when 2 then {'c': [i, i + 1], 'b': {'x': 'y', 'z': i}}::variant
        when 3 then i::variant
        when 4 then [['p', 'q'], [], null, ['r']]::variant
        else null end as v, i
      from range(3000) t(i)`;
    const bytes = await duckDb.write(query, `shredding {v: '${type}'}, row_group_size 2048`);
    const expected = await duckDb.query('select v::json as v from file order by i');
    const { rows } = await readParquetFile(bytes);
    expect(rows.map((row) => canonicalJson(row['v'] ?? null))).toEqual(
      expected.map(({ v }) => canonicalJson(v === null ? null : parseJson(String(v)))),
    );
  });
});

const optional = { repetition_type: 'OPTIONAL' as const };
const required = { repetition_type: 'REQUIRED' as const };
const bytesColumn = (name: string): SchemaElement => ({ name, type: 'BYTE_ARRAY', ...optional });

/** A file of one VARIANT column with these columns after its metadata; the writer would encode an annotated one itself. */
function variantFile(data: unknown[], columns: SchemaElement[], count: number): Uint8Array {
  const source = writeParquet({
    columns: [{ name: 'v', data, codec: 'UNCOMPRESSED' }],
    schema: [
      { name: 'root', num_children: 1 },
      { name: 'v', num_children: count + 1, ...optional },
      { name: 'metadata', type: 'BYTE_ARRAY', ...required },
      ...columns,
    ],
  });
  return rewriteParquet(source, {
    codec: 'ZSTD',
    version: 2,
    metadata: ({ schema }) => {
      schema[1]!.logical_type = { type: 'VARIANT' };
    },
  });
}

const NAMES = ['a', 'b'];
const metadata = encodeNames(NAMES);
const stored = (node: VariantNode): Uint8Array => encodeValue(node, NAMES);
const one: VariantNode = { kind: 3, payload: Uint8Array.of(1) };

describe('VARIANT columns that contradict themselves', () => {
  const number: SchemaElement = { name: 'typed_value', type: 'INT32', ...optional };
  const object: SchemaElement[] = [
    bytesColumn('value'),
    { name: 'typed_value', num_children: 1, ...optional },
    { name: 'a', num_children: 2, ...required },
    bytesColumn('value'),
    number,
  ];
  const typed = { a: { value: null, typed_value: 7 } };

  it.each([
    [
      'two values',
      [bytesColumn('value'), number],
      { value: stored(one), typed_value: 1 },
      'a VARIANT has two values',
    ],
    [
      'an object and a number',
      object,
      { value: stored(one), typed_value: typed },
      'a VARIANT has two values',
    ],
    [
      'one member twice',
      object,
      { value: stored({ members: [['a', one]] }), typed_value: typed },
      'an object of a VARIANT has two members of one name',
    ],
    [
      'a member with a column that is empty, which has its value elsewhere',
      object,
      { value: stored({ members: [['a', one]] }), typed_value: { a: { value: null, typed_value: null } } },
      'an object of a VARIANT has two members of one name',
    ],
    [
      'broken bytes',
      [bytesColumn('value'), number],
      { value: Uint8Array.of(3, 9), typed_value: null },
      'a VARIANT reaches beyond the end of its bytes',
    ],
  ])('have %s: the error names column and row', async (_, columns, cell, reason) => {
    const data = [{ metadata, value: stored(one), typed_value: null }, null, { metadata, ...cell }];
    await expect(readParquetFile(variantFile(data, columns, 2))).rejects.toMatchObject({
      code: 'damaged_file',
      message: `Cannot read the Parquet file: column "v", row 2: ${reason}.`,
      location: { file: 'data.parquet', row: 2 },
    });
  });

  it('have two halves of one object, members that are missing and those that are null', async () => {
    const nothing = stored({ kind: 0, payload: new Uint8Array(0) });
    const data = [
      { metadata, value: stored({ members: [['b', one]] }), typed_value: typed },
      { metadata, value: null, typed_value: { a: { value: null, typed_value: null } } },
      { metadata, value: null, typed_value: { a: { value: nothing, typed_value: null } } },
      { metadata, value: null, typed_value: null },
      null,
    ];
    const { texts } = await readParquetFile(variantFile(data, object, 2));
    expect(texts).toEqual([
      '{"v":{"a":7,"b":1}}',
      '{"v":{}}',
      '{"v":{"a":null}}',
      '{"v":null}',
      '{"v":null}',
    ]);
  });

  it.each([
    ['no value', [], 0, 'damaged_file', 'column "v" does not have the columns of a VARIANT'],
    [
      'a foreign column',
      [bytesColumn('other')],
      1,
      'damaged_file',
      'column "v" does not have the columns of a VARIANT',
    ],
    [
      'an unsigned number',
      [{ ...number, converted_type: 'UINT_32' as const }],
      1,
      'unsupported_file',
      'a VARIANT is stored as a type that no VARIANT has',
    ],
  ])('have %s', async (_, columns, count, code, reason) => {
    await expect(readParquetFile(variantFile([], columns, count))).rejects.toMatchObject({
      code,
      message: `Cannot read the Parquet file: ${reason}.`,
    });
  });
});

it('VARIANTs are decoded within lists and structs', async () => {
  const cell = (node: VariantNode): object => ({ metadata, value: stored(node) });
  const data = [[cell(one), null, cell({ members: [['b', { items: [one] }]] })], [], null];
  const source = writeParquet({
    columns: [{ name: 's', data: data.map((x) => ({ x, n: 1 })), codec: 'UNCOMPRESSED' }],
    schema: [
      { name: 'root', num_children: 1 },
      { name: 's', num_children: 2, ...optional },
      { name: 'x', num_children: 1, converted_type: 'LIST', ...optional },
      { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
      { name: 'element', num_children: 2, ...optional },
      { name: 'metadata', type: 'BYTE_ARRAY', ...required },
      { name: 'value', type: 'BYTE_ARRAY', ...optional },
      { name: 'n', type: 'INT32', ...required },
    ],
  });
  const bytes = rewriteParquet(source, {
    codec: 'SNAPPY',
    version: 1,
    metadata: ({ schema }) => {
      schema[4]!.logical_type = { type: 'VARIANT' };
    },
  });
  const { dtypes, texts } = await readParquetFile(bytes);
  expect(dtypes).toEqual({ s: 'struct<x: list<json>, n: int32>' });
  expect(texts).toEqual([
    '{"s":{"n":1,"x":[1,null,{"b":[1]}]}}',
    '{"s":{"n":1,"x":[]}}',
    '{"s":{"n":1,"x":null}}',
  ]);
});

it('a VARIANT of more values than an item may have is an invalid row', async () => {
  const value = stored({ items: Array.from({ length: 250_000 }, () => one) });
  const rows = [
    { metadata, value: stored(one) },
    { metadata, value },
  ];
  await expect(readParquetFile(variantFile(rows, [bytesColumn('value')], 1))).rejects.toMatchObject({
    code: 'invalid_row',
    location: { file: 'data.parquet', row: 1 },
  });
});

it('members with long names are measured as what they become', async () => {
  // Each row names a text of 1 MiB 300 times, and has a few hundred bytes.
  const name = 'n'.repeat(2 ** 20);
  const node: VariantNode = { items: Array.from({ length: 300 }, () => ({ members: [[name, one]] })) };
  const row = { metadata: encodeNames([name]), value: encodeValue(node, [name]) };
  await expect(readParquetFile(variantFile([row], [bytesColumn('value')], 1))).rejects.toMatchObject({
    code: 'invalid_row',
    location: { file: 'data.parquet', row: 0 },
  });
});
