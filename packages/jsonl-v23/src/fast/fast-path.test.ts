import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { times } from '../../../../tools/vitest/long.ts';
import {
  anyText,
  item,
  jsonObject,
  jsonValue,
  numberLiteral,
  spellDifferently,
} from '../../test/arbitrary-json.ts';
import { outcomeOf, showEncoded } from '../../test/show-encoded.ts';
import { ItemEncoder, ItemRanges } from '../item/encode-item.ts';
import { canonicalJson } from '../json/canonical/canonical-json.ts';
import { isJsonObject, type JsonObject, type JsonValue, setMember } from '../json/json-value.ts';
import { LineEncoder } from '../lines/encode-lines.ts';
import type { LineBatch } from '../lines/line-cutter.ts';
import { parseLines } from '../lines/read-items.ts';
import { compileMapping } from '../mapping/compile-mapping.ts';
import type { Mapping } from '../mapping/mapping.ts';
import { FastItemEncoder } from './fast-item-encoder.ts';

const COLUMNS = ['q', 'a', 's', 'c', 'id', 'm', 'judge_prompt', '__proto__'];
const FEATURES = COLUMNS.map((name) => ({ name, dtype: 'string' }));
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

const conversation: fc.Arbitrary<JsonValue> = fc.array(
  fc.record({ role: anyText, content: jsonValue }, { noNullPrototype: true }),
  { minLength: 1, maxLength: 3 },
);
const cell: fc.Arbitrary<JsonValue> = fc.oneof(anyText, anyText, jsonValue, fc.constant(null));

/** Rows, which become items by a mapping: the one generator for lines and cells. */
const rows: fc.Arbitrary<JsonObject[]> = fc.array(
  fc.tuple(fc.oneof(anyText, conversation, jsonValue), ...COLUMNS.slice(1).map(() => cell)).map((cells) => {
    const row: JsonObject = {};
    for (const [index, column] of COLUMNS.entries()) setMember(row, column, cells[index] ?? null);
    return row;
  }),
  { minLength: 1, maxLength: 4 },
);
const column = fc.constantFrom(...COLUMNS);
const mapping: fc.Arbitrary<Mapping> = fc.record(
  {
    promptColumn: fc.constantFrom('q', 'q', 'm'),
    answerColumn: column,
    defaultType: anyText,
    metaColumns: fc.oneof(
      fc.array(column, { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('k', 'judge_prompt', '10', '2', 'é'), column, { maxKeys: 3 }),
    ),
    choicesColumn: fc.constantFrom('c', 'a'),
    systemPromptColumn: column,
    idColumn: column,
    tags: fc.array(anyText, { maxLength: 3 }),
    types: fc.dictionary(column, fc.constantFrom('string', 'int64', 'float64', 'bool', 'json'), {
      maxKeys: 2,
    }),
  },
  { requiredKeys: ['promptColumn'], noNullPrototype: true },
);
const spelling = fc.constantFrom<(value: JsonValue) => string>(canonicalJson, spellDifferently, (value) =>
  canonicalJson(value).replaceAll('/', '\\/'),
);

function lineBatch(lines: readonly string[]): LineBatch {
  return { bytes: utf8(lines.join('\n')), firstLine: 1, lineCount: lines.length, itemCount: lines.length };
}

const wide = (count: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`w${index}`, index]));

/** Members that decide whether an asset or a checker is a link, embeds its content, or has to be normalised. */
const entry: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.record<Record<string, JsonValue>>(
    {
      mime_type: fc.constantFrom<JsonValue>('image/png', 'text/plain', 1),
      url: fc.oneof(
        fc.constantFrom<JsonValue>(
          'https://a/b',
          'data:,x',
          'DATA:text/plain;base64,aGk=',
          'dat:x',
          '',
          null,
          1,
        ),
        anyText,
      ),
      content_type: fc.constant('image/png'),
      encoding: fc.constantFrom('base64', 'hex'),
      data: fc.constantFrom<JsonValue>('aGk=', '?', 1),
      path: fc.constantFrom<JsonValue>(
        'assets/a.png',
        'checkers/a.py',
        './checkers/a.py',
        '/x',
        '../x',
        null,
      ),
      title: jsonValue,
    },
    { requiredKeys: [], noNullPrototype: true },
  ),
  fc.record(
    { mime_type: anyText, url: fc.webUrl(), size: fc.nat() },
    { requiredKeys: [], noNullPrototype: true },
  ),
  anyText,
);

/** Items with all of their known keys, and others. */
const checkedItem: fc.Arbitrary<JsonObject> = fc
  .tuple(
    item,
    fc.record(
      {
        checker: fc.oneof(entry, fc.record({ type: anyText, options: jsonValue }, { noNullPrototype: true })),
        assets: fc.oneof(
          fc.array(entry, { maxLength: 3 }),
          fc.dictionary(fc.constantFrom('image', 'url', 'path', '__proto__', '2', '10'), entry, {
            maxKeys: 3,
          }),
        ),
      },
      { requiredKeys: [], noNullPrototype: true },
    ),
    jsonObject(jsonValue),
  )
  .map(([known, files, others]) => {
    const whole: JsonObject = {};
    for (const part of [others, known, files as JsonObject]) {
      for (const key of Object.keys(part)) setMember(whole, key, part[key] as JsonValue);
    }
    return whole;
  });

/** The text of a value with the members of its objects in an order that depends on the seed. */
function shuffled(value: JsonValue, seed: number): string {
  if (Array.isArray(value))
    return `[${value.map((element, index) => shuffled(element, seed + index)).join(', ')}]`;
  if (!isJsonObject(value)) return canonicalJson(value);
  const weight = (key: string): number =>
    Math.imul(key.length * 31 + (key.codePointAt(0) ?? 0) + seed, 0x9e3779b1);
  const keys = Object.keys(value).sort((a, b) => weight(a) - weight(b));
  const blank = seed % 3 === 0 ? ' ' : '';
  return `{${keys.map((key) => `${canonicalJson(key)}:${blank}${shuffled(value[key] as JsonValue, seed * 7 + 1)}`).join(',')}}`;
}

const lineEncoder = new LineEncoder();

function expectSameLines(lines: readonly string[]): void {
  const batch = lineBatch(lines);
  const reference = new ItemEncoder();
  const expected = outcomeOf(() =>
    parseLines(batch, { file: 'f' }).map(({ item }) => showEncoded(reference.encode(item))),
  );
  expect(outcomeOf(() => Array.from(lineEncoder.encode(batch, { file: 'f' }), showEncoded))).toEqual(
    expected,
  );
}

/** Items whose objects all have keys of some thousand names, in any place: more than are known at all. */
function mapsOfMaps(count: number): readonly string[] {
  let seed = 0;
  const map = (level: number): JsonObject =>
    Object.fromEntries(
      Array.from({ length: 9 }, () => {
        seed += 1;
        return [`n${(seed * 7919) % 2003}`, level === 0 ? seed : map(level - 1)];
      }),
    );
  return Array.from({ length: count }, (_, id) =>
    JSON.stringify({ ...map(2), id, meta: map(2), answer: id }),
  );
}

describe('the fast path', () => {
  it('encodes lines as the reference path does', () => {
    fc.assert(
      fc.property(rows, mapping, spelling, (given, by, spell) => {
        const toItem = compileMapping(by, FEATURES);
        const items = outcomeOf(() => given.map((row, index) => toItem(row, index)));
        // Rows that do not map to items become lines as they are; many of those lines are invalid too.
        expectSameLines((Array.isArray(items) ? (items as JsonObject[]) : given).map(spell));
      }),
      { numRuns: times(600, 120) },
    );
  });

  it('encodes checkers, assets and keys in any order as the reference path does', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(checkedItem, fc.nat(1000)), { minLength: 1, maxLength: 3 }), (items) => {
        expectSameLines(items.map(([value, seed]) => shuffled(value, seed)));
      }),
      { numRuns: times(500, 100) },
    );
  });

  it('encodes objects with more keys than are known of one location as the reference path does', () => {
    const lines = Array.from({ length: 60 }, (_, line) => {
      const members = Array.from({ length: 100 }, (_, key) => [`k${(key * 37 + line * 61) % 4001}`, key]);
      return JSON.stringify({ meta: Object.fromEntries(members), id: line, [`x${line % 7}`]: { [line]: 1 } });
    });
    expectSameLines(lines);
    // Over as many keys in one item as are known at all: the rest is left to the reference path.
    const groups = Array.from({ length: 100 }, (_, group) => [`g${group}`, wide(100)]);
    expectSameLines([JSON.stringify(Object.fromEntries(groups)), ...lines.slice(0, 3)]);
  });

  it('encodes objects whose keys are data as the reference path does', () => {
    const map = (key: (index: number) => string, count = 200): JsonObject =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [key(index), index]));
    const url = 'https://a/b';
    // After these, the encoder knows that keys are data in `meta`, in its `m` and in `assets`.
    expectSameLines(
      ['a', 'b', 'c', 'd'].map((line) =>
        canonicalJson({
          assets: Object.fromEntries(
            Object.keys(map((index) => `${line}${index}`)).map((key) => [key, { url }]),
          ),
          meta: { ...map((index) => `${line}${index}`), m: map((index) => `${line}${index}`) },
        }),
      ),
    );
    const unit = fc.constantFrom(
      'a',
      'b',
      ' ',
      '!',
      '"',
      '\\',
      '\n',
      'é',
      '\u{e000}',
      '\u{ffff}',
      '\u{10000}',
      '\u{10ffff}',
    );
    const key = fc.oneof(fc.string({ unit, maxLength: 4 }), anyText);
    const keys = fc.array(key, { maxLength: 40 });
    fc.assert(
      fc.property(keys, keys, fc.array(entry, { maxLength: 3 }), spelling, (outer, inner, assets, spell) => {
        // Written one by one, so that keys repeat.
        const object = (names: readonly string[], values: readonly string[]): string =>
          `{${names.map((name, index) => `${spell(name)}:${values[index % values.length]}`).join()}}`;
        const meta = object(outer, ['1', object(inner, ['"x"', '[{"b":1,"a":2}]'])]);
        const named = object(outer.slice(0, assets.length), assets.map(spell));
        expectSameLines([`{"meta":${meta}}`, `{"assets":${named},"id":1}`]);
      }),
      { numRuns: times(1000, 200) },
    );
  });

  it('encodes numbers as the reference path does', () => {
    // About as many digits as a double keeps, and exponents about those at which the canonical text changes its form.
    const fraction = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 12, maxLength: 18 });
    const decimal = fc
      .tuple(
        fc.integer({ min: -99, max: 99 }),
        fraction,
        fc.constantFrom(
          '',
          '',
          'e-5',
          'e-06',
          'E-07',
          'e+18',
          'e19',
          'e20',
          'e0021',
          'e-300',
          'e295',
          'e308',
        ),
      )
      .map(([integer, digits, exponent]) => `${integer}.${digits.join('')}${exponent}`);
    const small = fc
      .tuple(fc.integer({ min: 0, max: 8 }), fc.bigInt({ min: 1n, max: 10n ** 19n }))
      .map(([zeros, digits]) => `-0.${'0'.repeat(zeros)}${digits}0`);
    const double = fc.double({ noNaN: true, noDefaultInfinity: true }).map(String);
    const python = fc
      .tuple(fc.double({ min: 1, max: 9.99, noNaN: true }), fc.integer({ min: -30, max: 30 }))
      .map(([mantissa, exponent]) => `${mantissa}e${exponent < 0 ? '-' : '+'}0${Math.abs(exponent)}`);
    const long = fc.integer({ min: 990, max: 1010 }).map((length) => `0.1${'3'.repeat(length)}`);
    const exponent = fc.oneof(
      fc.integer({ min: -1010, max: 1010 }),
      fc.constantFrom(1_000_000, -1_000_000, '9'.repeat(400)),
    );
    const scaled = fc
      .tuple(fc.bigInt({ min: 1n, max: 10n ** 40n }), exponent)
      .map(([digits, power]) => `${digits}e${power}`);
    const number = fc.oneof(
      ...[numberLiteral, decimal, small, double, python, long, scaled, fc.bigInt().map(String)],
    );
    fc.assert(
      fc.property(fc.array(number, { minLength: 1, maxLength: 5 }), (numbers) => {
        expectSameLines([`{"n":[${numbers}],"id":${numbers[0]}}`]);
      }),
      { numRuns: times(800, 160) },
    );
  });

  it('encodes and refuses damaged lines as the reference path does', () => {
    const insert = fc.oneof(anyText, numberLiteral, fc.constantFrom('"', '\\', '{', ']', ',', '0', '\\u00'));
    fc.assert(
      fc.property(rows, spelling, fc.nat(), fc.nat(3), insert, (given, spell, at, removed, inserted) => {
        const lines = given.map((row) => {
          const line = spell({ id: row['id'] ?? 1, answer: row['a'] ?? null, meta: { m: row['m'] ?? 0 } });
          const start = at % (line.length + 1);
          return line.slice(0, start) + inserted + line.slice(start + removed);
        });
        expectSameLines(lines);
      }),
      { numRuns: times(600, 120) },
    );
  });
});

describe('FastItemEncoder', () => {
  const encoder = new FastItemEncoder();
  const fallsBack = (line: string | Uint8Array, maxDepth = 256): boolean => {
    encoder.load(typeof line === 'string' ? utf8(line) : line, maxDepth);
    return encoder.encode(0, new ItemRanges()) === -1;
  };

  it('does not fall back for common items', () => {
    const number = fc.double({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(anyText, number, fc.constantFrom(undefined, 1), (prompt, answer, indent) => {
        const item = {
          id: 1,
          inputs: { prompt },
          answer: [answer, { é: null }],
          tags: ['a'],
          meta: { a: true },
        };
        expect(fallsBack(JSON.stringify(item, null, indent).replaceAll('\n', ' '))).toBe(false);
      }),
    );
  });

  it.each<[string, string | Uint8Array]>([
    ['a blank line', ' '],
    ['an array', '[1]'],
    ['embedded content', '{"assets":[{"mime_type":"image/png","encoding":"base64","data":""}]}'],
    ['a file of the archive', '{"assets":{"a":{"path":"assets/a.png"}}}'],
    ['the short form of an asset', '{"assets":["https://a/b"]}'],
    ['a data: URI', '{"assets":[{"url":"Data:,x"}]}'],
    ['a checker that is a file', '{"checker":{"path":"checkers/a.py"}}'],
    ['a checker that embeds a file', '{"checker":{"encoding":"base64","data":"eA=="}}'],
    ['invalid UTF-8', Buffer.from('{"a":"\xff"}', 'latin1')],
    ['a key that is not canonical without an escape', '{"\\u000a":1}'],
    ['a duplicate key', '{"a":1,"\\u0061":2}'],
    ['a wrong type', '{"id":1.5}'],
    ['a missing role', '{"inputs":{"messages":[{"content":""}]}}'],
    ['invalid JSON', '{"a":nul}'],
    ['257 keys', JSON.stringify({ meta: wide(257) })],
    ['101 levels', `{"a":${'['.repeat(100)}${']'.repeat(100)}}`],
  ])('falls back for %s', (_, line) => {
    expect(fallsBack(line)).toBe(true);
  });

  it.each([
    ['a checker that is an object', '{"checker":{"type":"exact_match","data":"x"}}'],
    ['assets that are links', '{"assets":[{"mime_type":"image/png","url":"https://a/d"},{"title":"data:"}]}'],
    ['named assets', '{"assets":{"path":{"url":null},"url":{}}}'],
    ['keys with escapes', '{"\\u0061\\/":{"\\ud83d\\ude00":1}}'],
    ['an integer of 16 digits', '{"id":9007199254740993}'],
    ['256 keys', JSON.stringify({ meta: wide(256) })],
  ])('does not fall back for %s', (_, line) => {
    expect(fallsBack(line)).toBe(false);
  });

  it('falls back once before it knows that keys are data', () => {
    const learning = new FastItemEncoder();
    const line = (first: number): string =>
      JSON.stringify({
        meta: Object.fromEntries(
          Array.from({ length: 200 }, (_, index) => [`k${first + 7 * index}`, { a: 1 }]),
        ),
      });
    const outcomes = [0, 1, 2, 3, 4].map((first) => {
      learning.load(utf8(line(first)), 256);
      return learning.encode(0, new ItemRanges()) === -1;
    });
    expect(outcomes).toEqual([false, true, false, false, false]);
  });

  it('learns nothing more of keys that are data in objects whose keys are data', () => {
    const learning = new FastItemEncoder();
    const lines = mapsOfMaps(60);
    const outcomes = lines.map((line) => {
      learning.load(utf8(line), 256);
      return learning.encode(0, new ItemRanges()) === -1;
    });
    // It forgets once, and then once at each of its levels.
    expect(outcomes.slice(40)).not.toContain(true);
    expectSameLines([
      ...lines.slice(20),
      '{"answer":1,"id":2,"answer":3}',
      '{"id":1}',
      '{"inputs":{"prompt":1}}',
    ]);
  });

  it('reads 100 levels, and fewer if that is the limit', () => {
    const line = `{"a":${'['.repeat(99)}${']'.repeat(99)}}`;
    expect(fallsBack(line)).toBe(false);
    expect(fallsBack(line, 99)).toBe(true);
  });
});
