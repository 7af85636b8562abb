import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../json/canonical/canonical-json.ts';
import { joinItem, layoutItem, layoutLinkedItem, replaceLinked } from './join-item.ts';

const key = fc.constantFrom('a', 'answer ', 'assetz', 'c', 'checker"', 'd', 'id', '𝄞', '￾', '');
const payload = fc
  .dictionary(key, fc.jsonValue({ maxDepth: 1 }))
  .map((value) => canonicalJson(value as never));
const part = fc.option(
  fc.jsonValue({ maxDepth: 2 }).map((value) => canonicalJson(value as never)),
  { nil: null },
);

describe('layoutItem', () => {
  it('lays out what joinItem joins', () => {
    fc.assert(
      fc.property(fc.record({ payload, answer: part, checker: part, assets: part }), (parts) => {
        const pieces = layoutItem(parts);
        expect(pieces.map(({ text }) => text).join('')).toBe(joinItem(parts));
        for (const name of ['assets', 'checker'] as const) {
          expect(pieces.filter((piece) => piece.part === name).map(({ text }) => text)).toEqual(
            parts[name] === null ? [] : [parts[name]],
          );
        }
      }),
    );
  });
});

describe('layoutLinkedItem', () => {
  it('puts each file between the texts around its content', () => {
    const file = {
      pointer: '/assets/ä',
      start: '{"ä":'.length,
      end: '{"ä":{"sha256":"x"}'.length,
      before: '{"data":"',
      after: '","encoding":"base64"}',
      sha256: 'ab',
      byteLength: 3,
    };
    const assets = '{"ä":{"sha256":"x"},"𝄞":{"sha256":"x"}}';
    const pieces = layoutLinkedItem({
      payload: '{"id":1}',
      answer: null,
      checker: null,
      assets,
      linkedFiles: [file],
    });
    expect(pieces.map((piece) => (typeof piece === 'string' ? piece : 'QUJD')).join('')).toBe(
      '{"assets":{"ä":{"data":"QUJD","encoding":"base64"},"𝄞":{"sha256":"x"}},"id":1}',
    );
    expect(replaceLinked(assets, [file], () => '1')).toBe('{"ä":1,"𝄞":{"sha256":"x"}}');
  });
});
