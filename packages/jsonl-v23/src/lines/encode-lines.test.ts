import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { times } from '../../../../tools/vitest/long.ts';
import { anyText, item, numberLiteral, spellDifferently, thrownBy } from '../../test/arbitrary-json.ts';
import { outcomeOf, showEncoded } from '../../test/show-encoded.ts';
import { ItemEncoder } from '../item/encode-item.ts';
import { ExactNumber, isJsonObject, type JsonValue } from '../json/json-value.ts';
import { LineEncoder } from './encode-lines.ts';
import type { LineBatch } from './line-cutter.ts';
import { parseLines } from './read-items.ts';

function batchOf(text: string | Uint8Array, firstLine = 1): LineBatch {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text;
  return { bytes, firstLine, lineCount: 0, itemCount: 0 };
}

function byLines(batch: LineBatch, encoder: LineEncoder = new LineEncoder(), maxDepth?: number): unknown {
  return outcomeOf(() =>
    Array.from(
      encoder.encode(batch, { file: 'f', ...(maxDepth === undefined ? {} : { maxDepth }) }),
      showEncoded,
    ),
  );
}

/** The same by way of values. */
function byValues(batch: LineBatch, maxDepth?: number): unknown {
  const encoder = new ItemEncoder();
  return outcomeOf(() =>
    parseLines(batch, { file: 'f', ...(maxDepth === undefined ? {} : { maxDepth }) }).map(({ item }) =>
      showEncoded(encoder.encode(item)),
    ),
  );
}

/** A value as a writer that knows no canonical form may write it: keys in order, blanks or none, some escapes. */
function spell(value: JsonValue, blank: string): string {
  if (Array.isArray(value)) return `[${value.map((one) => spell(one, blank)).join(`,${blank}`)}]`;
  if (!isJsonObject(value)) return value instanceof ExactNumber ? value.text : JSON.stringify(value);
  const members = Object.entries(value).map(
    ([key, member]) => `${JSON.stringify(key)}:${blank}${spell(member, blank)}`,
  );
  return `{${members.join(`,${blank}`)}}`;
}

describe('LineEncoder', () => {
  const encoder = new LineEncoder();

  it.each([
    ['nothing', '{}'],
    ['blanks in nothing', ' { \t} \r'],
    ['canonical text', '{"answer":"4","id":1,"inputs":{"prompt":"2+2?"}}'],
    ['canonical text without an answer', '{"id":1,"inputs":{"prompt":"2+2?"},"type":"code"}'],
    ['only an answer', '{"answer":[1, 2 ,{"b":1,"a":[]}]}'],
    ['an answer and a checker', '{"checker":"c","answer":null}'],
    ['parts between other keys', '{"z":1,"checker":"c","b":2,"answer":"a","Answer":3,"ans":4,"ch":5,"a":0}'],
    ['blanks everywhere', '{ "id" : 1 , "tags" : [ "a" , "b" ] , "meta" : { "k" : null } }\r'],
    [
      'escapes',
      '{"a":"\\u0041\\/\\u00e9\\u20AC\\ud83d\\ude00\\ud83d\\n\\u000a\\u001F\\"\\\\\\u0022\\u005c\\udc00"}',
    ],
    ['canonical escapes', '{"a":"\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001f"}'],
    ['lone surrogates', '{"a":"\\uD800\\u0041","b":"\\uD800\\uD800\\uDC00"}'],
    ['text beyond ASCII', '{"ä":"日本語 \u{1f600} \u007f\u2028","":"ß","😀":1,"\uff5e":2}'],
    ['a key with an escape', '{"\\u0061":1,"a b":2}'],
    ['the same key twice, once with an escape', '{"\\u0061":1,"a":2}'],
    ['numbers', '{"n":[0,-0,1,-1,12.50,1.0,-5.0,0.0,-0.0,1e3,1E400,0.000001,0.0000001,123456789012345]}'],
    [
      'long numbers',
      '{"n":[1234567890123456,9007199254740993,0.1234567890123456,0.12345678901234567,333333333.33333329]}',
    ],
    ['an id with a fraction of zero', '{"id":1.0}'],
    ['an id with a fraction', '{"id":1.5}'],
    ['a long id', '{"id":12345678901234567890}'],
    ['an id of the wrong kind', '{"id":true}'],
    ['a type of the wrong kind', '{"type":null}'],
    ['a conversation', '{"inputs":{"messages":[{"role":"user","content":["x"]},{"content":1,"role":"b"}]}}'],
    ['a message without content', '{"inputs":{"messages":[{"role":"user"}]}}'],
    ['an invalid message', '{"inputs":{"messages":["hi"]}}'],
    ['a role of the wrong kind', '{"inputs":{"messages":[{"role":1,"content":""}]}}'],
    ['a prompt of the wrong kind', '{"inputs":{"prompt":[]}}'],
    ['criteria', '{"criteria":["a",{"b":1}]}'],
    ['criteria of the wrong kind', '{"criteria":["a",1]}'],
    ['tags of the wrong kind', '{"tags":[null]}'],
    ['a judge prompt', '{"meta":{"judge_prompt":null}}'],
    ['a judge prompt of the wrong kind', '{"meta":{"judge_prompt":1}}'],
    ['assets', '{"assets":{"a":"assets/x.png","b":{"data":"aGk=","path":"assets/y"}},"answer":1}'],
    ['no assets', '{"assets":null}'],
    ['a checker with content', '{"checker":{"path":"checkers/c.py","encoding":"base64","data":"aGk="}}'],
    ['a checker that is an object', '{"checker":{"type":"exact"}}'],
    ['no object', '[1]'],
    ['two values', '{} {}'],
    ['a word that is none', '{"a":nul}'],
    ['a number that is none', '{"a":01}'],
    ['a bare minus', '{"a":-}'],
    ['a bare point', '{"a":1.}'],
    ['a comma too many', '{"a":1,}'],
    ['a comma too few', '{"a":[1 2]}'],
    ['an escape that is none', '{"a":"\\x"}'],
    ['a short escape', '{"a":"\\u12"}'],
    ['a control character', '{"a":"\u0001"}'],
    ['an open string', '{"a":"'],
    ['an open object', '{"a":1'],
    ['a repeated key', '{"a":1,"b":2,"a":3}'],
    ['a repeated key deep inside', '{"a":[{"b":1,"b":1}]}'],
    ['a blank that JSON does not know', '{"a":\u00a01}'],
    ['prototypes', '{"__proto__":{"a":1},"constructor":2,"hasOwnProperty":3}'],
  ])('writes %s like the reference path', (_, line) => {
    const batch = batchOf(`{"id":1}\n\n${line}\n \t\r\n${line}`, 7);
    const expected = byValues(batch);
    expect(byLines(batch)).toEqual(expected);
    // An encoder that has seen all the others, valid and not.
    expect(byLines(batch, encoder)).toEqual(expected);
    expect(byLines(batch, encoder)).toEqual(expected);
  });

  it.each([
    ['inside a string', [0x22, 0xff, 0x22]],
    ['overlong', [0x22, 0xc0, 0x80, 0x22]],
    ['overlong in three bytes', [0x22, 0xe0, 0x9f, 0xbf, 0x22]],
    ['a surrogate', [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ['overlong in four bytes', [0x22, 0xf0, 0x8f, 0xbf, 0xbf, 0x22]],
    ['beyond Unicode', [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22]],
    ['cut off by the line end', [0x22, 0xe2, 0x82]],
    ['cut off by the quote', [0x22, 0xe2, 0x82, 0x22]],
    ['outside of strings', [0x80]],
    [
      'highest of each length',
      [0x22, 0xdf, 0xbf, 0xef, 0xbf, 0xbf, 0xf4, 0x8f, 0xbf, 0xbf, 0xed, 0x9f, 0xbf, 0x22],
    ],
  ])('treats bytes like the reference path: %s', (_, value) => {
    const encode = (text: string): number[] => [...new TextEncoder().encode(text)];
    for (const [before, after] of [
      ['{"id":1}\n{"a":', '}\n{}'],
      ['{"a":1}\n{', ':1}'],
      ['{"b":"\\u0041",\n"a":', ''],
    ]) {
      const batch = batchOf(Uint8Array.from([...encode(before ?? ''), ...value, ...encode(after ?? '')]));
      expect(byLines(batch, encoder)).toEqual(byValues(batch));
    }
  });

  it('writes any spelling of items like the reference path', () => {
    const spelled = fc
      .tuple(
        item,
        fc.constantFrom<(value: JsonValue) => string>(
          (value) => spell(value, ''),
          (value) => spell(value, ' '),
          spellDifferently,
        ),
      )
      .map(([value, spelling]) => spelling(value));
    fc.assert(
      fc.property(fc.array(fc.oneof(spelled, fc.constantFrom('', ' \r')), { maxLength: 4 }), (lines) => {
        const batch = batchOf(lines.join('\n'));
        expect(byLines(batch, encoder)).toEqual(byValues(batch));
      }),
      { numRuns: times(500, 100) },
    );
  });

  it('accepts and refuses damaged lines like the reference path', () => {
    const damaged = fc
      .tuple(
        item,
        fc.nat(),
        fc.nat({ max: 3 }),
        fc.oneof(anyText, fc.constantFrom('"', '\\', '{', ']', ',', '0')),
      )
      .map(([value, at, length, insert]) => {
        const text = spell(value, ' ');
        const start = at % (text.length + 1);
        return text.slice(0, start) + insert + text.slice(start + length);
      });
    fc.assert(
      fc.property(fc.array(damaged, { maxLength: 2 }), (lines) => {
        const batch = batchOf(lines.join('\n'));
        expect(byLines(batch, encoder)).toEqual(byValues(batch));
      }),
      { numRuns: times(1000, 200) },
    );
  });

  it('writes numbers like the reference path', () => {
    fc.assert(
      fc.property(fc.array(numberLiteral, { maxLength: 5 }), (numbers) => {
        const batch = batchOf(`{"n":[${numbers}],"id":${numbers[0] ?? 1}}`);
        expect(byLines(batch, encoder)).toEqual(byValues(batch));
      }),
      { numRuns: times(2000, 400) },
    );
    const decimal = fc
      .tuple(fc.integer({ min: -99999, max: 99999 }), fc.bigInt({ min: 0n, max: 10n ** 13n }))
      .map(([integer, fraction]) => `${integer}.${fraction}`);
    fc.assert(
      fc.property(decimal, (number) => {
        const batch = batchOf(`{"n":${number}}`);
        expect(byLines(batch, encoder)).toEqual(byValues(batch));
      }),
      { numRuns: times(2000, 400) },
    );
  });

  it.each([2, 3, 99, 100, 101, 256])('reads values up to a depth of %d', (maxDepth) => {
    for (const depth of [maxDepth - 1, maxDepth, maxDepth + 1]) {
      const arrays = batchOf(`{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`);
      expect(byLines(arrays, encoder, maxDepth)).toEqual(byValues(arrays, maxDepth));
      const objects = batchOf(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);
      expect(byLines(objects, encoder, maxDepth)).toEqual(byValues(objects, maxDepth));
    }
  });

  it('reads objects of many keys, and of new keys in every line', () => {
    const many = Array.from({ length: 200 }, (_, index) => `"k${index}":${index}`);
    const batch = batchOf(
      [many, many.slice(0, 128), many.slice(0, 129), ...many.map((member) => [member])]
        .map((members) => `{${members.join(', ')}}`)
        .join('\n')
        .repeat(1),
    );
    for (let round = 0; round < 60; round++) byLines(batch, encoder);
    expect(byLines(batch, encoder)).toEqual(byValues(batch));
  });

  it('reads lines longer than its buffer', () => {
    const long = `{"b":"${'x'.repeat(3_000_000)}","a":[ "${'\\u0041'.repeat(500_000)}" ]}`;
    const batch = batchOf(`{"id":1}\n${long}\n{"id":2}`);
    expect(byLines(batch, encoder)).toEqual(byValues(batch));
    const small = batchOf('{"id": 1, "answer": 2}\n');
    expect(byLines(small, encoder)).toEqual(byValues(small));
  });

  it('counts assets and finds file references', () => {
    const lines = [
      '{}',
      '{"assets":["assets/a"]}',
      '{"assets":{"a":{"data":"aGk="}}}',
      '{"checker":{"path":"checkers/c"}}',
      '{"checker":{"encoding":"base64","data":"aGk="}}',
    ];
    const found = Array.from(encoder.encode(batchOf(lines.join('\n'))), (line) => [
      line.needsFiles,
      line.embedsFiles,
    ]);
    expect(found).toEqual([
      [false, false],
      [true, false],
      [false, true],
      [true, false],
      [false, true],
    ]);
  });

  it('works after an error', () => {
    expect(thrownBy(() => [...encoder.encode(batchOf('{"id":[}'))])).toMatchObject({ code: 'invalid_json' });
    expect(byLines(batchOf('{"id":1}'), encoder)).toEqual(byValues(batchOf('{"id":1}')));
  });
});
