import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyText, jsonValue, numberLiteral, spellDifferently } from '../../test/arbitrary-json.ts';
import { outcomeOf, showEncoded } from '../../test/show-encoded.ts';
import { createItemEncoder } from '../item/encode-item.ts';
import { canonicalJson } from '../json/canonical/canonical-json.ts';
import { type JsonObject, type JsonValue, setMember } from '../json/json-value.ts';
import { createLineEncoder } from '../lines/encode-lines.ts';
import { parseLines } from '../lines/read-items.ts';
import type { LineBatch } from '../lines/split-lines.ts';
import { CellWriter } from '../mapping/cell-writer.ts';
import { compileMapping } from '../mapping/compile-mapping.ts';
import { createCellEncoder } from '../mapping/encode-cells.ts';
import { type Mapping, mappedColumns } from '../mapping/mapping.ts';
import { FastItemEncoder } from './fast-item-encoder.ts';
import { FastRowEncoder } from './fast-row-encoder.ts';

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
  },
  { requiredKeys: ['promptColumn'], noNullPrototype: true },
);
const spelling = fc.constantFrom<(value: JsonValue) => string>(canonicalJson, spellDifferently, (value) =>
  canonicalJson(value).replaceAll('/', '\\/'),
);

function lineBatch(lines: readonly string[]): LineBatch {
  return { bytes: utf8(lines.join('\n')), firstLine: 1, lineCount: lines.length, itemCount: lines.length };
}

const lineEncoder = createLineEncoder();

function expectSameLines(lines: readonly string[]): void {
  const batch = lineBatch(lines);
  const reference = createItemEncoder();
  const expected = outcomeOf(() =>
    parseLines(batch, { file: 'f' }).map(({ item }) => showEncoded(reference.encode(item))),
  );
  expect(outcomeOf(() => Array.from(lineEncoder.encode(batch, { file: 'f' }), showEncoded))).toEqual(
    expected,
  );
}

function expectSameCells(given: readonly JsonObject[], by: Mapping): void {
  const columns = mappedColumns(by);
  const writer = new CellWriter();
  for (const row of given) for (const name of columns) writer.value(row[name] as JsonValue);
  const batch = { ...writer.end(), split: 'train', firstRow: 7, rowCount: given.length, columns };
  const toItem = compileMapping(by, FEATURES);
  const reference = createItemEncoder();
  const expected = outcomeOf(() =>
    given.map((row, index) => showEncoded(reference.encode(toItem(row, 7 + index, 'train')))),
  );
  expect(outcomeOf(() => Array.from(createCellEncoder(by, FEATURES).encode(batch), showEncoded))).toEqual(
    expected,
  );
}

describe('the fast path', () => {
  it('encodes lines and cells as the reference path does', () => {
    fc.assert(
      fc.property(rows, mapping, spelling, (given, by, spell) => {
        expectSameCells(given, by);
        const toItem = compileMapping(by, FEATURES);
        const items = outcomeOf(() => given.map((row, index) => toItem(row, index)));
        // Rows that do not map to items become lines as they are; many of those lines are invalid too.
        expectSameLines((Array.isArray(items) ? (items as JsonObject[]) : given).map(spell));
      }),
      { numRuns: 1500 },
    );
  });

  it('encodes numbers as the reference path does', () => {
    // About as many digits as a double keeps: there the fast path stops to copy literals.
    const fraction = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 12, maxLength: 18 });
    const decimal = fc
      .tuple(fc.integer({ min: -99, max: 99 }), fraction)
      .map(([integer, digits]) => `${integer}.${digits.join('')}`);
    const number = fc.oneof(numberLiteral, decimal);
    fc.assert(
      fc.property(fc.array(number, { minLength: 1, maxLength: 5 }), (numbers) => {
        expectSameLines([`{"n":[${numbers}],"id":${numbers[0]}}`]);
      }),
      { numRuns: 2000 },
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
      { numRuns: 1500 },
    );
  });
});

describe('FastItemEncoder', () => {
  const encoder = new FastItemEncoder();
  const fallsBack = (line: string, maxDepth = 256): boolean => {
    encoder.load(utf8(line), maxDepth);
    return encoder.encode(0).fallback;
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

  it.each([
    ['a blank line', ' '],
    ['an array', '[1]'],
    ['assets', '{"assets":[]}'],
    ['a checker that is an object', '{"checker":{}}'],
    ['a key with an escape', '{"\\u0061":1}'],
    ['a duplicate key', '{"a":1,"a":2}'],
    ['a wrong type', '{"id":1.5}'],
    ['a missing role', '{"inputs":{"messages":[{"content":""}]}}'],
    ['invalid JSON', '{"a":nul}'],
    ['129 keys', `{${Array.from({ length: 129 }, (_, index) => `"k${index}":1`)}}`],
    ['101 levels', `{"a":${'['.repeat(100)}${']'.repeat(100)}}`],
  ])('falls back for %s', (_, line) => {
    expect(fallsBack(line)).toBe(true);
  });

  it('reads 100 levels, and fewer if that is the limit', () => {
    const line = `{"a":${'['.repeat(99)}${']'.repeat(99)}}`;
    expect(fallsBack(line)).toBe(false);
    expect(fallsBack(line, 99)).toBe(true);
  });
});

describe('FastRowEncoder', () => {
  it.each<[string, boolean, JsonObject]>([
    ['texts', false, { q: 'Q', a: 'A', c: ['x', 'y'] }],
    ['a conversation', false, { q: [{ role: 'user', content: 'hi' }], a: 1, c: null }],
    ['an object as prompt', true, { q: {}, a: 1, c: null }],
    ['choices in columns', true, { q: 'Q', a: 1, c: { text: ['a'], label: ['b'] } }],
    ['choices that may be JSON', true, { q: 'Q', a: 1, c: '["a"]' }],
  ])('falls back for %s: %s', (_, expected, row) => {
    const columns = ['q', 'a', 'c'];
    const writer = new CellWriter();
    for (const name of columns) writer.value(row[name] as JsonValue);
    const encoder = new FastRowEncoder({ promptColumn: 'q', answerColumn: 'a', choicesColumn: 'c' });
    encoder.load({ ...writer.end(), split: 's', firstRow: 0, rowCount: 1, columns });
    expect(encoder.encode(0).fallback).toBe(expected);
  });
});
