import { parseJson } from '@svc/jsonl-v23/json';
import { describe, expect, it } from 'vitest';
import { dtypeOf, featureFromJson, featuresFromJson, featuresFromYaml, toMappable } from './features.ts';
import { parseYaml } from './parse-yaml.ts';

const json = (text: string): string => dtypeOf(featureFromJson(parseJson(text)));
const yaml = (text: string): string => {
  const features = featuresFromYaml(parseYaml(text, { file: 'README.md' }));
  return features!.map(({ name, feature }) => `${name}: ${dtypeOf(feature)}`).join('; ');
};

describe('features in JSON', () => {
  it.each([
    ['{"dtype":"string","_type":"Value"}', 'string'],
    [
      '{"dtype":"timestamp[us, tz=Europe/Berlin]","id":null,"_type":"Value"}',
      'timestamp[us, tz=Europe/Berlin]',
    ],
    ['{"dtype":"float","_type":"Value"}', 'float32'],
    ['{"dtype":"double","_type":"Value"}', 'float64'],
    ['{"names":["a","b"],"_type":"ClassLabel"}', 'int64'],
    ['{"feature":{"dtype":"string","_type":"Value"},"_type":"List"}', 'list<string>'],
    ['{"feature":{"dtype":"float32","_type":"Value"},"length":3,"_type":"List"}', 'list<float32>[3]'],
    ['{"feature":{"dtype":"int64","_type":"Value"},"_type":"LargeList"}', 'large_list<int64>'],
    [
      '{"feature":{"dtype":"string","_type":"Value"},"length":-1,"id":null,"_type":"Sequence"}',
      'list<string>',
    ],
    ['{"feature":{"t":{"dtype":"string","_type":"Value"}},"_type":"Sequence"}', 'struct<t: list<string>>'],
    ['[{"r":{"dtype":"string","_type":"Value"}}]', 'list<struct<r: string>>'],
    [
      '{"a":{"dtype":"string","_type":"Value"},"b":{"feature":{"dtype":"int64","_type":"Value"},"_type":"List"}}',
      'struct<a: string, b: list<int64>>',
    ],
    ['{"_type":{"dtype":"int8","_type":"Value"}}', 'struct<_type: int8>'],
    ['{"languages":["en","fr"],"_type":"Translation"}', 'translation<en, fr>'],
    [
      '{"languages":["en"],"num_languages":1,"_type":"TranslationVariableLanguages"}',
      'translation_variable_languages<en>',
    ],
    ['{"shape":[2,3],"dtype":"int32","_type":"Array2D"}', 'array2d<int32>[2,3]'],
    ['{"shape":[null,3,4],"dtype":"float","_type":"Array3D"}', 'array3d<float32>[,3,4]'],
    ['{"decode":false,"_type":"Image"}', 'image'],
    ['{"sampling_rate":16000,"_type":"Audio"}', 'audio'],
    ['{"_type":"Video"}', 'video'],
    ['{"_type":"Pdf"}', 'pdf'],
    ['{"_type":"Nifti"}', 'nifti'],
    ['{"_type":"Json"}', 'json'],
    ['{"_type":"FutureType","x":[1]}', 'future_type'],
    ['{"feature":{"_type":"Later"},"_type":"List"}', 'list<later>'],
    ['{"_type":"Value"}', 'value'],
    ['null', 'struct<>'],
  ])('%s is %s', (text, dtype) => {
    expect(json(text)).toBe(dtype);
  });

  it('gives class labels their names, numbers where there are none', () => {
    const features = featuresFromJson(
      parseJson('{"a":{"names":["x","y"],"_type":"ClassLabel"},"b":{"num_classes":2,"_type":"ClassLabel"}}'),
    );
    expect(features.map(toMappable)).toEqual([
      { name: 'a', dtype: 'int64', classLabelNames: ['x', 'y'] },
      { name: 'b', dtype: 'int64', classLabelNames: ['0', '1'] },
    ]);
  });
});

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
