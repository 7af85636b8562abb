import type { JsonValue } from '@svc/jsonl-v23/json';
import type { SchemaElement } from 'hyparquet';
import { describe, expect, it } from 'vitest';
import { openParquetTable } from '../src/parquet/parquet-table.ts';
import { dtypeOf } from '../src/schema/features.ts';
import { memoryFile } from './memory-file.ts';
import { rewriteParquet } from './rewrite-parquet.ts';
import { writeParquet } from './write-parquet.ts';

const root: SchemaElement = { name: 'root', num_children: 1 };
const required = { repetition_type: 'REQUIRED' as const };
const optional = { repetition_type: 'OPTIONAL' as const };
const repeated = { repetition_type: 'REPEATED' as const };
const list = (name: string, repetition: typeof required | typeof optional): SchemaElement => ({
  name,
  num_children: 1,
  converted_type: 'LIST',
  ...repetition,
});

function leafPaths(schema: readonly SchemaElement[]): string[][] {
  let next = 0;
  const walk = (path: string[]): string[][] => {
    const { name, num_children: count = 0 } = schema[next]!;
    next += 1;
    const own = [...path, name];
    return count === 0 ? [own] : Array.from({ length: count }, () => walk(own)).flat();
  };
  return walk([]);
}

/** Writes lists with one schema, and gives the file another schema with the same levels. */
async function read(
  data: unknown[],
  written: SchemaElement[],
  schema: SchemaElement[],
): Promise<{ dtype: string; values: JsonValue[] }> {
  const source = writeParquet({
    columns: [{ name: 'x', data, codec: 'UNCOMPRESSED' }],
    schema: [root, ...written],
    pageSize: 20,
  });
  const bytes = rewriteParquet(source, {
    codec: 'UNCOMPRESSED',
    version: 1,
    metadata: (metadata) => {
      metadata.schema = [root, ...schema];
      const paths = leafPaths(schema);
      for (const { columns } of metadata.row_groups) {
        for (const [index, column] of columns.entries()) column.meta_data!.path_in_schema = paths[index]!;
      }
    },
  });
  const table = await openParquetTable([memoryFile(bytes)], {
    everyFooter: true,
    signal: undefined,
  });
  const values: JsonValue[] = [];
  for await (const { rows } of table.read({ from: 0, columns: ['x'], signal: undefined })) {
    values.push(...rows.map((row) => row['x'] ?? null));
  }
  return { dtype: dtypeOf(table.features[0]!.feature), values };
}

const LISTS = [[1, 2], [], [3], [4, 5, 6, 7, 8, 9], []];
const NULLABLE = [...LISTS, null, [10]];
const int = { type: 'INT32' as const };
const structs = (lists: typeof NULLABLE, name: string): JsonValue[] =>
  lists.map((values) => values?.map((value) => ({ [name]: value })) ?? null);

describe('lists without annotation', () => {
  const written = [list('x', required), { name: 'list', num_children: 1, ...repeated }];

  it('of values are empty where there are none', async () => {
    const schema = [{ name: 'x', ...int, ...repeated }];
    expect(await read(LISTS, [...written, { name: 'element', ...int, ...required }], schema)).toEqual({
      dtype: 'list<int32>',
      values: LISTS,
    });
  });

  it('of groups are empty where there are none', async () => {
    const schema = [
      { name: 'x', num_children: 1, ...repeated },
      { name: 'a', ...int, ...required },
    ];
    expect(await read(LISTS, [...written, { name: 'element', ...int, ...required }], schema)).toEqual({
      dtype: 'list<struct<a: int32>>',
      values: structs(LISTS, 'a'),
    });
  });
});

describe('lists of older writers', () => {
  const written = (item: typeof required | typeof optional): SchemaElement[] => [
    list('x', optional),
    { name: 'list', num_children: 1, ...repeated },
    { name: 'element', ...int, ...item },
  ];

  it('of two levels are empty or null', async () => {
    const schema = [list('x', optional), { name: 'array', ...int, ...repeated }];
    expect(await read(NULLABLE, written(required), schema)).toEqual({
      dtype: 'list<int32>',
      values: NULLABLE,
    });
  });

  it.each(['array', 'x_tuple'])('hold structs if what they repeat is called %s', async (name) => {
    for (const item of [required, optional]) {
      const schema = [
        list('x', optional),
        { name, num_children: 1, ...repeated },
        { name: 'a', ...int, ...item },
      ];
      expect(await read(NULLABLE, written(item), schema)).toEqual({
        dtype: 'list<struct<a: int32>>',
        values: structs(NULLABLE, 'a'),
      });
    }
  });

  it.each(['list', 'bag', 'y_tuple'])('hold values if what they repeat is called %s', async (name) => {
    const schema = [
      list('x', optional),
      { name, num_children: 1, ...repeated },
      { name: 'a', ...int, ...optional },
    ];
    expect(await read(NULLABLE, written(optional), schema)).toEqual({
      dtype: 'list<int32>',
      values: NULLABLE,
    });
  });

  it('hold lists if what they repeat is a list', async () => {
    const nested = [[[1, 2], [3]], [], null, [[], [4]], [[]]];
    const three = [
      list('x', optional),
      { name: 'list', num_children: 1, ...repeated },
      list('element', required),
      { name: 'list', num_children: 1, ...repeated },
      { name: 'element', ...int, ...required },
    ];
    const schema = [
      list('x', optional),
      { name: 'array', num_children: 1, converted_type: 'LIST' as const, ...repeated },
      { name: 'array', ...int, ...repeated },
    ];
    expect(await read(nested, three, schema)).toEqual({ dtype: 'list<list<int32>>', values: nested });
  });
});

it('a list that repeats a group of several members holds structs', async () => {
  const data = [
    [
      { a: 1, b: null },
      { a: 2, b: 3 },
    ],
    [],
    null,
  ];
  const schema: SchemaElement[] = [
    list('x', optional),
    { name: 'list', num_children: 1, ...repeated },
    { name: 'element', num_children: 2, ...required },
    { name: 'a', ...int, ...required },
    { name: 'b', ...int, ...optional },
  ];
  const older = schema.flatMap((element) =>
    element.name === 'list' ? [{ ...element, num_children: 2 }] : element.name === 'element' ? [] : [element],
  );
  expect(await read(data, schema, older)).toEqual({
    dtype: 'list<struct<a: int32, b: int32>>',
    values: data,
  });
});
