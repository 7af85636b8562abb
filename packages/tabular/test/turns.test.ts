import { openAsBlob } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readTable } from '../src/index.ts';
import { writeParquet } from '../src/write/index.ts';
import { longestTurn, MAX_TURN } from './longest-turn.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-turns-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function parquetOf(columns: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  const rows = (async function* () {
    yield [null];
  })();
  const table = Array.from({ length: columns }, (_, index) => ({
    name: `c${index}`,
    type: 'json' as const,
    json: () => '1',
  }));
  for await (const part of writeParquet(rows, table)) parts.push(part);
  return Buffer.concat(parts);
}

/** A line with a hundred names that no other line has, besides `a`. */
const names = (line: number): string =>
  JSON.stringify(
    Object.fromEntries([['a', 1], ...Array.from({ length: 100 }, (_, i) => [`k${line * 100 + i}`, 1])]),
  );

it.each<[what: string, name: string, column: string, make: () => Promise<string | Uint8Array> | string]>([
  [
    '200,000 lists next to the rows',
    't.json',
    'a',
    () => `{${Array.from({ length: 200_000 }, (_, i) => `"k${i}":[]`).join()},"rows":[{"a":1}]}`,
  ],
  [
    'lines with 15,000 names',
    't.jsonl',
    'a',
    () => Array.from({ length: 150 }, (_, line) => `${names(line)}\n`).join(''),
  ],
  ['an array of 400,000 rows in one line', 't.json', 'a', () => `[${'{"a":1},'.repeat(399_999)}{"a":1}]`],
  ['Parquet of 16,000 columns', 't.parquet', 'c1', () => parquetOf(16_000)],
])('%s are read in many turns of the event loop', async (_, name, column, make) => {
  const path = join(folder, name);
  await writeFile(path, await make());
  const read = async (): Promise<void> => {
    for await (const _row of readTable(await openAsBlob(path), { path: name, columns: [column] })) break;
  };
  // Code that runs for the first time is compiled.
  await read();
  expect(await longestTurn(read)).toBeLessThan(MAX_TURN);
});

it('a table of more than 16,384 columns is refused as soon as it has them', async () => {
  const path = join(folder, 'many.jsonl');
  await writeFile(path, Array.from({ length: 3000 }, (_, line) => `${names(line)}\n`).join(''));
  const reading = (async () => {
    for await (const _row of readTable(await openAsBlob(path), { path: 'many.jsonl' }));
  })();
  await expect(reading).rejects.toMatchObject({
    code: 'unsupported_file',
    message: 'Cannot read the files: they have more than 16384 columns.',
  });
});
