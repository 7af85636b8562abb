import { describe, expect, it } from 'vitest';
import { encodeRuns } from '../../test/encode-runs.ts';
import type { LeafColumn } from './cells/convert.ts';
import { PageInflater } from './codecs/inflate-page.ts';
import { DataPage, openDataPage } from './data-page.ts';
import type { PageHeader } from './metadata/page-header.ts';
import { type SchemaElement, schemaTree } from './metadata/schema.ts';
import { ParquetError } from './parquet-error.ts';

const LIST: SchemaElement[] = [
  { name: 'root', num_children: 1 },
  { name: 'tags', num_children: 1, converted_type: 'LIST', repetition_type: 'OPTIONAL' },
  { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
  { name: 'element', type: 'INT32', repetition_type: 'OPTIONAL' },
];
const root = schemaTree(LIST);
const path = [
  root,
  root.children[0]!,
  root.children[0]!.children[0]!,
  root.children[0]!.children[0]!.children[0]!,
];
const column: LeafColumn = {
  path,
  maxRepetition: 1,
  maxDefinition: 3,
  type: 'INT32',
  typeLength: undefined,
  codec: 'UNCOMPRESSED',
  convert: (values) => values,
  holdsTexts: false,
};
const inflater = new PageInflater(new Map());

async function decode([body, header]: [Uint8Array, PageHeader], open: unknown[] = []): Promise<unknown[]> {
  const page = new DataPage(await openDataPage(body, header, column, inflater), column, undefined);
  return page.next(1000, open) as unknown[];
}

const int32 = (...values: number[]): Uint8Array => new Uint8Array(Int32Array.from(values).buffer);
const sized = (bytes: Uint8Array): number[] => [
  ...new Uint8Array(Uint32Array.of(bytes.length).buffer),
  ...bytes,
];

/** A page of version 1: its levels come before the values, with their lengths. */
function pageOne(repetition: number[], definition: number[], values: Uint8Array): [Uint8Array, PageHeader] {
  const body = Uint8Array.from([
    ...sized(encodeRuns([{ packed: repetition }], 1)),
    ...sized(encodeRuns([{ packed: definition }], 2)),
    ...values,
  ]);
  const header: PageHeader = {
    type: 'DATA_PAGE',
    uncompressed_page_size: body.length,
    compressed_page_size: body.length,
    data_page_header: {
      num_values: repetition.length,
      encoding: 'PLAIN',
      definition_level_encoding: 'RLE',
      repetition_level_encoding: 'RLE',
    },
  };
  return [body, header];
}

describe('DataPage', () => {
  it('a row of a list continues in the next page', async () => {
    const first = await decode(pageOne([0, 1, 0], [3, 2, 3], int32(1, 2)));
    // The optional list is another level of nesting, which the assembly removes.
    expect(first).toEqual([[[1, null]], [[2]]]);
    const second = pageOne([1, 1, 0], [3, 3, 0], int32(3, 4));
    expect(await decode(second, first.slice(-1))).toEqual([[[2, 3, 4]], []]);
  });

  it('counts nulls by the levels, not by what the header of a page of version 2 says', async () => {
    const repetition = encodeRuns([{ packed: [0, 0, 1, 0] }], 1);
    const definition = encodeRuns([{ packed: [0, 3, 3, 1] }], 2);
    const values = int32(7, 8);
    const body = Uint8Array.from([...repetition, ...definition, ...values]);
    const header: PageHeader = {
      type: 'DATA_PAGE_V2',
      uncompressed_page_size: body.length,
      compressed_page_size: body.length,
      data_page_header_v2: {
        num_values: 4,
        encoding: 'PLAIN',
        definition_levels_byte_length: definition.length,
        repetition_levels_byte_length: repetition.length,
      },
    };
    const rows = await decode([body, header]);
    expect(rows).toHaveLength(3);
    expect(JSON.stringify(rows[1])).toContain('7');
    expect(JSON.stringify(rows[1])).toContain('8');
  });

  it.each([
    ['levels longer than the page', Uint8Array.of(255, 255, 255, 127, 0)],
    ['nothing', new Uint8Array()],
    ['levels without values', pageOne([0], [3], new Uint8Array())[0]],
  ])('refuses %s', async (_name, body) => {
    const [, header] = pageOne([0], [3], int32(1));
    const sizedHeader = { ...header, uncompressed_page_size: body.length };
    await expect(decode([body, sizedHeader])).rejects.toThrow(ParquetError);
  });
});
