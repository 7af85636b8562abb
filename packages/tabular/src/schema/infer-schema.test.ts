import { canonicalJson, type JsonObject, parseJson } from '@svc/jsonl-v23/json';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, it } from 'vitest';
import { compileRow } from '../../test/compile-row.ts';
import { memoryFile } from '../../test/memory-file.ts';
import { rawMetadata } from '../../test/raw-metadata.ts';
import { RAW_PARSERS } from '../../test/raw-parsers.ts';
import { readTyped } from '../../test/read-typed.ts';
import { csvKind } from '../csv/infer-pandas.ts';
import { featuresFromParquet } from '../parquet/metadata/features-from-parquet.ts';
import { csvNumber } from '../scalars/numbers.ts';
import { completeTimestamp } from '../scalars/times.ts';
import type { Table } from '../table.ts';
import { openTextTables, type TextTablesOptions } from '../text/text-table.ts';
import { dtypeOf, type Feature, type Features, valueFeature } from './features.ts';

interface Typed {
  dtypes: string;
  rows: string[];
}
async function type(
  format: TextTablesOptions['format'],
  content: string,
  options: { declared?: Features; windowRows?: number } = {},
): Promise<Typed> {
  const { features, rows } = await readTyped(format, content, options);
  return {
    dtypes: features.map(({ name, feature }) => `${name}: ${dtypeOf(feature)}`).join('; '),
    rows: rows.map((row) => canonicalJson(row)),
  };
}
const columns = (features: Record<string, string | Feature>): Features =>
  Object.entries(features).map(([name, feature]) => ({
    name,
    feature: typeof feature === 'string' ? valueFeature(feature) : feature,
  }));
const labels = (...names: string[]): Feature => ({ kind: 'class_label', names });

describe('JSON columns', () => {
  it.each<[string, string]>([
    ['{"x":1}\n{"x":-2}', 'int64'],
    ['{"x":1}\n{"x":1.5}', 'float64'],
    ['{"x":1.0}\n{"x":2e3}', 'float64'],
    ['{"x":9223372036854775807}', 'int64'],
    ['{"x":9223372036854775808}', 'float64'],
    ['{"x":1}\n{"x":null}', 'int64'],
    ['{"x":null}\n{"x":true}', 'bool'],
    ['{"x":null}', 'null'],
    ['{"x":"a"}\n{"x":"2020-01-01"}', 'string'],
    ['{"x":"2020-01-01"}\n{"x":"2020-01-01 10:30"}', 'timestamp[s]'],
    ['{"x":"2020-01-01T00:00:00Z"}', 'string'],
    ['{"x":[]}', 'list<null>'],
    ['{"x":[]}\n{"x":["a",null]}', 'list<string>'],
    ['{"x":[1]}\n{"x":[0.5]}', 'list<float64>'],
    ['{"x":[[1],[]]}', 'list<list<int64>>'],
    ['{"x":[1,"a"]}', 'list<json>'],
    ['{"x":{"a":1,"b":null}}\n{"x":{"b":"z","a":2}}', 'struct<a: int64, b: string>'],
    ['{"x":{"a":1}}\n{"x":null}', 'struct<a: int64>'],
    ['{"x":{"a":1}}\n{"x":{"b":1}}', 'json'],
    ['{"x":{"a":1}}\n{"x":{"a":1,"b":1}}', 'json'],
    ['{"x":{}}', 'json'],
    ['{"x":[{"a":1},{"b":1}]}', 'list<json>'],
    ['{"x":1}\n{"x":"a"}', 'json'],
    ['{"x":1}\n{"x":true}', 'json'],
    ['{"x":"a"}\n{"x":{"a":1}}', 'json'],
    ['{"x":"a"}\n{"x":["a"]}', 'json'],
  ])('%s', async (content, dtype) => {
    expect((await type('json', content)).dtypes).toBe(`x: ${dtype}`);
  });

  it('are those of all rows, null where a row lacks one', async () => {
    expect(await type('json', '{"x":1}\n{"y":"a","x":2}\n{"z":[1]}')).toEqual({
      dtypes: 'x: int64; y: string; z: list<int64>',
      rows: ['{"x":1,"y":null,"z":null}', '{"x":2,"y":"a","z":null}', '{"x":null,"y":null,"z":[1]}'],
    });
  });

  it('change nothing but moments in time', async () => {
    const { rows } = await type(
      'json',
      '{"t":"2020-01-01","l":[{"d":"2020-02-29 23"}],"n":1.50,"j":{"a":1},"s":"2020"}\n{"t":null,"l":[{"d":null}],"n":12345678901234567890,"j":{"b":"2020-01-01"},"s":"2020-01-01"}',
    );
    expect(rows).toEqual([
      '{"j":{"a":1},"l":[{"d":"2020-02-29T23:00:00"}],"n":1.5,"s":"2020","t":"2020-01-01T00:00:00"}',
      '{"j":{"b":"2020-01-01"},"l":[{"d":null}],"n":12345678901234567890,"s":"2020-01-01","t":null}',
    ]);
  });

  it('keep a member called __proto__', async () => {
    expect(await type('json', '{"__proto__":{"a":1.0}}')).toEqual({
      dtypes: '__proto__: struct<a: float64>',
      rows: ['{"__proto__":{"a":1}}'],
    });
  });
});

describe('CSV columns', () => {
  it.each<[string, string, string[]]>([
    ['1\n-2\n+3', 'int64', ['1', '-2', '3']],
    ['01234', 'int64', ['1234']],
    ['1\nNA\n3', 'float64', ['1', 'null', '3']],
    ['1\n1.50\n.5\n5.\n1e3', 'float64', ['1', '1.5', '0.5', '5', '1000']],
    ['1.5\ninf\n-Infinity', 'float64', ['1.5', 'null', 'null']],
    ['9007199254740993\n1', 'int64', ['9007199254740993', '1']],
    ['18446744073709551615\n1', 'uint64', ['18446744073709551615', '1']],
    ['18446744073709551615\n-1', 'string', ['"18446744073709551615"', '"-1"']],
    ['18446744073709551616\n1', 'string', ['"18446744073709551616"', '"1"']],
    ['18446744073709551616\n0.5', 'float64', ['18446744073709551616', '0.5']],
    ['1.5\ninf ', 'string', ['"1.5"', '"inf "']],
    ['tRue\nfAlse', 'bool', ['true', 'false']],
    ['NA\nnull', 'float64', ['null', 'null']],
    ['True\nfalse', 'bool', ['true', 'false']],
    ['TRUE\nNA', 'bool', ['true', 'null']],
    ['True\n1', 'string', ['"True"', '"1"']],
    ['01\nx', 'string', ['"01"', '"x"']],
    ['2020-01-01', 'string', ['"2020-01-01"']],
    ['"1,5"', 'string', ['"1,5"']],
    ['1_000', 'string', ['"1_000"']],
    ['0x1f', 'string', ['"0x1f"']],
  ])('%j are %s', async (lines, dtype, values) => {
    expect(await type('csv', `x\n${lines}\n`)).toEqual({
      dtypes: `x: ${dtype}`,
      rows: values.map((value) => `{"x":${value}}`),
    });
  });
});

describe('warnings', () => {
  const warningsOf = async (
    format: TextTablesOptions['format'],
    content: string,
    declared?: Features,
  ): Promise<readonly string[]> => (await readTyped(format, content, { declared })).warnings;

  it.each([
    ['001\n2', '"001" becomes 1'],
    ['1\n01234', '"01234" becomes 1234'],
    ['1\n1e5', '"1e5" becomes 100000'],
    ['+1', '"+1" becomes 1'],
    ['1.50', '"1.50" becomes 1.5'],
    ['1\n-0', '"-0" becomes 0'],
  ])('name the CSV column of %j', async (lines, change) => {
    expect(await warningsOf('csv', `x,y\n${lines.replaceAll('\n', ',a\n')},a\n`)).toEqual([
      `The numbers of column "x" lose their spelling: ${change}.`,
    ]);
  });

  it.each(['1\n-2\n0.5', '1\nNA', '12345678901234567890', '001\nx', '2020-01-01', 'True\nfalse'])(
    'are not given for %j',
    async (lines) => {
      expect(await warningsOf('csv', `x\n${lines}\n`)).toEqual([]);
    },
  );

  it('are not given for declared columns', async () => {
    expect(await warningsOf('csv', 'x\n001\n', columns({ x: 'string' }))).toEqual([]);
  });

  it('name 100 columns and count the others', async () => {
    const names = Array.from({ length: 103 }, (_, index) => `c${index}`);
    const warnings = await warningsOf('csv', `${names.join(',')}\n${names.map(() => '01').join(',')}\n`);
    expect(warnings).toHaveLength(101);
    expect(warnings.at(-1)).toBe('The numbers of 3 more columns lose their spelling.');
  });

  it('count infinities of CSV that became null, in columns of numbers', async () => {
    expect(await warningsOf('csv', 'x,y,z\n1,inf,inf\n-Infinity,1e5,a\n')).toEqual([
      'The numbers of column "y" lose their spelling: "1e5" becomes 100000.',
      'Infinities are read as null: 2 in the rows that were sampled.',
    ]);
  });

  it('say that NaN of JSON became null', async () => {
    expect(await warningsOf('json', '{"x":1}\n{"x":NaN}\n')).toEqual([
      'NaN and infinities are read as null: 1 in the rows that were sampled.',
    ]);
    const many = '{"x":[NaN,-Infinity,"NaN"]}\n{"y":Infinity}\n';
    expect(await warningsOf('json', many)).toEqual([
      'NaN and infinities are read as null: 3 in the rows that were sampled.',
    ]);
    expect(await warningsOf('json', '{"x":1}\n{"x":"NaN"}\n')).toEqual([]);
  });
});

it('text files have one column of text', async () => {
  expect(await type('text', '2020-01-01\n5')).toEqual({
    dtypes: 'text: string',
    rows: ['{"text":"2020-01-01"}', '{"text":"5"}'],
  });
});

describe('the window', () => {
  it.each(['json', 'csv'] as const)(
    'of %s gives the same rows wherever it ends, where types agree',
    async (format) => {
      const content =
        format === 'json' ? '{"a":1,"b":"x"}\n{"a":0.5,"b":null}\n{"a":2,"b":"y"}' : 'a,b\n1,x\n0.5,\n2,y\n';
      const whole = await type(format, content);
      for (const windowRows of [1, 2])
        expect((await type(format, content, { windowRows })).rows).toEqual(whole.rows);
    },
  );

  it('lets later rows be what they are', async () => {
    expect(await type('csv', 'a\n01\n02\nx\n', { windowRows: 2 })).toEqual({
      dtypes: 'a: int64',
      rows: ['{"a":1}', '{"a":2}', '{"a":"x"}'],
    });
    expect(await type('json', '{"a":"2020-01-01"}\n{"a":"soon","b":1}\n{"a":5}', { windowRows: 1 })).toEqual({
      dtypes: 'a: timestamp[s]',
      rows: ['{"a":"2020-01-01T00:00:00"}', '{"a":"soon"}', '{"a":5}'],
    });
  });

  it('has the rows of all files', async () => {
    const files = ['a,b\nx,1\n', 'a,c\n01,NA\n01,2\n'].map((text, index) =>
      memoryFile(new TextEncoder().encode(text), `${index}.csv`),
    );
    const tables = await openTextTables(new Map([['train', files]]), { format: 'csv' });
    const table = tables.get('train') as Table;
    expect(table.features.map(({ name, feature }) => `${name}: ${dtypeOf(feature)}`)).toEqual([
      'a: string',
      'b: int64',
      'c: float64',
    ]);
    const rows = (await Array.fromAsync(table.read())).flatMap((batch) => batch.rows);
    expect(rows).toEqual([
      { a: 'x', b: 1, c: null },
      { a: '01', b: null, c: null },
      { a: '01', b: null, c: 2 },
    ]);
  });
});

describe('declared columns', () => {
  const declared = columns({
    label: labels('neg', 'pos'),
    zip: 'string',
    n: 'float64',
    gone: 'int32',
    j: { kind: 'json' },
    img: { kind: 'media', media: 'image' },
    s: { kind: 'struct', fields: columns({ a: 'int64', b: 'string' }) },
  });

  it('go before what JSON rows say', async () => {
    const { dtypes, rows } = await type(
      'json',
      '{"label":1,"zip":1234,"n":"2.5","j":"{\\"a\\":1}","img":"a.png","s":{"a":"7"},"extra":1}\n{"label":-1,"zip":"01","n":1,"j":"x","img":null,"s":null}\n{"label":"neg","zip":{"a":1},"n":"many"}',
      { declared },
    );
    expect(dtypes).toBe(
      'label: int64; zip: string; n: float64; j: json; img: image; s: struct<a: int64, b: string>; extra: int64; gone: int32',
    );
    expect(rows.map((row) => parseJson(row))).toEqual([
      {
        label: 'pos',
        zip: '1234',
        n: 2.5,
        j: { a: 1 },
        img: { bytes: null, path: 'a.png' },
        s: { a: 7, b: null },
        extra: 1,
        gone: null,
      },
      { label: null, zip: '01', n: 1, j: 'x', img: null, s: null, extra: null, gone: null },
      { label: 'neg', zip: '{"a":1}', n: 'many', j: null, img: null, s: null, extra: null, gone: null },
    ]);
  });

  it('go before what CSV rows say', async () => {
    const { dtypes, rows } = await type('csv', 'label,zip,n,other\n1,01234,NA,01\n-1,NA,2,x\npos,x,x,y\n', {
      declared: columns({ zip: 'string', label: labels('neg', 'pos'), n: 'float32' }),
    });
    expect(dtypes).toBe('label: int64; zip: string; n: float32; other: string');
    expect(rows).toEqual([
      '{"label":"pos","n":null,"other":"01","zip":"01234"}',
      '{"label":null,"n":2,"other":"x","zip":null}',
      '{"label":"pos","n":"x","other":"y","zip":"x"}',
    ]);
  });
});

it('gives the same rows from JSON Lines, JSON, CSV and Parquet', async () => {
  const data: JsonObject[] = [
    { question: 'Two, "plus" two?\nNow.', n: 4, score: 0.5, ok: true, day: 'Monday' },
    { question: 'é', n: -7, score: 12.25, ok: false, day: null },
  ];
  const columns = ['question', 'n', 'score', 'ok', 'day'];
  const quoted = (value: unknown): string =>
    value === null ? '' : `"${String(value).replaceAll('"', '""')}"`;
  const jsonl = await type('json', data.map((row) => canonicalJson(row)).join('\n'));
  const json = await type('json', JSON.stringify(data, null, 2));
  const csv = await type(
    'csv',
    [columns.join(','), ...data.map((row) => columns.map((name) => quoted(row[name])).join(','))].join('\n'),
  );
  const file = parquetWriteBuffer({
    columnData: columns.map((name) => ({ name, data: data.map((row) => row[name]) })),
  });
  const metadata = parquetMetadata(file);
  const toRow = compileRow(featuresFromParquet(metadata));
  const rows = await parquetReadObjects({
    file,
    metadata: rawMetadata(metadata),
    parsers: RAW_PARSERS,
    utf8: false,
  });
  const parquet = rows.map((row) => canonicalJson(toRow(row)));
  expect(parquet).toEqual(data.map((row) => canonicalJson(row)));
  expect(jsonl.rows).toEqual(parquet);
  expect(json.rows).toEqual(parquet);
  expect(csv.rows).toEqual(parquet);
});

describe('what a text is', () => {
  it.each([
    ['2020-02-29', '2020-02-29T00:00:00'],
    ['2020-01-01 05', '2020-01-01T05:00:00'],
    ['2020-01-01T05:06', '2020-01-01T05:06:00'],
    ['2020-01-01T23:59:59', '2020-01-01T23:59:59'],
    ['2019-02-29', null],
    ['2020-13-01', null],
    ['2020-04-31', null],
    ['2020-01-01T24:00', null],
    ['2020-01-01T10:60', null],
    ['2020-01-01T00:00:00.5', null],
    ['2020-01-01T00:00:00+01:00', null],
    ['2020-1-1', null],
    ['2020', null],
  ])('%s is the timestamp %s', (text, timestamp) => {
    expect(completeTimestamp(text)).toBe(timestamp);
  });

  it.each([
    ['5', 'int', 5],
    [' 5\t', 'int', 5],
    ['-0', 'int', 0],
    ['1.5e-3', 'float', 0.0015],
    ['nan', 'text', undefined],
    ['INF', 'float', null],
    ['.', 'text', undefined],
    ['e5', 'text', undefined],
    ['1e99999', 'text', undefined],
    ['', 'text', undefined],
    ['TRUE', 'bool', undefined],
    ['tRUE', 'bool', undefined],
  ])('CSV field %j is %s', (text, kind, number) => {
    expect(csvKind(text)).toBe(kind);
    expect(csvNumber(text)).toEqual(number);
  });

  it.each(['9', ' ', '0'])('a CSV field of thousands of %j is a text', (character) => {
    const text = `${character.repeat(2048)}1`;
    expect(csvKind(text)).toBe('text');
    expect(csvNumber(text)).toBeUndefined();
  });
});
