import type { JsonObject } from '@svc/jsonl-v23/json';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type PreviewSamples, SampleCollector } from './preview-samples.ts';

/** What both lists take between their brackets. */
const bytesOf = ({ samples, truncatedCells }: PreviewSamples): number =>
  Buffer.byteLength(JSON.stringify(samples)) + Buffer.byteLength(JSON.stringify(truncatedCells)) - 4;

function collect(rows: readonly JsonObject[], maxBytes: number): PreviewSamples {
  const collector = new SampleCollector(maxBytes);
  for (const row of rows) if (!collector.isFull) collector.add(row);
  return collector.end();
}

const IMAGE = { bytes: Buffer.alloc(300).toString('base64'), path: 'a.png' };

describe('SampleCollector', () => {
  it('never shows more than fits, and names what is shortened', () => {
    const cell = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 60 }),
      fc.string({ unit: 'binary', maxLength: 30 }),
      fc.integer(),
      fc.constant(null),
      fc.constant(IMAGE),
      fc.array(fc.constant({ bytes: null, path: 'https://images.example/1.png' }), { maxLength: 3 }),
      fc.array(fc.string({ maxLength: 9 }), { maxLength: 9 }),
    );
    const columns = fc.uniqueArray(fc.string({ maxLength: 8 }), { maxLength: 5 });
    const table = columns.chain((names) =>
      fc
        .array(fc.tuple(...names.map(() => cell)), { maxLength: 15 })
        .map((rows) =>
          rows.map(
            (cells) => Object.fromEntries(names.map((name, index) => [name, cells[index]])) as JsonObject,
          ),
        ),
    );
    fc.assert(
      fc.property(table, fc.nat(400), (rows, less) => {
        const whole = collect(rows, Number.MAX_SAFE_INTEGER);
        expect(whole.truncatedCells).toEqual([]);
        const maxBytes = Math.max(0, bytesOf(whole) - less);
        const shown = collect(rows, maxBytes);
        expect(bytesOf(shown)).toBeLessThanOrEqual(maxBytes);
        expect(shown.samples.length).toBeLessThanOrEqual(rows.length);
        const named = new Set(shown.truncatedCells.map(({ row, column }) => `${row} ${column}`));
        for (const [row, sample] of shown.samples.entries()) {
          for (const [column, value] of Object.entries(sample)) {
            if (!named.has(`${row} ${column}`)) expect(value).toEqual(whole.samples[row]?.[column]);
          }
        }
        for (const { row, column } of shown.truncatedCells) {
          expect(shown.samples[row]?.[column]).not.toEqual(whole.samples[row]?.[column]);
        }
      }),
    );
  });

  it('shortens a cell over 16 KiB whatever room there is', () => {
    const most = 'x'.repeat(16 * 1024 - 2);
    expect(collect([{ a: most }], 100_000).truncatedCells).toEqual([]);
    const { samples, truncatedCells } = collect([{ a: `${most}x` }], 100_000);
    expect(truncatedCells).toEqual([{ row: 0, column: 'a', bytes: 16 * 1024 + 1 }]);
    expect(JSON.stringify(samples[0]?.['a'])).toHaveLength(16 * 1024);
  });

  it('gives an image half of the room that is left, and describes it where it needs more', () => {
    const rows = Array.from({ length: 20 }, (_, index) => ({ n: index, image: IMAGE }));
    const { samples, truncatedCells } = collect(rows, 4000);
    expect(samples.slice(0, 8).map((row) => row['n'])).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    const shown = samples.map((row) => row['image'] as JsonObject);
    expect(shown[0]).toMatchObject({ data: IMAGE.bytes });
    for (const { row } of truncatedCells.slice(0, 2)) {
      expect(shown[row]).toEqual({ mime_type: 'image/png', encoding: 'base64' });
    }
    expect(truncatedCells.length).toBeGreaterThan(2);
  });

  it('shows a start of each cell of a row that is too long', () => {
    const row = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`c${index}`, 'x'.repeat(9000)]));
    const { samples, truncatedCells } = collect([row, row], 30_000);
    expect(samples).toHaveLength(1);
    expect(truncatedCells).toHaveLength(10);
    for (const value of Object.values(samples[0] ?? {})) expect(value).toMatch(/^x{2900}/);
  });

  it('stops at the rows of a wide table that fit', () => {
    const row = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`column ${index}`, 'text']));
    const collector = new SampleCollector(500_000);
    let added = 0;
    for (; !collector.isFull && added < 100; added += 1) collector.add(row);
    expect(collector.end().samples).toHaveLength(added - 1);
    expect(added).toBe(3);
  });

  it('leaves rows out at the end where even empty cells do not fit', () => {
    const rows = Array.from({ length: 100 }, () => ({ 'a long name of a column': 'some words' }));
    const { samples } = collect(rows, 500);
    expect(samples.length).toBeGreaterThan(5);
    expect(samples.length).toBeLessThan(100);
    expect(collect(rows, -10)).toEqual({ samples: [], truncatedCells: [] });
  });
});
