import { ItemEncoder, itemHash } from '@svc/jsonl-v23';
import { NO_REASON } from '@svc/jsonl-v23/imports';
import { type JsonObject, MAX_LINE_VALUES } from '@svc/jsonl-v23/json';
import { parseLines } from '@svc/jsonl-v23/lines';
import { compileMapping, type Mapping } from '@svc/jsonl-v23/mapping';
import { expect, it } from 'vitest';
import type { MappingPlan } from './encode-rows.ts';
import { type ItemLines, rowsToLines, type TableRows } from './rows-to-lines.ts';

const planOf = (mapping: Mapping, maxItemBytes = 10_000_000): MappingPlan => ({
  mapping,
  features: ['q', 'a', 'n'].map((name) => ({ name, dtype: 'string' })),
  maxItemBytes,
});

const batchOf = (rows: readonly JsonObject[], more: Partial<TableRows> = {}): TableRows => ({
  ...{ split: 'train', firstRow: 5, rows },
  ...more,
});

async function linesOf(
  batches: readonly TableRows[],
  plan: MappingPlan,
  maxBytes = 1024 * 1024,
): Promise<ItemLines[]> {
  const source = (async function* () {
    yield* batches;
  })();
  return await Array.fromAsync(rowsToLines(source, plan, maxBytes));
}

it('makes of each row the line of its item, in batches of what they become', async () => {
  const plan = planOf({ promptColumn: 'q', answerColumn: 'a' });
  const rows = Array.from({ length: 1000 }, (_, row) => ({
    q: row % 3 === 0 ? [{ role: 'user', content: 'é'.repeat(50) }] : 'words '.repeat(20),
    a: row % 5 === 0 ? null : row,
  }));
  const found = await linesOf(
    [batchOf(rows), batchOf(rows, { idOffset: 2000, split: 'more' })],
    plan,
    50_000,
  );
  expect(found.length).toBeGreaterThan(5);
  const toItem = compileMapping(plan.mapping, plan.features);
  const encoder = new ItemEncoder();
  const expected = [0, 2000].flatMap((idOffset) =>
    rows.map((row, index) => toItem(row, 5 + index, idOffset === 0 ? 'train' : 'more', idOffset)),
  );
  const items = found.flatMap(({ batch, failures }) => {
    expect(failures).toBeNull();
    expect(batch.bytes.length).toBeLessThan(51_000);
    expect(batch.bytes.buffer.byteLength).toBe(batch.bytes.length);
    const lines = parseLines(batch);
    expect(lines).toHaveLength(batch.itemCount);
    return lines.map(({ item }) => item);
  });
  expect(items).toEqual(expected);
  expect(items.map((item) => itemHash(item))).toEqual(
    expected.map((item) => Uint8Array.from(encoder.encode(item).itemHash)),
  );
});

it.each<[string, Mapping, readonly JsonObject[], object]>([
  [
    'too long an item',
    { promptColumn: 'q' },
    [{ q: 'short' }, { q: 'x'.repeat(100_000) }],
    { code: 'line_too_long', location: { row: 6 } },
  ],
  [
    'too many values',
    { promptColumn: 'q', metaColumns: ['n'] },
    [MAX_LINE_VALUES - 100, MAX_LINE_VALUES].map((count) => ({ q: 'q', n: new Array(count).fill(0) })),
    { code: 'line_too_long', location: { row: 6 } },
  ],
  [
    'a file, which only a package has',
    { promptColumn: 'q', assetsColumn: 'a' },
    [
      { q: 'q', a: null },
      { q: 'q', a: { x: 'assets/a.png' } },
    ],
    { code: 'missing_file', location: { row: 6, path: '/assets/x' } },
  ],
  [
    'no prompt',
    { promptColumn: 'q' },
    [{ q: 'q' }, { q: null }],
    { code: 'invalid_row', location: { row: 6 } },
  ],
])('leaves a row out with %s', async (what, mapping, rows, failure) => {
  const [found] = await linesOf(
    [batchOf(rows)],
    planOf(mapping, what === 'too long an item' ? 100_000 : undefined),
  );
  expect(found).toMatchObject({ batch: { itemCount: 1 }, failures: { first: [failure], total: 1 } });
});

it('counts rows that could not be read, with the reasons that are known', async () => {
  const why = { message: 'The row must have 2 fields, got 1.', location: { line: 9 } };
  const invalid = new Map([
    [0, why],
    [2, null],
    [3, NO_REASON],
  ]);
  const rows = ['a', 'b', 'c', 'd'].map((q) => ({ q }));
  const found = await linesOf([batchOf(rows, { invalid })], planOf({ promptColumn: 'q' }));
  expect(found).toMatchObject([
    {
      batch: { itemCount: 1 },
      failures: {
        first: [{ code: 'invalid_row', message: why.message, location: { line: 9, row: 5 } }],
        total: 3,
      },
    },
  ]);
});
