import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { times } from '../../../../tools/vitest/long.ts';
import { anyText, jsonValue } from '../../test/arbitrary-json.ts';
import { outcomeOf, showEncoded } from '../../test/show-encoded.ts';
import { createItemEncoder } from '../item/encode-item.ts';
import { canonicalJson } from '../json/canonical/canonical-json.ts';
import { canonicalNumber } from '../json/canonical-number.ts';
import { ExactNumber, type JsonObject, type JsonValue } from '../json/json-value.ts';
import type { CellBatch } from './cell-batch.ts';
import { CellWriter } from './cell-writer.ts';
import { compileMapping } from './compile-mapping.ts';
import { type CellEncoder, createCellEncoder } from './encode-cells.ts';
import { type ColumnType, type Mapping, mappedColumns } from './mapping.ts';

const FEATURES = ['q', 'a', 's', 'c', 'id', 'm', 'judge_prompt', '__proto__', 'é', 'f', 'x'].map((name) => ({
  name,
  dtype: 'string',
}));

/** Rows as cells; a column that a row lacks is null there. */
function batchOf(
  rows: readonly JsonObject[],
  columns: readonly string[],
  firstRow = 0,
  split = 'train',
): CellBatch {
  const writer = new CellWriter();
  for (const row of rows) {
    for (const column of columns)
      writer.value(Object.hasOwn(row, column) ? (row[column] as JsonValue) : null);
  }
  return { ...writer.end(), split, firstRow, rowCount: rows.length, columns };
}

function byCells(batch: CellBatch, encoder: CellEncoder): unknown {
  return outcomeOf(() => Array.from(encoder.encode(batch), showEncoded));
}

/** The same by way of rows and items. */
function byRows(rows: readonly JsonObject[], mapping: Mapping, firstRow = 0, split = 'train'): unknown {
  const toItem = compileMapping(mapping, FEATURES);
  const encoder = createItemEncoder();
  const columns = mappedColumns(mapping);
  return outcomeOf(() =>
    rows.map((row, index) => {
      const whole = Object.fromEntries(
        columns.map((column) => [column, Object.hasOwn(row, column) ? (row[column] as JsonValue) : null]),
      );
      const encoded = showEncoded(encoder.encode(toItem(whole, firstRow + index, split)));
      // A type that no key states is the usual one; here every item states its type.
      return encoded;
    }),
  );
}

function expectSame(rows: readonly JsonObject[], mapping: Mapping, firstRow?: number, split?: string): void {
  const encoder = createCellEncoder(mapping, FEATURES);
  const batch = batchOf(rows, mappedColumns(mapping), firstRow, split);
  const expected = byRows(rows, mapping, firstRow, split);
  expect(byCells(batch, encoder)).toEqual(expected);
  expect(byCells(batch, encoder)).toEqual(expected);
}

const nested = (depth: number): JsonValue => {
  let value: JsonValue = 1;
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { k: value };
  return value;
};

describe('createCellEncoder', () => {
  const mapping: Mapping = {
    promptColumn: 'q',
    answerColumn: 'a',
    systemPromptColumn: 's',
    choicesColumn: 'c',
    idColumn: 'id',
    metaColumns: ['m', 'é', '__proto__', 'judge_prompt', 'm'],
    defaultType: 'exact "é"',
  };
  const row: JsonObject = { q: 'Q?', a: 'A', s: 'S', c: ['x', 'y'], id: 'i-1', m: 1.5, judge_prompt: 'J' };

  it.each<[string, JsonObject]>([
    ['all cells', {}],
    ['texts beyond ASCII', { q: '日本 "\\\n\u0001\u007f\u2028', a: '\ud800', s: '😀', m: 'é' }],
    ['no answer', { a: null }],
    ['no system prompt', { s: null }],
    ['a system prompt that is not a string', { s: [1] }],
    ['no choices', { c: null }],
    ['choices in JSON', { c: '["x"]' }],
    ['choices in JSON behind a blank', { c: ' \n["x"]' }],
    ['choices in JSON behind a line feed', { c: '\n["x"]' }],
    ['a word for choices', { c: 'yes' }],
    ['nothing for choices', { c: '' }],
    ['a number for choices', { c: 3 }],
    ['false for choices', { c: false }],
    ['columns of choices', { c: { text: ['a', 'b'], label: [1, 2] } }],
    ['labels and texts', { c: { B: 'y', A: 'x' } }],
    ['labels and texts in a text', { c: '{"B":"y","A":"x"}' }],
    ['a Python list in a text', { c: "['x', 'y']" }],
    ['keys and values', { c: [{ key: 'A', value: 'x' }] }],
    ['a text before keys and values', { c: ['y', { key: 'A', value: 'x' }] }],
    ['an object for choices', { c: { text: 'a' } }],
    ['no id', { id: null }],
    ['a number as id', { id: -12 }],
    ['a long number as id', { id: new ExactNumber('12345678901234567890') }],
    ['a large number as id', { id: 1e21 }],
    ['a fraction as id', { id: 1.5 }],
    ['a truth as id', { id: true }],
    ['an object as id', { id: { a: 1 } }],
    ['no prompt', { q: null }],
    ['a number as prompt', { q: 12 }],
    [
      'a conversation',
      {
        q: [
          { role: 'user', content: 'hi' },
          { content: null, role: 'x', more: [] },
        ],
      },
    ],
    ['an empty conversation', { q: [] }],
    ['a message without content', { q: [{ role: 'user' }] }],
    ['a message without a role', { q: [{ content: 'user' }] }],
    ['a role that is not a string', { q: [{ role: 1, content: '' }] }],
    ['texts for messages', { q: ['hi'] }],
    ['an object as prompt', { q: { a: 1 } }],
    ['a prompt that looks like messages', { q: '[{"role":"user","content":"x"}]' }],
    ['a judge prompt that is not a string', { judge_prompt: 1 }],
    ['no meta', { m: null, judge_prompt: null }],
    ['objects in meta', { m: { b: 1, a: [] }, ['__proto__']: [1], é: 'e' }],
    ...[100, 250, 251, 253, 254, 255, 256, 257].flatMap((depth): [string, JsonObject][] => [
      [`an answer of ${depth} levels`, { a: nested(depth) }],
      [`meta of ${depth} levels`, { m: nested(depth) }],
      [`choices of ${depth} levels`, { c: [nested(depth)] }],
      [`messages of ${depth} levels`, { q: [{ role: 'u', content: nested(depth) }] }],
    ]),
    ['brackets in texts', { a: ['[[[['.repeat(200), '"]}\\"'] }],
  ])('maps %s like the reference path', (_, cells) => {
    expectSame([row, { ...row, ...cells }, row], mapping, 41, 'te"st');
    expectSame([{ ...row, ...cells }], { promptColumn: 'q', answerColumn: 'a', metaColumns: ['m'] });
  });

  it.each<[string, Partial<Mapping>, JsonObject]>([
    ['criteria', { criteriaColumns: ['x', 'm'] }, { x: ['one', 2] }],
    ['assets', { assetsColumn: 'f' }, { f: { bytes: 'aGk=', path: 'a.png' } }],
    ['assets that are none', { assetsColumn: 'f' }, { f: 1 }],
    [
      'one column in many places',
      {
        answerColumn: 'q',
        metaColumns: ['q', 'q'],
        idColumn: 'q',
        choicesColumn: 'q',
        systemPromptColumn: 'q',
      },
      {},
    ],
  ])('maps %s like the reference path', (_, more, cells) => {
    expectSame([row, { ...row, ...cells, q: 'long '.repeat(5000) }], { promptColumn: 'q', ...more });
  });

  it('maps any rows like the reference path', () => {
    const cell = fc.oneof(anyText, jsonValue, fc.constant(null));
    const rows = fc.array(
      fc.record({
        q: fc.oneof(anyText, cell),
        a: cell,
        s: cell,
        c: cell,
        id: cell,
        m: cell,
        judge_prompt: cell,
        x: cell,
      }),
      { minLength: 1, maxLength: 4 },
    );
    const column = fc.constantFrom('q', 'a', 's', 'c', 'id', 'm', 'judge_prompt', 'x', '__proto__');
    const mappings = fc.record(
      {
        promptColumn: fc.constantFrom('q', 'q', 'q', 'x'),
        answerColumn: column,
        defaultType: anyText,
        metaColumns: fc.oneof(
          fc.array(column, { maxLength: 3 }),
          fc.dictionary(fc.constantFrom('k', 'judge_prompt', '__proto__', '10', '2', 'é'), column, {
            maxKeys: 3,
          }),
        ),
        criteriaColumns: fc.array(column, { maxLength: 1 }),
        choicesColumn: column,
        systemPromptColumn: column,
        idColumn: column,
        tags: fc.array(anyText, { maxLength: 2 }),
        types: fc.dictionary(
          column,
          fc.constantFrom<ColumnType>('string', 'int64', 'float64', 'bool', 'json'),
          { maxKeys: 2, noNullPrototype: true },
        ),
      },
      { requiredKeys: ['promptColumn'], noNullPrototype: true },
    );
    fc.assert(
      fc.property(rows, mappings, fc.nat(), anyText, (some, any, firstRow, split) => {
        expectSame(some as JsonObject[], any, firstRow, split);
      }),
      { numRuns: times(500, 100) },
    );
  });

  it('refuses mappings like the reference path', () => {
    expect(outcomeOf(() => createCellEncoder({ promptColumn: 'none' }, FEATURES))).toMatchObject({
      code: 'column_not_found',
    });
  });

  it('refuses a batch without a mapped column', () => {
    const encoder = createCellEncoder({ promptColumn: 'q', answerColumn: 'a' }, FEATURES);
    expect(byCells(batchOf([row], ['q'], 3), encoder)).toMatchObject({
      code: 'column_not_found',
      location: { row: 3 },
    });
  });

  it('encodes a batch without rows', () => {
    const encoder = createCellEncoder({ promptColumn: 'q' }, FEATURES);
    expect(byCells(batchOf([], ['q']), encoder)).toEqual([]);
  });
});

describe('CellWriter', () => {
  it('writes UTF-8 ranges like strings', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 60 })), (texts) => {
        const writer = new CellWriter();
        for (const text of texts) expect(writer.text(new TextEncoder().encode(text))).toBe(true);
        const { bytes, ends } = writer.end();
        const expected = texts.map((text) => canonicalJson(text));
        expect(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)).toBe(expected.join(''));
        expect(ends.at(-1) ?? 0).toBe(bytes.length);
      }),
    );
  });

  it('refuses exactly what is not UTF-8', () => {
    const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    const writer = new CellWriter();
    fc.assert(
      fc.property(
        fc.array(
          fc.constantFrom(
            0x22,
            0x5c,
            0x41,
            0x0a,
            0x80,
            0xbf,
            0xc2,
            0xe0,
            0xa0,
            0xed,
            0x9f,
            0xf0,
            0x90,
            0xf4,
            0x8f,
            0xff,
          ),
        ),
        (list) => {
          const bytes = Uint8Array.from(list);
          let isText = true;
          try {
            strict.decode(bytes);
          } catch {
            isText = false;
          }
          expect(writer.text(bytes)).toBe(isText);
        },
      ),
      { numRuns: times(2000, 400) },
    );
  });

  it('writes numbers as their canonical text, and refuses other ranges', () => {
    const part = fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength: 30 });
    const literal = fc
      .tuple(
        fc.constantFrom('', '-', '+'),
        part,
        fc.constantFrom('', '.'),
        part,
        fc.constantFrom('', 'e', 'E-'),
        part,
      )
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.oneof(literal, fc.double().map(String)), (text) => {
        const bytes = new TextEncoder().encode(`7${text}7`);
        const writer = new CellWriter();
        if (!writer.number(bytes, 1, bytes.length - 1)) writer.value(null);
        let expected = 'null';
        try {
          expected = canonicalNumber(text);
        } catch {
          // Not a number, or too long.
        }
        expect(new TextDecoder().decode(writer.end().bytes)).toBe(expected);
      }),
      { numRuns: times(2000, 400) },
    );
  });

  it('writes long strings with many escapes', () => {
    const writer = new CellWriter();
    const text = '\u0001"\\é'.repeat(100_000);
    writer.text(new TextEncoder().encode(text));
    writer.value(text);
    const { bytes, ends } = writer.end();
    expect(ends[1]).toBe(2 * (ends[0] as number));
    const half = bytes.length / 2;
    expect(Buffer.compare(bytes.subarray(0, half), bytes.subarray(half))).toBe(0);
  });
});

describe('the longest item', () => {
  const metaColumns = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`k${index}`, 'm']));
  const pairs = { text: Array(2000).fill(''), ['k'.repeat(20_000)]: Array(2000).fill('') };
  it.each<[string, Mapping, JsonObject]>([
    ['a long cell in many places', { promptColumn: 'q', metaColumns }, { m: 'x'.repeat(1_000_000) }],
    ['a cell of choices with a long key', { promptColumn: 'q', choicesColumn: 'c' }, { c: pairs }],
    [
      'an item with files',
      { promptColumn: 'q', assetsColumn: 'x', metaColumns },
      { m: 'x'.repeat(1_000_000), x: { a: { data: 'QQ==' } } },
    ],
  ])('ends encoding: %s', (_, mapping, row) => {
    const options = { maxItemBytes: 100_000, keepsItems: true };
    const encoder = createCellEncoder(mapping, FEATURES, options);
    const batch = batchOf([{ q: 'Q' }, { q: 'Q', ...row }, { q: 'Q' }], mappedColumns(mapping), 4);
    const errors: unknown[] = [];
    expect([...encoder.encode(batch, (error) => errors.push(error))]).toHaveLength(2);
    expect(errors).toMatchObject([{ code: 'line_too_long', location: { row: 5 } }]);
  });
});
