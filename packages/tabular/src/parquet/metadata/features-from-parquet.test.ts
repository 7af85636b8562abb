import type { JsonValue } from '@svc/jsonl-v23/json';
import type { FileMetaData, SchemaElement } from 'hyparquet';
import { describe, expect, it } from 'vitest';
import { applyDeclared, unappliedWarnings } from '../../schema/apply-declared.ts';
import { dtypeOf, type Features, featuresFromJson, valueFeature } from '../../schema/features.ts';
import { featuresFromParquet } from './features-from-parquet.ts';

const metadata = (elements: SchemaElement[], huggingface?: unknown): FileMetaData => ({
  version: 2,
  schema: elements,
  num_rows: 0n,
  row_groups: [],
  metadata_length: 0,
  ...(huggingface !== undefined && {
    key_value_metadata: [
      {
        key: 'huggingface',
        value: typeof huggingface === 'string' ? huggingface : JSON.stringify(huggingface),
      },
    ],
  }),
});
const show = (features: Features): string =>
  features.map(({ name, feature }) => `${name}: ${dtypeOf(feature)}`).join('; ');
const root = (children: number): SchemaElement => ({ name: 'schema', num_children: children });
const text: SchemaElement = { name: 'x', type: 'BYTE_ARRAY', converted_type: 'UTF8' };
const value = (dtype: string) => ({ dtype, _type: 'Value' });

describe('featuresFromParquet', () => {
  it.each<[string, Omit<SchemaElement, 'name'>]>([
    ['bool', { type: 'BOOLEAN' }],
    ['int32', { type: 'INT32' }],
    ['int8', { type: 'INT32', converted_type: 'INT_8' }],
    ['uint16', { type: 'INT32', logical_type: { type: 'INTEGER', bitWidth: 16, isSigned: false } }],
    ['int64', { type: 'INT64' }],
    ['uint64', { type: 'INT64', converted_type: 'UINT_64' }],
    ['float32', { type: 'FLOAT' }],
    ['float64', { type: 'DOUBLE' }],
    ['float16', { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 2, logical_type: { type: 'FLOAT16' } }],
    ['string', { type: 'BYTE_ARRAY', logical_type: { type: 'STRING' } }],
    ['string', { type: 'BYTE_ARRAY', converted_type: 'ENUM' }],
    ['string', { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16, logical_type: { type: 'UUID' } }],
    ['json', { type: 'BYTE_ARRAY', converted_type: 'JSON' }],
    ['binary', { type: 'BYTE_ARRAY' }],
    ['fixed_size_binary[12]', { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 12, converted_type: 'INTERVAL' }],
    ['date32', { type: 'INT32', converted_type: 'DATE' }],
    ['time32[ms]', { type: 'INT32', converted_type: 'TIME_MILLIS' }],
    ['time64[ns]', { type: 'INT64', logical_type: { type: 'TIME', isAdjustedToUTC: false, unit: 'NANOS' } }],
    ['timestamp[ms, tz=UTC]', { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' }],
    [
      'timestamp[us]',
      { type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: false, unit: 'MICROS' } },
    ],
    ['timestamp[ns]', { type: 'INT96' }],
    ['decimal128(10, 2)', { type: 'INT64', converted_type: 'DECIMAL', precision: 10, scale: 2 }],
    ['decimal256(50, 4)', { type: 'BYTE_ARRAY', logical_type: { type: 'DECIMAL', precision: 50, scale: 4 } }],
    ['null', { type: 'INT32', logical_type: { type: 'NULL' } }],
    ['list<int32>', { type: 'INT32', repetition_type: 'REPEATED' }],
  ])('%s', (dtype, element) => {
    expect(show(featuresFromParquet(metadata([root(1), { name: 'x', ...element }])))).toBe(`x: ${dtype}`);
  });

  it.each<[string, SchemaElement[]]>([
    [
      'struct<a: bool>',
      [
        { name: 'x', num_children: 1 },
        { name: 'a', type: 'BOOLEAN' },
      ],
    ],
    [
      'list<string>',
      [
        { name: 'x', num_children: 1, converted_type: 'LIST' },
        { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
        { ...text, name: 'element' },
      ],
    ],
    [
      'list<string>',
      [
        { name: 'x', num_children: 1, logical_type: { type: 'LIST' } },
        { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
        { ...text, name: 'element' },
      ],
    ],
    [
      'list<string>',
      [
        { name: 'x', num_children: 1, converted_type: 'LIST' },
        { ...text, name: 'array', repetition_type: 'REPEATED' },
      ],
    ],
    [
      'map<string, bool>',
      [
        { name: 'x', num_children: 1, converted_type: 'MAP' },
        { name: 'key_value', num_children: 2, repetition_type: 'REPEATED' },
        { ...text, name: 'key' },
        { name: 'value', type: 'BOOLEAN' },
      ],
    ],
    [
      'list<struct<a: bool, b: bool>>',
      [
        { name: 'x', num_children: 1, converted_type: 'LIST' },
        { name: 'bag', num_children: 2, repetition_type: 'REPEATED' },
        { name: 'a', type: 'BOOLEAN' },
        { name: 'b', type: 'BOOLEAN' },
      ],
    ],
  ])('%s', (dtype, elements) => {
    expect(show(featuresFromParquet(metadata([root(1), ...elements])))).toBe(`x: ${dtype}`);
  });

  it('believes the huggingface entry where it fits what is stored', () => {
    const elements: SchemaElement[] = [
      root(5),
      { name: 'label', type: 'INT64' },
      { ...text, name: 'j' },
      { ...text, name: 's' },
      { name: 'img', num_children: 2 },
      { name: 'bytes', type: 'BYTE_ARRAY' },
      { ...text, name: 'path' },
      { name: 'n', type: 'INT32', logical_type: { type: 'NULL' } },
    ];
    const features = {
      s: value('large_string'),
      label: { names: ['neg', 'pos'], _type: 'ClassLabel' },
      j: { _type: 'Json' },
      img: { _type: 'Image' },
      n: value('string'),
      gone: value('string'),
    };
    expect(show(featuresFromParquet(metadata(elements, { info: { features } })))).toBe(
      'label: int64; j: json; s: large_string; img: image; n: string',
    );
  });

  it.each<[unknown]>([
    [{ info: { features: { x: value('int64') } } }],
    [{ info: { features: { x: { _type: 'Image' }, y: value('string') } } }],
    [{ info: { features: { x: { feature: value('string'), _type: 'List' } } } }],
    [{ info: null }],
    ['{not json'],
    ['['.repeat(1000)],
  ])('does not believe %j of a column of numbers with a fraction', (huggingface) => {
    const elements: SchemaElement[] = [root(1), { name: 'x', type: 'DOUBLE' }];
    expect(show(featuresFromParquet(metadata(elements, huggingface)))).toBe('x: float64');
  });

  it.each<[string, SchemaElement[]]>([
    ['more children than there are', [root(5), { ...text }]],
    ['nothing', []],
    ['endless nesting', Array.from({ length: 1000 }, (_, index) => ({ name: `g${index}`, num_children: 1 }))],
  ])('refuses a schema of %s', (_, elements) => {
    expect(() => featuresFromParquet(metadata(elements))).toThrow(
      expect.objectContaining({ name: 'ParquetError' }),
    );
  });
});

describe('unappliedWarnings', () => {
  const stored: Features = [
    { name: 'a', feature: valueFeature('int64') },
    { name: 'b', feature: { kind: 'list', item: valueFeature('float64'), length: null, large: false } },
  ];
  const warningsOf = (features: unknown): string[] =>
    unappliedWarnings(stored, featuresFromJson(features as JsonValue));

  it.each([
    ['texts', { a: value('string') }, /^Column "a" is declared as string, but stored as int64: /],
    ['fractions', { a: value('float64') }, /^Column "a" is declared as float64, but stored as int64: /],
    ['truth values', { a: value('bool') }, /^Column "a" .* bool, /],
    ['times', { a: value('timestamp[s]') }, /^Column "a" .* timestamp\[s\], /],
    ['files', { a: { _type: 'Image' } }, /^Column "a" .* image, /],
    ['lists', { a: [value('int64')] }, /^Column "a" .* list<int64>, /],
    [
      'items of lists',
      { b: [value('string')] },
      /^Column "b" is declared as string, but stored as float64: /,
    ],
  ])('names a column that the hub would convert to %s', (_, features, warning) => {
    expect(warningsOf(features)).toEqual([expect.stringMatching(warning)]);
  });

  it.each([
    ['of the same values', { a: value('int32'), b: [value('float32')] }],
    ['whose values have names', { a: { _type: 'ClassLabel', names: ['no', 'yes'] } }],
    ['of other columns', { c: value('string') }],
  ])('says nothing of types %s', (_, features) => {
    expect(warningsOf(features)).toEqual([]);
  });
});

describe('applyDeclared', () => {
  const stored: Features = [
    { name: 'label', feature: valueFeature('int64') },
    { name: 'x', feature: valueFeature('float64') },
  ];
  const declared = featuresFromJson({
    extra: value('string'),
    x: value('string'),
    label: { names: ['a'], _type: 'ClassLabel' },
  });

  it('keeps the columns that are stored', () => {
    const features = applyDeclared(stored, declared);
    expect(show(features)).toBe('label: int64; x: float64');
    expect(features[0]?.feature.kind).toBe('class_label');
    expect(applyDeclared(stored, undefined)).toBe(stored);
  });

  it('adds declared columns on request', () => {
    expect(show(applyDeclared(stored, declared, { addMissing: true }))).toBe(
      'label: int64; x: float64; extra: string',
    );
  });
});

it.each<[string, SchemaElement[], string]>([
  [
    'shredded',
    [
      { name: 'v', num_children: 1 },
      { ...text, name: 'typed_value' },
    ],
    'v',
  ],
  ['without its columns', [{ ...text, name: 'v' }], 'v'],
  [
    'in a list',
    [
      { name: 'x', num_children: 1, converted_type: 'LIST' },
      { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
      { name: 'v', num_children: 1 },
      { ...text, name: 'value' },
    ],
    'x.list.v',
  ],
])('a VARIANT %s is refused by name', (_, elements, column) => {
  const schema = elements.map((element) =>
    element.name === 'v' ? { ...element, logical_type: { type: 'VARIANT' as const } } : element,
  );
  expect(() => featuresFromParquet(metadata([root(1), ...schema]))).toThrow(
    `column "${column}" is a VARIANT`,
  );
});
