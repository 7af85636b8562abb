import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { times } from '../../../../tools/vitest/long.ts';
import type { JsonValue } from '../json/json-value.ts';
import type { CellBatch } from './cell-batch.ts';
import { CellWriter } from './cell-writer.ts';
import { createBatchCutter } from './cut-batch.ts';
import { createCellEncoder } from './encode-cells.ts';
import type { Mapping } from './mapping.ts';

const COLUMNS = ['a', 'b', 'c'];

function toBatch(rows: readonly (readonly JsonValue[])[], columns: readonly string[] = COLUMNS): CellBatch {
  const writer = new CellWriter();
  for (const row of rows) for (const cell of row) writer.value(cell);
  return { split: 'train', firstRow: 7, rowCount: rows.length, columns, ...writer.end() };
}

/** Each row as its index, its cells and why it cannot be read. */
function rowsOf({ firstRow, rowCount, columns, bytes, ends, invalid }: CellBatch): unknown[] {
  return Array.from({ length: rowCount }, (_, row) => {
    const cells = columns.map((_, column) => {
      const cell = row * columns.length + column;
      return Buffer.from(bytes.subarray(cell === 0 ? 0 : ends[cell - 1], ends[cell])).toString();
    });
    return [firstRow + row, cells, invalid?.get(row)?.message];
  });
}

const features = COLUMNS.map((name) => ({ name, dtype: 'string' }));
const encodedBytes = (mapping: Mapping, batch: CellBatch): number[] =>
  Array.from(
    createCellEncoder(mapping, features).encode(batch, () => undefined),
    ({ itemStart, itemEnd }) => itemEnd - itemStart,
  );

const cell = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.constant(null),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const choices = fc.oneof(
  cell,
  fc.array(fc.string({ maxLength: 9 }), { maxLength: 9 }),
  fc
    .tuple(
      fc.string({ maxLength: 99 }),
      fc.array(fc.tuple(fc.string({ maxLength: 9 }), fc.string({ maxLength: 9 })), { maxLength: 30 }),
    )
    .map(([key, pairs]) => ({
      [`x${key}`]: pairs.map(([first]) => first),
      y: pairs.map(([, second]) => second),
    })),
);
const mappings: readonly Mapping[] = [
  { promptColumn: 'a', answerColumn: 'b', metaColumns: ['c'] },
  {
    promptTemplate: 'Question: {a} "{a}" {b}\n',
    tags: ['t'.repeat(500)],
    metaColumns: { k1: 'a', k2: 'a', k3: 'c' },
  },
  {
    promptColumn: 'a',
    checker: { type: 'regex', pattern: 'é'.repeat(300) },
    choicesColumn: 'c',
    defaultType: 'own',
  },
];

describe('createBatchCutter', () => {
  it('cuts a batch into parts of whole rows that hold what the batch holds', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(cell, cell, choices), { maxLength: 40 }),
        fc.uniqueArray(fc.nat(40), { maxLength: 5 }),
        fc.constantFrom(...mappings),
        fc.integer({ min: 1, max: 10_000 }),
        (rows, unread, mapping, maxBytes) => {
          const invalid = new Map(unread.map((row) => [row, { message: `row ${row}`, location: {} }]));
          const batch = { ...toBatch(rows), invalid };
          const parts = [...createBatchCutter(mapping).cut(batch, maxBytes)];
          expect(parts.flatMap(rowsOf)).toEqual(rowsOf(batch));
          for (const part of parts) {
            const bytes = encodedBytes(mapping, part);
            const sum = bytes.reduce((total, one) => total + one, 0);
            expect(sum).toBeLessThanOrEqual(part.itemBytes);
            expect(sum - (bytes.at(-1) ?? 0)).toBeLessThanOrEqual(maxBytes);
            if (parts.length > 1) expect(part.bytes.byteLength).toBe(part.bytes.buffer.byteLength);
          }
        },
      ),
      { numRuns: times(300, 60) },
    );
  });

  it('cuts rows of constants alone', () => {
    const mapping = { promptTemplate: 'x', checker: { pattern: 'y'.repeat(60_000) } };
    const batch: CellBatch = { ...toBatch([], []), rowCount: 10_000 };
    const parts = [...createBatchCutter(mapping).cut(batch, 4 * 1024 * 1024)];
    expect(parts.reduce((sum, { rowCount }) => sum + rowCount, 0)).toBe(10_000);
    expect(Math.max(...parts.map(({ rowCount }) => rowCount))).toBeLessThan(72);
    expect(parts.at(-1)?.firstRow).toBe(7 + 10_000 - (parts.at(-1)?.rowCount ?? 0));
  });

  it('returns a small batch as it is', () => {
    const batch = toBatch([['q', 'a', null]]);
    const [only, ...others] = createBatchCutter({ promptColumn: 'a' }).cut(batch, 1000);
    expect(others).toEqual([]);
    expect(only?.bytes).toBe(batch.bytes);
  });
});
