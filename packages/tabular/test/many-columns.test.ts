import { expect, it } from 'vitest';
import { readTable } from '../src/index.ts';

/** A line with a hundred names that no other line has. */
const names = (line: number): string =>
  JSON.stringify(Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`k${line * 100 + i}`, 1])));

it('a table of more than 16,384 columns is refused as soon as it has them', async () => {
  const lines = Array.from({ length: 3000 }, (_, line) => `${names(line)}\n`);
  const reading = (async () => {
    for await (const _row of readTable(new Blob(lines), { path: 'many.jsonl' }));
  })();
  await expect(reading).rejects.toMatchObject({
    code: 'unsupported_file',
    message: 'Cannot read the files: they have more than 16384 columns.',
  });
});
