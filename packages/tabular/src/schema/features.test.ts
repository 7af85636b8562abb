import { parseJson } from '@svc/jsonl-v23/json';
import { describe, expect, it } from 'vitest';
import { dtypeOf, featureFromJson, featuresFromJson, toMappable } from './features.ts';

const json = (text: string): string => dtypeOf(featureFromJson(parseJson(text)));

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
