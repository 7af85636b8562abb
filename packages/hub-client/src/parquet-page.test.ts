import fc from 'fast-check';
import { parquetSchema, type SchemaElement } from 'hyparquet';
import type { ColumnDecoder, PageHeader } from 'hyparquet/src/types.js';
import { describe, expect, it } from 'vitest';
import { RAW_PARSERS } from './cell.ts';
import { decodeDataPage, leafShape, readHybrid } from './parquet-page.ts';

const varint = (value: number): number[] => {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return [...bytes, rest];
};

/** Bit-packs values, the lowest bits first, one by one and with arithmetic that does not overflow. */
function pack(values: readonly number[], width: number): number[] {
  const bits = values.flatMap((value) =>
    Array.from({ length: width }, (_, bit) => Math.floor(value / 2 ** bit) % 2),
  );
  return Array.from({ length: Math.ceil(bits.length / 8) }, (_, at) =>
    bits.slice(at * 8, at * 8 + 8).reduce((byte, bit, index) => byte + bit * 2 ** index, 0),
  );
}

type Run = { repeat: number; value: number } | { packed: number[] };

function encode(runs: readonly Run[], width: number): Uint8Array {
  return Uint8Array.from(
    runs.flatMap((run) => {
      if ('packed' in run) {
        const groups = Math.ceil(run.packed.length / 8);
        const padded = [...run.packed, ...new Array<number>(groups * 8 - run.packed.length).fill(0)];
        return [...varint(groups * 2 + 1), ...pack(padded, width)];
      }
      const bytes = Array.from(
        { length: Math.ceil(width / 8) },
        (_, index) => Math.floor(run.value / 256 ** index) % 256,
      );
      return [...varint(run.repeat * 2), ...bytes];
    }),
  );
}

describe('readHybrid', () => {
  const cases = fc.integer({ min: 1, max: 31 }).chain((width) => {
    const value = fc.integer({ min: 0, max: 2 ** width - 1 });
    const run: fc.Arbitrary<Run> = fc.oneof(
      fc.record({ repeat: fc.integer({ min: 1, max: 300 }), value }),
      fc
        .array(value, { minLength: 1, maxLength: 5 })
        .map((eighth) => ({ packed: Array(8).fill(eighth).flat() as number[] })),
    );
    return fc.tuple(fc.constant(width), fc.array(run, { minLength: 1, maxLength: 6 }));
  });

  it('reads what the definition of the format gives', () => {
    fc.assert(
      fc.property(cases, ([width, runs]) => {
        const values = runs.flatMap((run) =>
          'packed' in run ? run.packed : Array(run.repeat).fill(run.value),
        );
        const output = new Int32Array(values.length);
        readHybrid(encode(runs, width), width, output);
        expect(Array.from(output)).toEqual(values);
      }),
    );
  });

  it('values of 32 bits and of none', () => {
    const wide = new Int32Array(8);
    readHybrid(encode([{ packed: [1, 2 ** 32 - 1, 2 ** 31, 0, 5, 6, 7, 8] }], 32), 32, wide);
    expect(Array.from(wide, (value) => value >>> 0)).toEqual([1, 2 ** 32 - 1, 2 ** 31, 0, 5, 6, 7, 8]);
    const none = Int32Array.of(9, 9);
    readHybrid(new Uint8Array(), 0, none);
    expect(Array.from(none)).toEqual([9, 9]);
  });

  it('takes no more than there is room for, whatever a run claims', () => {
    const output = new Uint8Array(10);
    readHybrid(Uint8Array.from([...varint(2 ** 32 - 2), 1]), 1, output);
    expect(Array.from(output)).toEqual(Array(10).fill(1));
  });

  it.each([
    ['nothing', [], 1],
    ['a header alone', [2], 1],
    ['bits that are missing', [3], 3],
    ['a header that does not end', [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1], 1],
    ['runs of nothing', [0, 0, 0, 0], 1],
    ['a width beyond 32', [2, 0, 0, 0, 0, 0], 33],
  ])('refuses %s', (_name, bytes, width) => {
    expect(() => readHybrid(Uint8Array.from(bytes), width, new Int32Array(16))).toThrow();
  });
});

const LIST: SchemaElement[] = [
  { name: 'root', num_children: 1 },
  { name: 'tags', num_children: 1, converted_type: 'LIST', repetition_type: 'OPTIONAL' },
  { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
  { name: 'element', type: 'INT32', repetition_type: 'OPTIONAL' },
];
const root = parquetSchema({ schema: LIST } as Parameters<typeof parquetSchema>[0]);
const path = [
  root,
  root.children[0]!,
  root.children[0]!.children[0]!,
  root.children[0]!.children[0]!.children[0]!,
];
const decoder: ColumnDecoder = {
  pathInSchema: ['tags', 'list', 'element'],
  type: 'INT32',
  element: LIST[3]!,
  schemaPath: path,
  codec: 'UNCOMPRESSED',
  parsers: RAW_PARSERS,
  utf8: false,
};
const int32 = (...values: number[]): Uint8Array => new Uint8Array(Int32Array.from(values).buffer);
const sized = (bytes: Uint8Array): number[] => [
  ...new Uint8Array(Uint32Array.of(bytes.length).buffer),
  ...bytes,
];

/** A page of version 1: its levels stand in front of the values, with their lengths. */
function pageOne(repetition: number[], definition: number[], values: Uint8Array): [Uint8Array, PageHeader] {
  const body = Uint8Array.from([
    ...sized(encode([{ packed: repetition }], 1)),
    ...sized(encode([{ packed: definition }], 2)),
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

describe('decodeDataPage', () => {
  it('a row of a list goes on in the next page', () => {
    const shape = leafShape(path);
    const first = decodeDataPage(
      ...pageOne([0, 1, 0], [3, 2, 3], int32(1, 2)),
      decoder,
      shape,
      undefined,
      [],
    );
    // The optional list is one level of nesting of its own, which the assembly takes off.
    expect(first).toEqual([[[1, null]], [[2]]]);
    const second = pageOne([1, 1, 0], [3, 3, 0], int32(3, 4));
    const open = (first as unknown[]).slice(-1);
    expect(decodeDataPage(...second, decoder, shape, undefined, open)).toEqual([[[2, 3, 4]], []]);
  });

  it('counts nulls by the levels, not by what the header of a page of version 2 says', () => {
    const repetition = encode([{ packed: [0, 0, 1, 0] }], 1);
    const definition = encode([{ packed: [0, 3, 3, 1] }], 2);
    const values = int32(7, 8);
    const body = Uint8Array.from([...repetition, ...definition, ...values]);
    const header: PageHeader = {
      type: 'DATA_PAGE_V2',
      uncompressed_page_size: body.length,
      compressed_page_size: body.length,
      data_page_header_v2: {
        num_values: 4,
        num_nulls: 0,
        num_rows: 3,
        encoding: 'PLAIN',
        definition_levels_byte_length: definition.length,
        repetition_levels_byte_length: repetition.length,
      },
    };
    const rows = decodeDataPage(body, header, decoder, leafShape(path), undefined, []) as unknown[];
    expect(rows).toHaveLength(3);
    expect(JSON.stringify(rows[1])).toContain('7');
    expect(JSON.stringify(rows[1])).toContain('8');
  });

  it.each([
    ['levels longer than the page', Uint8Array.of(255, 255, 255, 127, 0)],
    ['nothing', new Uint8Array()],
    ['levels without values', pageOne([0], [3], new Uint8Array())[0]],
  ])('refuses %s', (_name, body) => {
    const [, header] = pageOne([0], [3], int32(1));
    const sizedHeader = { ...header, uncompressed_page_size: body.length };
    expect(() => decodeDataPage(body, sizedHeader, decoder, leafShape(path), undefined, [])).toThrow();
  });
});
