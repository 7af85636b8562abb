import { MAX_UNREAD_REASONS } from '@svc/jsonl-v23/imports';
import { expect, it } from 'vitest';
import { memoryFile } from '../../test/memory-file.ts';
import { openCsvTable } from './open-csv-table.ts';

const OPTIONS = {
  delimiter: ',',
  quote: '"',
  encoding: 'utf-8',
  header: true,
  textColumns: new Set<string>(),
  wholeFile: true,
  signal: undefined,
};

it('counts all rejected rows, and locates the first of each batch', async () => {
  const content = `a,b\n${'1,2\n1\n1,2,3\n'.repeat(10_000)}`;
  const file = memoryFile(new TextEncoder().encode(content), 'a.csv');
  const table = await openCsvTable(file, { ...OPTIONS, skipsInvalid: true });
  expect(table.rowCount).toBe(30_000);
  const batches = await Array.fromAsync(table.read());
  expect(batches.length).toBeGreaterThan(2);
  let rejected = 0;
  for (const { firstRow, rows, invalid = new Map() } of batches) {
    const expected = [...rows.keys()].filter((index) => (firstRow + index) % 3 !== 0);
    expect([...invalid.keys()]).toEqual(expected);
    expect([...invalid.values()]).toEqual(
      expected.map((index, position) => {
        const row = firstRow + index;
        const [got, column] = row % 3 === 1 ? [1, 2] : [3, 4];
        const message = `The row must have 2 fields, got ${got}.`;
        const reason = { message, location: { file: 'a.csv', line: row + 2, column } };
        return position < MAX_UNREAD_REASONS ? reason : null;
      }),
    );
    rejected += invalid.size;
  }
  expect(rejected).toBe(20_000);
  await expect(openCsvTable(file, { ...OPTIONS, skipsInvalid: false })).rejects.toMatchObject({
    code: 'invalid_row',
    location: { line: 3, column: 2 },
  });
});
