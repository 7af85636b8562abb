import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hex, item, jsonObject, jsonValue, thrownBy } from '../../test/arbitrary-json.ts';
import { itemHash } from '../hash/version-hash.ts';
import { canonicalJson } from '../json/canonical/canonical-json.ts';
import { DEFAULT_ITEM_TYPE, type EncodedItemBytes, encodeItem, ItemEncoder } from './encode-item.ts';
import type { Item } from './item.ts';
import { joinItem } from './join-item.ts';

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
      'keys before, between and after the parts',
      { z: 1, checker: 'c', b: 2, assets: [], answer: 'a', Ans: 3, ans: 4, ch: 5 },
      { payload: '{"Ans":3,"ans":4,"b":2,"ch":5,"z":1}', answer: '"a"', checker: '"c"', assets: '[]' },
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

  it('hashes like itemHash, and its parts join to the item', () => {
    fc.assert(
      fc.property(item, (value) => {
        const encoded = encodeItem(value);
        expect(hex(encoded.itemHash)).toBe(hex(itemHash(value)));
        expect(joinItem(encoded)).toBe(canonicalJson(value));
      }),
    );
  });

  it('hashes and stores content with a path', () => {
    const content = { mime_type: 'image/png', encoding: 'base64', data: PNG };
    const value = { b: 1, assets: { x: { ...content, path: 'assets/a' } }, checker: 'c', answer: [1], a: 0 };
    const encoded = encodeItem(value);
    expect(hex(encoded.itemHash)).toBe(hex(itemHash({ ...value, assets: { x: content } })));
    expect(joinItem(encoded)).toBe(canonicalJson(value));
  });

  it('works after an error', () => {
    expect(thrownBy(() => encodeItem({ a: Number.NaN }))).toMatchObject({ code: 'invalid_json' });
    expect(encodeItem({ a: 1 }).payload).toBe('{"a":1}');
  });
});

describe('ItemEncoder', () => {
  const text = ({ bytes }: EncodedItemBytes, start: number, end: number): string | null =>
    start === -1 ? null : new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(start, end));

  it('returns the same as encodeItem, as bytes', () => {
    const encoder = new ItemEncoder();
    fc.assert(
      fc.property(fc.array(item, { maxLength: 4 }), (values) => {
        for (const value of values) {
          const encoded = encoder.encode(value);
          const { itemHash, assetCount } = encoded;
          expect(text(encoded, encoded.itemStart, encoded.itemEnd)).toBe(canonicalJson(value));
          expect({
            type: text(encoded, encoded.typeStart, encoded.typeEnd) ?? DEFAULT_ITEM_TYPE,
            payload: text(encoded, encoded.payloadStart, encoded.payloadEnd),
            answer: text(encoded, encoded.answerStart, encoded.answerEnd),
            checker: text(encoded, encoded.checkerStart, encoded.checkerEnd),
            assets: text(encoded, encoded.assetsStart, encoded.assetsEnd),
            itemHash,
            assetCount,
            byteLength: encoded.itemEnd - encoded.itemStart,
          }).toEqual(encodeItem(value));
        }
      }),
    );
  });

  it('works after a large item and an error', () => {
    const encoder = new ItemEncoder();
    const large = 'é'.repeat(1_000_000);
    const { answerStart, answerEnd } = encoder.encode({ answer: large, id: 1 });
    expect(answerEnd - answerStart).toBe(2_000_002);
    expect(thrownBy(() => encoder.encode({ a: Number.NaN }))).toMatchObject({ code: 'invalid_json' });
    const next = encoder.encode({ answer: 1, id: 2 });
    expect(text(next, next.payloadStart, next.payloadEnd)).toBe('{"id":2}');
  });
});

describe('joinItem', () => {
  it('joins any parts, whatever keys are around them', () => {
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
