import { describe, expect, it } from 'vitest';
import { dtypeOf, type Feature, type Features, valueFeature } from './features.ts';
import { mergeFeatures } from './merge-features.ts';

const value = (dtype: string): Feature => valueFeature(dtype);
const list = (item: Feature): Feature => ({ kind: 'list', item, length: null, large: false });
const struct = (members: Record<string, Feature>): Feature => ({
  kind: 'struct',
  fields: Object.entries(members).map(([name, feature]) => ({ name, feature })),
});
const united = (a: Feature, b: Feature): string =>
  dtypeOf(mergeFeatures([[{ name: 'x', feature: a }], [{ name: 'x', feature: b }]])[0]!.feature);

describe('uniteFeatures', () => {
  it.each<[Feature, Feature, string]>([
    [value('int32'), value('int32'), 'int32'],
    [value('int8'), value('int64'), 'int64'],
    [value('int32'), value('uint8'), 'int32'],
    [value('int32'), value('uint32'), 'int64'],
    [value('int64'), value('uint64'), 'float64'],
    [value('int64'), value('float32'), 'float64'],
    [value('float16'), value('float32'), 'float32'],
    [value('null'), value('string'), 'string'],
    [value('string'), value('large_string'), 'string'],
    [value('binary'), value('large_binary'), 'binary'],
    [value('timestamp[s]'), value('timestamp[us]'), 'timestamp[us]'],
    [value('timestamp[s]'), value('timestamp[s, tz=UTC]'), 'json'],
    [value('string'), value('int64'), 'json'],
    [list(value('null')), list(value('string')), 'list<string>'],
    [list(value('int8')), list(value('bool')), 'list<json>'],
    [list(value('int8')), value('int8'), 'json'],
    [
      struct({ a: value('int8') }),
      struct({ a: value('int16'), b: value('bool') }),
      'struct<a: int16, b: bool>',
    ],
    [{ kind: 'class_label', names: ['a'] }, value('int64'), 'int64'],
    [{ kind: 'class_label', names: ['a'] }, value('float64'), 'float64'],
    [{ kind: 'media', media: 'image' }, { kind: 'media', media: 'image' }, 'image'],
    [{ kind: 'media', media: 'image' }, value('string'), 'json'],
  ])('%j and %j', (a, b, dtype) => {
    expect(united(a, b)).toBe(dtype);
    expect(united(b, a)).toBe(dtype);
  });

  it('has the columns of all files in the order in which they are met', () => {
    const features = (text: string): Features => [...text].map((name) => ({ name, feature: value('int8') }));
    expect(mergeFeatures([features('ba'), features('ac'), features('b')]).map(({ name }) => name)).toEqual([
      'b',
      'a',
      'c',
    ]);
  });

  it('keeps class labels', () => {
    const label = (...names: string[]): Features => [{ name: 'x', feature: { kind: 'class_label', names } }];
    expect(mergeFeatures([label('a'), label('a', 'b')])).toEqual(label('a', 'b'));
  });
});
