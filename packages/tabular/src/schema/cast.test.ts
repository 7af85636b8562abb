import { canonicalJson, parseJson } from '@svc/jsonl-v23/json';
import { describe, expect, it } from 'vitest';
import { readTyped } from '../../test/read-typed.ts';
import { type Feature, valueFeature } from './features.ts';

/** Reads one column `a` with a declared type. */
async function cast(
  format: 'csv' | 'json',
  text: string,
  feature: Feature,
): Promise<{ values: string[]; warnings: readonly string[] }> {
  const { rows, warnings } = await readTyped(format, text, { declared: [{ name: 'a', feature }] });
  return { values: rows.map((row) => canonicalJson(row['a'] ?? null)), warnings };
}

/** Values of a JSON Lines column and what a declared type makes of them. */
const JSON_CASTS: ReadonlyArray<readonly [dtype: string, from: string, to: string]> = [
  ['bool', '[true, 1, 0, "1", "0", "TRUE", null]', '[true,true,false,true,false,true,null]'],
  ['int64', '[true, false, 9007199254740993, "7"]', '[1,0,9007199254740993,7]'],
  ['float32', '[true, 1.5, "inf"]', '[1,1.5,null]'],
  ['decimal128(20, 8)', '["85612521990.43919301"]', '[85612521990.43919301]'],
  ['string', '[1.50, true, "x"]', '["1.5","true","x"]'],
  ['binary', '["é", ""]', '["w6k=",""]'],
  ['large_binary', '["abc"]', '["YWJj"]'],
  [
    'timestamp[s]',
    '[0, -1, "2020-01-02"]',
    '["1970-01-01T00:00:00","1969-12-31T23:59:59","2020-01-02T00:00:00"]',
  ],
  ['timestamp[ms]', '[1577934245123]', '["2020-01-02T03:04:05.123000"]'],
  [
    'timestamp[ns, tz=UTC]',
    '[1577934245123456789, "2020-01-02 03:04:05"]',
    '["2020-01-02T03:04:05.123456789Z","2020-01-02T03:04:05Z"]',
  ],
  ['timestamp[us, tz=Europe/Berlin]', '["2020-07-01T00:00:00"]', '["2020-07-01T02:00:00+02:00"]'],
  ['timestamp[s, tz=UTC]', '["2020-01-02T03:04:05+02:00"]', '["2020-01-02T03:04:05+02:00"]'],
  ['duration[ms]', '[1500, -1]', '[1.5,-0.001]'],
  ['duration[ns]', '[9223372036854775807]', '[9223372036.854775807]'],
  ['time32[s]', '[3661]', '["01:01:01"]'],
  ['time64[us]', '[1]', '["00:00:00.000001"]'],
  ['date32', '["2020-01-02"]', '["2020-01-02"]'],
];

describe('types that are declared for JSON', () => {
  it.each(JSON_CASTS)('%s makes of %s', async (dtype, from, to) => {
    const values = parseJson(from) as [];
    const lines = values.map((value) => `{"a":${canonicalJson(value)}}`).join('\n');
    const { values: found, warnings } = await cast('json', lines, valueFeature(dtype));
    expect(`[${found}]`).toBe(to);
    expect(warnings).toEqual([]);
  });

  it.each([
    ['bool', '2', '2'],
    ['int8', '128', '128'],
    ['uint64', '-1', '-1'],
    ['int64', '1.5', '1.5'],
    ['int64', '"many"', '"many"'],
    ['binary', '"\\ud800"', '"\\ud800"'],
    ['timestamp[s]', '"2020"', '"2020"'],
    ['timestamp[s]', '1.5', '1.5'],
    ['timestamp[s]', '9223372036854775808', '9223372036854775808'],
    ['time32[s]', '86401', '86401'],
    ['date32', '"yesterday"', '"yesterday"'],
    ['duration[s]', '"1 day"', '"1 day"'],
    ['null', '0', '0'],
  ])('%s keeps %s, and a warning says so', async (dtype, from, to) => {
    const { values, warnings } = await cast('json', `{"a":${from}}\n{"a":${from}}`, valueFeature(dtype));
    expect(values).toEqual([to, to]);
    const shown = from.replace('"\\ud800"', JSON.stringify('\ud800'));
    expect(warnings).toEqual([
      `Column "a" is declared as ${dtype}, but has values such as ${shown}, which are kept.`,
    ]);
  });

  it('reaches into lists and structs, and names at most 100 columns', async () => {
    const feature: Feature = {
      kind: 'struct',
      fields: [
        { name: 'b', feature: { kind: 'list', item: valueFeature('bool'), length: null, large: false } },
      ],
    };
    expect(await cast('json', '{"a":{"b":[1,0,null]}}', feature)).toEqual({
      values: ['{"b":[true,false,null]}'],
      warnings: [],
    });
    expect((await cast('json', '{"a":{"b":[1,2]}}', feature)).warnings).toEqual([
      'Column "a" is declared as struct<b: list<bool>>, but has values such as {"b":[1,2]}, which are kept.',
    ]);
    const declared = Array.from({ length: 105 }, (_, n) => ({
      name: `c${n}`,
      feature: valueFeature('int8'),
    }));
    const row = Object.fromEntries(declared.map(({ name }) => [name, 'x']));
    const { warnings } = await readTyped('json', JSON.stringify(row), { declared });
    expect(warnings).toHaveLength(101);
    expect(warnings.at(-1)).toBe('5 more columns have values that are not of their declared type.');
  });
});

describe('types that are declared for CSV', () => {
  it.each([
    ['bool', '1 0 true False', '[true,false,true,false]'],
    ['int64', 'true False 7', '[1,0,7]'],
    ['float64', 'true 1e3', '[1,1000]'],
    ['binary', 'é 12', '["w6k=","MTI="]'],
    ['timestamp[s]', '0 2020-01-02', '["1970-01-01T00:00:00","2020-01-02T00:00:00"]'],
    ['timestamp[ms, tz=UTC]', '0', '["1970-01-01T00:00:00Z"]'],
    ['duration[us]', '1500000', '[1.5]'],
    ['string', '01 1e5', '["01","1e5"]'],
  ])('%s makes of %s', async (dtype, fields, to) => {
    const { values, warnings } = await cast(
      'csv',
      `a\n${fields.replaceAll(' ', '\n')}\n`,
      valueFeature(dtype),
    );
    expect(`[${values}]`).toBe(to);
    expect(warnings).toEqual([]);
  });

  it('keep fields that are not of the type, and a warning says so', async () => {
    const { values, warnings } = await cast('csv', 'a\n2\nx\n', valueFeature('bool'));
    expect(values).toEqual(['"2"', '"x"']);
    expect(warnings).toEqual(['Column "a" is declared as bool, but has values such as "2", which are kept.']);
  });
});
