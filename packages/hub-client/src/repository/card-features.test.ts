import { dtypeOf } from '@svc/tabular';
import { describe, expect, it } from 'vitest';
import { featuresFromYaml } from './card-features.ts';
import { parseYaml } from './parse-yaml.ts';

const yaml = (text: string): string => {
  const features = featuresFromYaml(parseYaml(text, { file: 'README.md' }));
  return features!.map(({ name, feature }) => `${name}: ${dtypeOf(feature)}`).join('; ');
};

describe('features in a dataset card', () => {
  it.each([
    ['[{name: x, dtype: int64}, {name: y, dtype: float}]', 'x: int64; y: float32'],
    ["[{name: x, dtype: {class_label: {names: {'1': pos, '0': neg}}}}]", 'x: int64'],
    ['[{name: x, dtype: {class_label: {names: [neg, pos]}}}]', 'x: int64'],
    ['[{name: x, list: string}]', 'x: list<string>'],
    ['[{name: x, list: float32, length: 3}]', 'x: list<float32>[3]'],
    ['[{name: x, length: 3, list: float32}]', 'x: list<float32>[3]'],
    ['[{name: x, list: {list: int64}}]', 'x: list<list<int64>>'],
    ['[{name: x, list: [{name: a, dtype: string}]}]', 'x: list<struct<a: string>>'],
    ['[{name: x, large_list: int64}]', 'x: large_list<int64>'],
    ['[{name: x, struct: [{name: a, struct: [{name: b, dtype: bool}]}]}]', 'x: struct<a: struct<b: bool>>'],
    ['[{name: x, sequence: string}]', 'x: list<string>'],
    [
      '[{name: x, sequence: [{name: t, dtype: string}, {name: n, dtype: int32}]}]',
      'x: struct<t: list<string>, n: list<int32>>',
    ],
    ['[{name: x, sequence: {class_label: {names: {0: O}}}}]', 'x: list<int64>'],
    ['[{name: x, dtype: image}, {name: y, dtype: {audio: {sampling_rate: 16000}}}]', 'x: image; y: audio'],
    ['[{name: x, dtype: {translation: {languages: [en, fr]}}}]', 'x: translation<en, fr>'],
    ['[{name: x, dtype: {array2_d: {shape: [2, 3], dtype: int32}}}]', 'x: array2d<int32>[2,3]'],
    ['[{name: x, dtype: json}]', 'x: json'],
    ['[{name: x, dtype: "decimal128(10, 2)"}]', 'x: decimal128(10, 2)'],
    ['[{name: x, dtype: something_new}]', 'x: something_new'],
    ['[{name: 2020, dtype: int8}]', '2020: int8'],
  ])('%s', (text, dtypes) => {
    expect(yaml(text)).toBe(dtypes);
  });

  it('reads names in the order of their numbers', () => {
    const value = parseYaml("[{name: x, dtype: {class_label: {names: {'1': pos, '0': neg}}}}]", {
      file: 'README.md',
    });
    expect(featuresFromYaml(value)?.[0]?.feature).toEqual({ kind: 'class_label', names: ['neg', 'pos'] });
  });

  it.each(["[{name: x, dtype: {class_label: {names: {'0': a, '2': b}}}}]", '[{name: x, list: 5}]'])(
    'refuses %s',
    (text) => {
      expect(() => yaml(text)).toThrow(expect.objectContaining({ code: 'hub_unsupported_dataset' }));
    },
  );

  it.each(['x', '[{dtype: int64}]', '5'])('is not said by %s', (text) => {
    expect(featuresFromYaml(parseYaml(text, { file: 'README.md' }))).toBeNull();
  });
});
