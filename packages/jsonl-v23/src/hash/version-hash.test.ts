import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hex, item, spellDifferently } from '../../test/arbitrary-json.ts';
import { encodeItem } from '../item/encode-item.ts';
import type { ItemInput } from '../item/item.ts';
import { joinItem } from '../item/join-item.ts';
import { parseItem } from '../item/parse-item.ts';
import { canonicalJson } from '../json/canonical/canonical-json.ts';
import type { JsonObject } from '../json/json-value.ts';
import { parseJson } from '../json/parse-json.ts';
import { createSectionHasher, HASH_SPEC, itemHash, versionHash } from './version-hash.ts';

const zeros = (count: number): string => '0'.repeat(count);

/** Lines, their canonical text, and the hash of their item. */
const items: Record<string, [line: string, canonical: string, hash: string]> = {
  empty: ['{}', '{}', '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a'],
  order: [
    '{"b":1,"a":[3,2,1]}',
    '{"a":[3,2,1],"b":1}',
    '3ce2bce0ad5f581d642ebf7b59c400e6f60fa4416e9fb08e3061bb0a35f6fb2b',
  ],
  numbers: [
    '{"n":1.0,"m":0.1000,"k":1e21,"z":-0,"big":12345678901234567890,"frac":0.12345678901234567890123,"e":1e-7,"tiny":5e-324,"neg":-1.5e300}',
    '{"big":12345678901234567890,"e":1e-7,"frac":0.12345678901234567890123,"k":1e+21,"m":0.1,"n":1,"neg":-1.5e+300,"tiny":5e-324,"z":0}',
    '4940dfa56282ea9f8bd09471d0f8efedb68bbd4fb87ae3c8fb1f087b1245b6fa',
  ],
  'more numbers': [
    '{"x":9007199254740993,"y":9007199254740992,"w":100000000000000000000,"v":123456789012345680000,"u":333333333.33333329,"t":4.50,"s":2e-3,"r":0.000000000000000000000000001,"q":0.10000000000000001,"p":1234567890123456789012.5}',
    '{"p":1234567890123456789012.5,"q":0.10000000000000001,"r":1e-27,"s":0.002,"t":4.5,"u":333333333.33333329,"v":123456789012345680000,"w":100000000000000000000,"x":9007199254740993,"y":9007199254740992}',
    '920e8af26b9e8ddcacd6d0e3661ed43f9546f20122756c237b291fdbc1192a50',
  ],
  'sorted keys': [
    '{"\\u20ac":"Euro Sign","\\r":"Carriage Return","\\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\\ud83d\\ude00":"Emoji: Grinning Face","\\u0080":"Control","\\u00f6":"Latin Small Letter O With Diaeresis"}',
    '{"\\r":"Carriage Return","1":"One","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis","\u20ac":"Euro Sign","\u{1f600}":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
    '5e321556d22018a9656991a9e94f77ec175fa193e52a2429d312f8419ec8b08c',
  ],
  strings: [
    '{"s":"\\u0000\\b\\t\\n\\f\\r\\u001f\\"\\\\\\/\\u007f\\u2028","lone":"\\ud800x","pair":"\\ud83d\\ude00"}',
    '{"lone":"\\ud800x","pair":"\u{1f600}","s":"\\u0000\\b\\t\\n\\f\\r\\u001f\\"\\\\/\u007f\u2028"}',
    '47313218ae38c76b45f08d04a30b03d2a62bee4ee63c52591fd79761f0d3892d',
  ],
  'inherited names': [
    '{"__proto__":{"a":1},"constructor":"c","":"empty","toString":null}',
    '{"":"empty","__proto__":{"a":1},"constructor":"c","toString":null}',
    '89eddd7380870ba2ef3bc73ea3225267366cc8b6547b9289dc80ba70cf06353e',
  ],
  'beyond doubles': [
    '{"huge":1e400,"small":-1e-330,"nested":{"b":[{"d":1,"c":[true,false,null]}],"a":{}}}',
    `{"huge":1${zeros(400)},"nested":{"a":{},"b":[{"c":[true,false,null],"d":1}]},"small":-0.${zeros(329)}1}`,
    'e5d003884ab34cd3ceeaa70663e07280aebb5e12c669196350723189c14491bd',
  ],
  usual: [
    '{"id":"q1","type":"freeform","inputs":{"prompt":"2+2?","system_prompt":"Be brief."},"answer":"4","checker":{"type":"exact_match"},"meta":{"judge_prompt":"Grade."}}',
    '{"answer":"4","checker":{"type":"exact_match"},"id":"q1","inputs":{"prompt":"2+2?","system_prompt":"Be brief."},"meta":{"judge_prompt":"Grade."},"type":"freeform"}',
    '7f5d7253e52abc39a1a080b2b19256e30b4a244854e4b45d955e5813fc3a5611',
  ],
  'file in an archive': [
    '{"id":"q1","assets":{"fig":{"mime_type":"image/png","encoding":"base64","data":"iVBORw0KGgo=","path":"assets/img.png"}}}',
    '{"assets":{"fig":{"data":"iVBORw0KGgo=","encoding":"base64","mime_type":"image/png","path":"assets/img.png"}},"id":"q1"}',
    '5fc0d634dd88cbca1089f2d1e28754a73d525a1ba071d06a754615aab18cf4e8',
  ],
  'the same, inline': [
    '{"assets":{"fig":{"mime_type":"image/png","encoding":"base64","data":"iVBORw0KGgo="}},"id":"q1"}',
    '{"assets":{"fig":{"data":"iVBORw0KGgo=","encoding":"base64","mime_type":"image/png"}},"id":"q1"}',
    '5fc0d634dd88cbca1089f2d1e28754a73d525a1ba071d06a754615aab18cf4e8',
  ],
  link: [
    '{"id":"q1","assets":[{"url":"https://example.org/a.png","mime_type":"image/png","path":"assets/kept.png"}]}',
    '{"assets":[{"mime_type":"image/png","path":"assets/kept.png","url":"https://example.org/a.png"}],"id":"q1"}',
    'a9fc647f8186acae619b843a56fff3e62211be02fba8c9cf69009ff1a0451ddc',
  ],
};

const hashOf = (name: string): string => (items[name] as [string, string, string])[2];

describe('the hash of an item', () => {
  it.each(Object.entries(items))('%s', (_, [line, canonical, hash]) => {
    const parsed = parseItem(parseJson(line));
    const encoded = encodeItem(parsed);
    expect(canonicalJson(parsed)).toBe(canonical);
    expect(joinItem(encoded)).toBe(canonical);
    expect(hex(itemHash(parsed))).toBe(hash);
    expect(hex(encoded.itemHash)).toBe(hash);
  });

  it('does not depend on key order, white space and escapes', () => {
    fc.assert(
      fc.property(item, (value) => {
        const spelled = parseItem(parseJson(spellDifferently(value)));
        expect(hex(itemHash(spelled))).toBe(hex(itemHash(parseItem(value))));
      }),
    );
  });

  it.each([
    ['data: URI', '{"assets":["data:image/png;base64,iVBORw0KGgo="]}'],
    ['data: URI as url', '{"assets":[{"url":"data:image/png;base64,iVBORw0KGgo="}]}'],
    ['percent-encoded data: URI', '{"assets":["data:image/png,%89PNG%0D%0A%1a%0A"]}'],
    ['inline base64', '{"assets":[{"encoding":"base64","data":"iVBORw0KGgo=","mime_type":"image/png"}]}'],
    ['content_type', '{"assets":[{"data":"iVBORw0KGgo=","content_type":"image/png"}]}'],
    ['file', '{"assets":[{"data":"iVBORw0KGgo=","path":"assets/a/b.png"}]}'],
  ])('does not depend on how an asset is written: %s', (_, line) => {
    const plain = { assets: [{ data: 'iVBORw0KGgo=', encoding: 'base64', mime_type: 'image/png' }] };
    expect(hex(itemHash(parseItem(parseJson(line))))).toBe(hex(itemHash(plain)));
  });

  it.each<[string, JsonObject, JsonObject]>([
    ['a value', { a: 1 }, { a: 2 }],
    ['null and absent', { answer: null }, {}],
    ['the order of an array', { a: [1, 2] }, { a: [2, 1] }],
    ['a path without content', { assets: [{ path: 'assets/a' }] }, { assets: [{ path: 'assets/b' }] }],
    ["a checker's own path", { checker: { path: 'a', data: 'b' } }, { checker: { path: 'c', data: 'b' } }],
    ['the name of an asset', { assets: { a: { url: 'x' } } }, { assets: { b: { url: 'x' } } }],
  ])('depends on %s', (_, left, right) => {
    expect(hex(itemHash(left))).not.toBe(hex(itemHash(right)));
  });

  it.each([
    [{ id: {} }, 'invalid_item', '/id'],
    [{ assets: ['nowhere'] }, 'invalid_asset', '/assets/0'],
    [{ meta: { when: new Date(0) } }, 'invalid_json', '/meta/when'],
    [[], 'not_an_object', ''],
  ])('refuses what the reader refuses: %j', (value, code, path) => {
    expect(() => itemHash(value as ItemInput)).toThrow(expect.objectContaining({ code, location: { path } }));
  });

  it('is that of the normalised item', () => {
    const short = { assets: ['data:image/png;base64,iVBORw0KGgo='] };
    expect(hex(itemHash(short as ItemInput))).toBe(hex(itemHash(parseItem(short))));
    expect(hex(itemHash({ id: 5n }))).toBe(hex(itemHash({ id: 5 })));
  });

  it('does not depend on the path of the file of a checker', () => {
    const embedded = { type: 'script', encoding: 'base64', data: 'cHJpbnQoMSk=' };
    const hashes = [
      embedded,
      { ...embedded, path: 'checkers/a.py' },
      { path: 'checkers/b/c.py', ...embedded },
    ].map((checker) => hex(itemHash({ checker })));
    expect(new Set(hashes).size).toBe(1);
    expect(hex(encodeItem({ checker: { ...embedded, path: 'checkers/a.py' } }).itemHash)).toBe(hashes[0]);
  });
});

describe('the version hash', () => {
  const sections: [name: string, items: string[], hash: string][] = [
    ['default', [], 'a6f0ecfda3ddc349c82d1239e283c45ac0dfd69a714b8db3d7d680b649fd3425'],
    ['default', ['usual'], 'e3f6a704544249af1104fc8c497a112c437280a92eac67ce59b369312ee187f5'],
    ['default', ['usual', 'order'], '57b0306b503ebba0caad257a62462ad89e8be3e4ba102ccd852358419fc17ab0'],
    ['default', ['order', 'usual'], '5c6e36452a3728fcbb128255a2ebd61c8ccfca2c2af66037085fbf19ba20e057'],
    ['a', ['usual'], '9f945dbb30de20ccfbf1178b886670c75c9ba7ed34ee7452bdb7579e1bc4f5b9'],
    ['b', ['order', 'inherited names'], '3692c3d14f275199bc604913332494fa0c94db3f8c1063ae4262f2c0680ade46'],
    ['é 😀', ['numbers'], '2557af7d5ce917c625806b92c7ea370839f7f8798ad2bc2de633aad2388343a0'],
    ['all', Object.keys(items), '1478066b760fbcbf4037eefcbf5041ed9ebe405900ed1b3386ae0872d6ae4b4b'],
  ];

  const sectionHash = (index: number): Uint8Array => {
    const [name, names] = sections[index] as [string, string[], string];
    const hasher = createSectionHasher(name);
    for (const itemName of names) hasher.add(Buffer.from(hashOf(itemName), 'hex'));
    return hasher.digest();
  };

  it.each(sections.map(([name, names, hash], index) => [name, names.length, index, hash] as const))(
    'of section %s with %i items',
    (_name, _count, index, hash) => {
      expect(hex(sectionHash(index))).toBe(hash);
    },
  );

  it('accepts item hashes one by one or many together', () => {
    const hasher = createSectionHasher('all');
    hasher.add(Buffer.from(Object.keys(items).map(hashOf).join(''), 'hex'));
    expect(hex(hasher.digest())).toBe(hex(sectionHash(7)));
  });

  it.each([
    ['no sections', [], '80c7bd910e5bd571149e02fb8b7c5775b39d19ecfd93e940f58629da50399572'],
    ['an empty section', [0], 'a4fb4f52cad01960d216f9869170605d63853d4527ce798a0a9c70901c5971be'],
    ['one item', [1], 'ccc290c08e93ec336c18fa7bbaaa563797f8cbd9f7727f17315c4d34d910069f'],
    ['two items', [2], 'd60e76cc36793bd28b2b7e503795dc02c21f463889aafa9c32b6f5f6fdc39cf8'],
    ['two items in the other order', [3], '1c18021f2e6ea3a4f295b0a4a671022a6443c58679a712c56e66b1af9ef6535c'],
    ['two sections', [4, 5], '2cb8d5b42a84f8dd19acbf1b420bd179d4a4fe5e9fe26ceff92612c9ffcd896f'],
    [
      'a section with another script',
      [6],
      'd9a6d6f609ad3f9501806446cda2f4fadae07e589798358e03eb7c419d974a45',
    ],
    ['every item above', [7], '0eaaf1652799f4de32766ebcbd8a9ce5a13cba639ca6f74d2ad430fd524f14e4'],
  ])('of a dataset with %s', (_, indexes, hash) => {
    expect(versionHash(indexes.map(sectionHash))).toBe(hash);
  });

  it('refuses what is not a number of hashes', () => {
    expect(() => createSectionHasher('x').add(new Uint8Array(3))).toThrow('n * 32 bytes, got 3 bytes.');
    expect(() => versionHash(['x' as never])).toThrow('n * 32 bytes, got string.');
  });

  it('has a name', () => {
    expect(HASH_SPEC).toBe('svc-jcs-sha256-1');
  });
});
