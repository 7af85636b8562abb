import { canonicalJson, ExactNumber, type JsonValue } from '@svc/jsonl-v23/json';
import { parquetMetadata, parquetReadObjects, type SchemaElement } from 'hyparquet';
import { type ColumnSource, parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, it } from 'vitest';
import { compileRow } from '../../../test/compile-row.ts';
import { rawMetadata } from '../../../test/raw-metadata.ts';
import { RAW_PARSERS } from '../../../test/raw-parsers.ts';
import {
  dtypeOf,
  type Feature,
  type Features,
  featureFromJson,
  valueFeature,
} from '../../schema/features.ts';
import { featuresFromParquet } from '../metadata/features-from-parquet.ts';
import { compileCell } from './cell.ts';

const exact = (text: string): ExactNumber => new ExactNumber(text);
const bytes = (...values: number[]): Uint8Array => new Uint8Array(values);
const value = (dtype: string): Feature => valueFeature(dtype);
const list = (item: Feature): Feature => ({ kind: 'list', item, length: null, large: false });
const label: Feature = { kind: 'class_label', names: ['neg', 'pos'] };

describe('compileCell', () => {
  it.each<[string, Feature, unknown, JsonValue]>([
    ['null', value('null'), null, null],
    ['undefined', value('string'), undefined, null],
    ['boolean', value('bool'), false, false],
    ['int32', value('int32'), -7, -7],
    ['int64', value('int64'), 42n, 42],
    ['beyond 2^53', value('int64'), 9007199254740993n, exact('9007199254740993')],
    ['uint64', value('uint64'), 18446744073709551615n, exact('18446744073709551615')],
    ['float', value('float64'), -3.25, -3.25],
    ['NaN', value('float64'), Number.NaN, null],
    ['infinity', value('float32'), Number.NEGATIVE_INFINITY, null],
    ['text', value('string'), 'é\u0000', 'é\u0000'],
    ['text as bytes', value('string'), new TextEncoder().encode('\uFEFFé'), '\uFEFFé'],
    ['binary', value('binary'), bytes(0, 255), 'AP8='],
    ['fixed binary', value('fixed_size_binary[2]'), bytes(1, 2), 'AQI='],
    ['label', label, 1n, 'pos'],
    ['no label', label, -1n, null],
    ['label in 32 bits', label, 0, 'neg'],
    ['label without a name', label, 7n, 7],
    ['label as text', label, 'pos', 'pos'],
    ['timestamp', value('timestamp[us]'), '2020-01-01T00:00:00.000005', '2020-01-01T00:00:00.000005'],
    ['timestamp in UTC', value('timestamp[us, tz=UTC]'), '2020-01-01T00:00:00', '2020-01-01T00:00:00Z'],
    [
      'timestamp in a zone',
      value('timestamp[ns, tz=US/Pacific]'),
      '2020-01-01T08:00:00',
      '2020-01-01T00:00:00-08:00',
    ],
    ['date', value('date32'), '2020-01-02', '2020-01-02'],
    ['time32[s], stored as milliseconds', value('time32[s]'), 3_723_000, '01:02:03'],
    ['time64[us]', value('time64[us]'), 3_723_000_004n, '01:02:03.000004'],
    ['time64[ns]', value('time64[ns]'), 1n, '00:00:00.000000001'],
    ['the end of the day', value('time64[us]'), 86_400_000_000n, '24:00:00'],
    ['no time of day', value('time64[us]'), -1n, -1],
    ['a time after the day', value('time64[us]'), 86_400_000_001n, 86_400_000_001],
    ['duration[s]', value('duration[s]'), 90n, 90],
    ['duration[ms]', value('duration[ms]'), 86_402_500n, 86402.5],
    ['duration[ns]', value('duration[ns]'), -1n, -1e-9],
    ['decimal of 32 bits', value('decimal128(5, 2)'), -150, -1.5],
    ['decimal of 64 bits', value('decimal128(18, 4)'), 123456789012345678n, exact('12345678901234.5678')],
    ['decimal in bytes', value('decimal128(10, 2)'), bytes(0xff, 0x38), -2],
    [
      'decimal of many digits',
      value('decimal256(40, 3)'),
      bytes(1, ...Array<number>(16).fill(0)),
      exact('340282366920938463463374607431768211.456'),
    ],
    ['decimal of negative scale', value('decimal128(3, -2)'), 12, 1200],
    ['decimal of no sensible scale', value('decimal128(3, 100000)'), 12, 12],
    ['json', { kind: 'json' }, '{"a":[1,12345678901234567890]}', { a: [1, exact('12345678901234567890')] }],
    ['json null', { kind: 'json' }, 'null', null],
    ['json that is none', { kind: 'json' }, '{a', '{a'],
    [
      'image',
      { kind: 'media', media: 'image' },
      { bytes: bytes(1), path: 'a.png' },
      { bytes: 'AQ==', path: 'a.png' },
    ],
    [
      'image without bytes',
      { kind: 'media', media: 'image' },
      { path: 'a.png' },
      { bytes: null, path: 'a.png' },
    ],
    ['image as path', { kind: 'media', media: 'image' }, 'a.png', { bytes: null, path: 'a.png' }],
    ['audio as bytes', { kind: 'media', media: 'audio' }, bytes(1), { bytes: 'AQ==', path: null }],
    ['list', list(value('int64')), [1n, null, 2n], [1, null, 2]],
    ['list of labels', list(label), [1n, -1n], ['pos', null]],
    ['typed array', list(value('float32')), new Float32Array([1, 0.5]), [1, 0.5]],
    [
      'struct',
      {
        kind: 'struct',
        fields: [
          { name: 'a', feature: value('int64') },
          { name: 'b', feature: label },
        ],
      },
      { a: 1n },
      { a: 1, b: null },
    ],
    ['null struct', { kind: 'struct', fields: [] }, undefined, null],
    ['array', { kind: 'array', dtype: 'int64', shape: [2, 1] }, [[1n], [2n]], [[1], [2]]],
    ['translation', { kind: 'translation', languages: ['en'], variable: false }, { en: 'a' }, { en: 'a' }],
    [
      'map',
      { kind: 'map', key: value('string'), value: value('int64') },
      {
        key_value: [
          { key: '__proto__', value: 1n },
          { key: 'b', value: null },
        ],
      },
      JSON.parse('{"__proto__":1,"b":null}'),
    ],
    [
      'map of numbers',
      { kind: 'map', key: value('int64'), value: value('string') },
      { entries: [{ key: 5n, value: 'x' }] },
      { '5': 'x' },
    ],
    [
      'map of structs',
      {
        kind: 'map',
        key: { kind: 'struct', fields: [{ name: 's', feature: value('int64') }] },
        value: value('string'),
      },
      {
        entries: [
          { key: { s: 1n }, value: 'x' },
          { key: { s: 2n }, value: 'y' },
        ],
      },
      { '{"s":1}': 'x', '{"s":2}': 'y' },
    ],
    [
      'map of floats',
      { kind: 'map', key: value('float64'), value: value('string') },
      {
        entries: [
          { key: 0.5, value: 'x' },
          { key: Number.NaN, value: 'y' },
          { key: Number.POSITIVE_INFINITY, value: 'z' },
        ],
      },
      { '0.5': 'x', NaN: 'y', Infinity: 'z' },
    ],
    ['unknown type', { kind: 'unknown', type: 'Later' }, { a: [1n, bytes(1)] }, { a: [1, 'AQ=='] }],
    ['a cell of another type', list(value('int64')), 'text', 'text'],
    ['a struct that is none', { kind: 'struct', fields: [] }, 5n, 5],
  ])('%s', (_, feature, cell, json) => {
    expect(compileCell(feature)(cell)).toEqual(json);
  });

  it('refuses text that is not UTF-8', () => {
    expect(() => compileCell(value('string'))(bytes(0xff))).toThrow(
      expect.objectContaining({ code: 'damaged_file' }),
    );
  });
});

describe('rows of a Parquet file', () => {
  const read = async (columnData: ColumnSource[], schema?: SchemaElement[], huggingface?: unknown) => {
    const file = parquetWriteBuffer({
      columnData,
      ...(schema && { schema }),
      ...(huggingface !== undefined && {
        kvMetadata: [{ key: 'huggingface', value: JSON.stringify(huggingface) }],
      }),
    });
    const metadata = parquetMetadata(file);
    const features = featuresFromParquet(metadata);
    const rows = await parquetReadObjects({
      file,
      metadata: rawMetadata(metadata),
      parsers: RAW_PARSERS,
      utf8: false,
    });
    const dtypes = features.map(({ name, feature }) => `${name}: ${dtypeOf(feature)}`).join('; ');
    return { features, rows, dtypes, json: rows.map((row) => canonicalJson(compileRow(features)(row))) };
  };
  const column = (name: string, data: unknown[], type?: ColumnSource['type']): ColumnSource => ({
    name,
    data,
    ...(type && { type }),
  });
  const schema = (...elements: SchemaElement[]): SchemaElement[] => [
    { name: 'root', num_children: elements.filter(({ name }) => name.length === 1).length },
    ...elements,
  ];

  it('keeps every digit of numbers, decimals and times', async () => {
    const { dtypes, json } = await read(
      [
        column('n', [9007199254740993n, null]),
        column('d', [123.45, -0.5]),
        column('t', [1_709_210_096_789_123n, 0n]),
        column('u', [0xffffffff, 1]),
        column('y', [new Date('2024-02-29'), null]),
        column('h', [3_723_000, 0]),
      ],
      schema(
        { name: 'n', type: 'INT64', repetition_type: 'OPTIONAL' },
        {
          name: 'd',
          type: 'INT32',
          converted_type: 'DECIMAL',
          precision: 9,
          scale: 2,
          repetition_type: 'REQUIRED',
        },
        {
          name: 't',
          type: 'INT64',
          repetition_type: 'REQUIRED',
          logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
        },
        { name: 'u', type: 'INT32', repetition_type: 'REQUIRED', converted_type: 'UINT_32' },
        { name: 'y', type: 'INT32', repetition_type: 'OPTIONAL', converted_type: 'DATE' },
        { name: 'h', type: 'INT32', repetition_type: 'REQUIRED', converted_type: 'TIME_MILLIS' },
      ),
    );
    expect(dtypes).toBe(
      'n: int64; d: decimal128(9, 2); t: timestamp[us, tz=UTC]; u: uint32; y: date32; h: time32[ms]',
    );
    expect(json).toEqual([
      '{"d":123.45,"h":"01:02:03","n":9007199254740993,"t":"2024-02-29T12:34:56.789123Z","u":4294967295,"y":"2024-02-29"}',
      '{"d":-0.5,"h":"00:00:00","n":null,"t":"1970-01-01T00:00:00Z","u":1,"y":null}',
    ]);
  });

  it('tells missing lists, structs and maps from empty ones', async () => {
    const { dtypes, json } = await read(
      [
        column('l', [['a', null], [], null]),
        column('s', [{ p: 1 }, { p: null }, null]),
        column('m', [{ k: 2n, z: null }, {}, null]),
      ],
      [
        { name: 'root', num_children: 3 },
        { name: 'l', converted_type: 'LIST', num_children: 1, repetition_type: 'OPTIONAL' },
        { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
        { name: 'element', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
        { name: 's', num_children: 1, repetition_type: 'OPTIONAL' },
        { name: 'p', type: 'INT32', repetition_type: 'OPTIONAL' },
        { name: 'm', converted_type: 'MAP', num_children: 1, repetition_type: 'OPTIONAL' },
        { name: 'key_value', num_children: 2, repetition_type: 'REPEATED' },
        { name: 'key', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'REQUIRED' },
        { name: 'value', type: 'INT64', repetition_type: 'OPTIONAL' },
      ],
    );
    expect(dtypes).toBe('l: list<string>; s: struct<p: int32>; m: map<string, int64>');
    expect(json).toEqual([
      '{"l":["a",null],"m":{"k":2,"z":null},"s":{"p":1}}',
      '{"l":[],"m":{},"s":{"p":null}}',
      '{"l":null,"m":null,"s":null}',
    ]);
  });

  it('takes bytes for bytes, text for text and JSON for what it says', async () => {
    const { dtypes, json } = await read(
      [
        column('b', [bytes(0xff, 0xd8), bytes()], 'BYTE_ARRAY'),
        column('s', ['é', ''], 'STRING'),
        column('j', [{ a: 1 }, [2]], 'JSON'),
        column('x', [new TextEncoder().encode('plain'), new TextEncoder().encode('text')], 'BYTE_ARRAY'),
      ],
      undefined,
      { info: { features: { x: { dtype: 'string', _type: 'Value' } } } },
    );
    expect(dtypes).toBe('b: binary; s: string; j: json; x: string');
    expect(json).toEqual([
      '{"b":"/9g=","j":{"a":1},"s":"é","x":"plain"}',
      '{"b":"","j":[2],"s":"","x":"text"}',
    ]);
  });

  it('gives nulls for columns that only other files have', async () => {
    const { features, rows } = await read([column('a', [1, 2], 'INT32')]);
    const columns: Features = [...features, { name: 'b', feature: value('string') }];
    expect(rows.map(compileRow(features, columns))).toEqual([
      { a: 1, b: null },
      { a: 2, b: null },
    ]);
  });
});

it('knows every kind of feature', () => {
  // A type from the future must not stop a row.
  expect(compileCell(featureFromJson({ _type: 'Hologram' }))(5n)).toBe(5);
});
