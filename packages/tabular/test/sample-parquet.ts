import type { Encoding, SchemaElement } from 'hyparquet';
import { CODECS, type RewriteOptions, rewriteParquet } from './rewrite-parquet.ts';
import { writeParquet } from './write-parquet.ts';

const ROWS = 60;

interface SampleColumn {
  element: SchemaElement;
  data: unknown[];
  encodings: readonly Encoding[];
}

const row = <T>(make: (n: number) => T): T[] => Array.from({ length: ROWS }, (_, n) => make(n));
const fixed = (length: number) => (n: number) => new Uint8Array(length).map((_, at) => (n * 7 + at) % 61);

/** One column of each physical type and of the logical ones that are decoded differently. */
const COLUMNS: readonly SampleColumn[] = [
  { element: { name: 'truth', type: 'BOOLEAN' }, data: row((n) => n % 3 === 0), encodings: ['PLAIN', 'RLE'] },
  {
    element: { name: 'small', type: 'INT32' },
    data: row((n) => (n % 9) * 1000 - n),
    encodings: ['PLAIN', 'RLE_DICTIONARY', 'DELTA_BINARY_PACKED', 'BYTE_STREAM_SPLIT'],
  },
  {
    element: { name: 'large', type: 'INT64' },
    data: row((n) => BigInt(n % 9) ** 19n - BigInt(n)),
    encodings: ['PLAIN', 'RLE_DICTIONARY', 'DELTA_BINARY_PACKED', 'BYTE_STREAM_SPLIT'],
  },
  {
    element: { name: 'single', type: 'FLOAT' },
    data: row((n) => (n % 8) / 4),
    encodings: ['PLAIN', 'RLE_DICTIONARY', 'BYTE_STREAM_SPLIT'],
  },
  {
    element: { name: 'double', type: 'DOUBLE' },
    data: row((n) => Math.fround((n % 8) / 3)),
    encodings: ['PLAIN', 'RLE_DICTIONARY', 'BYTE_STREAM_SPLIT'],
  },
  {
    element: { name: 'text', type: 'BYTE_ARRAY', converted_type: 'UTF8' },
    data: row((n) => `text ${n % 7} ${'x'.repeat(n % 12)}`),
    encodings: ['PLAIN', 'RLE_DICTIONARY', 'DELTA_LENGTH_BYTE_ARRAY', 'DELTA_BYTE_ARRAY'],
  },
  {
    element: { name: 'bytes', type: 'BYTE_ARRAY' },
    data: row((n) => fixed(n % 11)(n)),
    encodings: ['PLAIN', 'RLE_DICTIONARY', 'DELTA_LENGTH_BYTE_ARRAY', 'DELTA_BYTE_ARRAY'],
  },
  {
    element: { name: 'fixed', type: 'FIXED_LEN_BYTE_ARRAY', type_length: 10 },
    data: row((n) => fixed(10)(n % 9)),
    encodings: ['PLAIN', 'RLE_DICTIONARY', 'BYTE_STREAM_SPLIT'],
  },
];

const REPETITIONS = ['REQUIRED', 'OPTIONAL'] as const;

export interface Sample {
  name: string;
  encoding: Encoding;
  make(options: RewriteOptions): Uint8Array;
}

/** Files of every encoding, with each column required and optional, and lists and structs. */
export function sampleFiles(): Sample[] {
  const encodings = [...new Set(COLUMNS.flatMap((column) => column.encodings))];
  return encodings.flatMap((encoding) =>
    REPETITIONS.map((repetition) => {
      const columns = COLUMNS.filter((column) => column.encodings.includes(encoding));
      const source = writeParquet({
        columns: columns.map(({ element, data }) => ({
          name: element.name,
          data: repetition === 'OPTIONAL' ? data.map((value, n) => (n % 5 === 2 ? null : value)) : data,
          encoding,
          codec: 'UNCOMPRESSED' as const,
        })),
        schema: [
          { name: 'root', num_children: columns.length },
          ...columns.map(({ element }) => ({ ...element, repetition_type: repetition })),
        ],
        rowGroupSize: 40,
        pageSize: 150,
      });
      return {
        name: `${encoding}, ${repetition.toLowerCase()}`,
        encoding,
        make: (options: RewriteOptions) => rewriteParquet(source, options),
      };
    }).concat(encoding === 'PLAIN' || encoding === 'RLE_DICTIONARY' ? [nestedSample(encoding)] : []),
  );
}

function nestedSample(encoding: Encoding): Sample {
  const optional = { repetition_type: 'OPTIONAL' as const };
  const source = writeParquet({
    columns: [
      {
        name: 'tags',
        data: row((n) =>
          n % 6 === 0 ? null : Array.from({ length: n % 4 }, (_, at) => `tag ${(n + at) % 5}`),
        ),
        encoding,
        codec: 'UNCOMPRESSED',
      },
      {
        name: 'pair',
        data: row((n) => (n % 7 === 0 ? null : { left: n % 3, right: n % 4 === 0 ? null : `r${n % 3}` })),
        encoding,
        codec: 'UNCOMPRESSED',
      },
    ],
    schema: [
      { name: 'root', num_children: 2 },
      { name: 'tags', num_children: 1, converted_type: 'LIST', ...optional },
      { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
      { name: 'element', type: 'BYTE_ARRAY', converted_type: 'UTF8', ...optional },
      { name: 'pair', num_children: 2, ...optional },
      { name: 'left', type: 'INT32', repetition_type: 'REQUIRED' },
      { name: 'right', type: 'BYTE_ARRAY', converted_type: 'UTF8', ...optional },
    ],
    rowGroupSize: 40,
    pageSize: 120,
  });
  return { name: `${encoding}, nested`, encoding, make: (options) => rewriteParquet(source, options) };
}

/** Every way in which pages can be written. */
export const PAGE_KINDS: readonly RewriteOptions[] = CODECS.flatMap((codec) =>
  ([1, 2] as const).map((version) => ({ codec, version })),
);
