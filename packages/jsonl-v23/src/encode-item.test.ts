import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hex, item, jsonObject, jsonValue, thrownBy } from '../test/arbitrary-json.ts';
import { canonicalJson } from './canonical-json.ts';
import { createItemEncoder, encodeItem } from './encode-item.ts';
import type { Item } from './item.ts';
import { joinItem } from './join-item.ts';
import { itemHash } from './version-hash.ts';

const PNG = 'iVBORw0KGgo=';

describe('encodeItem', () => {
  it.each<[string, Item, Partial<ReturnType<typeof encodeItem>>]>([
    [
      'nothing',
      {},
      { payload: '{}', answer: null, checker: null, assets: null, assetCount: 0, type: 'freeform' },
    ],
    ['an answer only', { answer: 4 }, { payload: '{}', answer: '4' }],
    [
      'null, which is not absent',
      { answer: null, checker: null },
      { answer: 'null', checker: 'null', payload: '{}' },
    ],
    [
      'other keys only',
      { id: 1, type: 'code' },
      { payload: '{"id":1,"type":"code"}', type: 'code', answer: null },
    ],
    [
      'keys before, between and behind the parts',
      { z: 1, checker: 'c', b: 2, assets: [], answer: 'a', Answer: 3, ans: 4, ch: 5 },
      { payload: '{"Answer":3,"ans":4,"b":2,"ch":5,"z":1}', answer: '"a"', checker: '"c"', assets: '[]' },
    ],
    [
      'a list of assets',
      { assets: [{ url: 'a' }, { url: 'b' }] },
      { assetCount: 2, assets: '[{"url":"a"},{"url":"b"}]' },
    ],
    ['named assets', { assets: { a: {}, b: {}, c: {} } }, { assetCount: 3 }],
    ['a type that needs escapes', { type: 'a"\n\ud800é' }, { type: 'a\\"\\n\\ud800é' }],
    [
      'a path that is not hashed, but stored',
      { assets: [{ data: PNG, path: 'assets/a.png' }] },
      { assets: `[{"data":"${PNG}","path":"assets/a.png"}]`, payload: '{}' },
    ],
  ])('stores %s', (_, value, expected) => {
    expect(encodeItem(value)).toMatchObject(expected);
  });

  it('hashes as itemHash does, and its parts make the item again', () => {
    fc.assert(
      fc.property(item, (value) => {
        const encoded = encodeItem(value);
        expect(hex(encoded.itemHash)).toBe(hex(itemHash(value)));
        expect(joinItem(encoded)).toBe(canonicalJson(value));
      }),
    );
  });

  it('hashes and stores content with a path', () => {
    const value = { b: 1, assets: { x: { data: PNG, path: 'assets/a' } }, checker: 'c', answer: [1], a: 0 };
    const encoded = encodeItem(value);
    expect(hex(encoded.itemHash)).toBe(hex(itemHash({ ...value, assets: { x: { data: PNG } } })));
    expect(joinItem(encoded)).toBe(canonicalJson(value));
  });

  it('goes on after an error', () => {
    expect(thrownBy(() => encodeItem({ a: Number.NaN }))).toMatchObject({ code: 'invalid_json' });
    expect(encodeItem({ a: 1 }).payload).toBe('{"a":1}');
  });
});

describe('createItemEncoder', () => {
  it('gives the same as encodeItem, as bytes', () => {
    const encoder = createItemEncoder();
    const text = (bytes: Uint8Array | null): string | null => bytes && new TextDecoder().decode(bytes);
    fc.assert(
      fc.property(fc.array(item, { maxLength: 4 }), (values) => {
        for (const value of values) {
          const { whole, payload, answer, checker, assets, ...rest } = encoder.encode(value);
          expect(text(whole)).toBe(canonicalJson(value));
          expect({
            payload: text(payload),
            answer: text(answer),
            checker: text(checker),
            assets: text(assets),
            ...rest,
          }).toEqual(encodeItem(value));
        }
      }),
    );
  });

  it('goes on after a large item and an error', () => {
    const encoder = createItemEncoder();
    const large = 'é'.repeat(1_000_000);
    expect(encoder.encode({ answer: large, id: 1 }).answer).toHaveLength(2_000_002);
    expect(thrownBy(() => encoder.encode({ a: Number.NaN }))).toMatchObject({ code: 'invalid_json' });
    expect(new TextDecoder().decode(encoder.encode({ answer: 1, id: 2 }).payload)).toBe('{"id":2}');
  });
});

describe('joinItem', () => {
  it('puts any parts together, whatever keys stand around them', () => {
    const near = fc.constantFrom(
      '',
      '"',
      'Answer',
      'answe',
      'answer ',
      'answer\n',
      'answers',
      'asset',
      'assets"',
      'ba',
      'check',
      'checker\\',
      'z',
    );
    const parts = fc.record(
      { answer: jsonValue, assets: jsonValue, checker: jsonValue },
      { requiredKeys: [], noNullPrototype: true },
    );
    fc.assert(
      fc.property(
        jsonObject(jsonValue),
        fc.dictionary(near, jsonValue, { noNullPrototype: true }),
        parts,
        (others, close, known) => {
          const value: Item = { ...others, ...close, ...known } as Item;
          expect(joinItem(encodeItem(value))).toBe(canonicalJson(value));
        },
      ),
    );
  });

  it.each(['', '{', '{"a', '{"a":', '{"a":[1}', '[]', 'x'])('refuses the payload %j', (payload) => {
    const error = thrownBy(() => joinItem({ payload, answer: '1', checker: null, assets: null }));
    expect(error).toMatchObject({ code: 'invalid_json' });
  });
});
