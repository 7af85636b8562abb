import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { times } from '../../../../tools/vitest/long.ts';
import { diskFile } from '../../test/disk-file.ts';
import { memoryFile } from '../../test/memory-file.ts';
import { writeParquet } from '../../test/write-parquet.ts';
import { TableError } from '../errors.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { compileCell } from './cells/cell.ts';
import { contiguousTexts } from './encodings/delta.ts';
import { plainTexts } from './encodings/plain.ts';
import { ByteCursor } from './metadata/byte-cursor.ts';
import { openParquet } from './open-parquet.ts';
import { openParquetTable } from './parquet-table.ts';
import { readParquet } from './read-parquet.ts';

const ROWS = 700;

interface Row {
  n: number;
  text: string | null;
  tags: Array<string | null> | null;
}

const rows: Row[] = Array.from({ length: ROWS }, (_, n) => ({
  n,
  text: n % 5 === 0 ? null : `row ${n} ${'x'.repeat(n % 40)}`,
  tags: n % 7 === 0 ? null : Array.from({ length: n % 4 }, (_, i) => (i === 2 ? null : `t${n}-${i}`)),
}));

const optional = { repetition_type: 'OPTIONAL' as const };

/** Several row groups of many small pages. */
function file(offsetIndex: boolean): Uint8Array {
  return writeParquet({
    columns: (['n', 'text', 'tags'] as const).map((name) => ({
      name,
      data: rows.map((row) => row[name]),
      offsetIndex,
    })),
    schema: [
      { name: 'root', num_children: 3 },
      { name: 'n', type: 'INT32', ...optional },
      { name: 'text', type: 'BYTE_ARRAY', converted_type: 'UTF8', ...optional },
      { name: 'tags', num_children: 1, converted_type: 'LIST', ...optional },
      { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
      { name: 'element', type: 'BYTE_ARRAY', converted_type: 'UTF8', ...optional },
    ],
    rowGroupSize: 150,
    pageSize: 300,
  });
}

async function read(source: ByteSource, from: number, to: number, columns?: string[]): Promise<unknown[]> {
  const parquet = await openParquet(source);
  const converters = new Map(parquet.features.map(({ name, feature }) => [name, compileCell(feature)]));
  const found: unknown[] = [];
  let next = Math.max(from, 0);
  for await (const batch of readParquet(parquet, { columns: columns ?? [...converters.keys()], from, to })) {
    expect(batch.firstRow).toBe(next);
    next += batch.rowCount;
    for (let row = 0; row < batch.rowCount; row += 1) {
      found.push(
        Object.fromEntries(
          [...batch.columns].map(([name, cells]) => [
            name,
            converters.get(name)?.((cells as unknown[])[row]),
          ]),
        ),
      );
    }
  }
  return found;
}

describe.each([
  ['with a page index', file(true)],
  ['without a page index', file(false)],
])('readParquet %s', (_name, bytes) => {
  it('any range of any columns is that of the rows', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: ROWS }),
        fc.integer({ min: 0, max: ROWS + 20 }),
        fc.subarray(['n', 'text', 'tags'], { minLength: 1 }),
        async (from, to, columns) => {
          const expected = rows
            .slice(from, to)
            .map((row) => Object.fromEntries(columns.map((name) => [name, row[name as keyof Row]])));
          expect(await read(memoryFile(bytes), from, to, columns)).toEqual(expected);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('rows without columns are rows all the same', async () => {
    expect(await read(memoryFile(bytes), 100, 260, ['none'])).toEqual(Array(160).fill({}));
  });

  it('any damage ends in a TableError or in rows, and soon', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.integer({ min: 0, max: 255 })), {
          minLength: 1,
          maxLength: 6,
        }),
        async (flips) => {
          const damaged = bytes.slice();
          for (const [at, value] of flips) damaged[at] = value;
          try {
            await read(memoryFile(damaged), 0, ROWS);
          } catch (error) {
            expect(error).toBeInstanceOf(TableError);
            expect(['damaged_file', 'unsupported_file']).toContain((error as TableError).code);
          }
        },
      ),
      { numRuns: times(300, 60) },
    );
  });
});

describe('openParquet', () => {
  const code = (source: Uint8Array): Promise<string> =>
    openParquet(memoryFile(source)).then(
      () => 'none',
      (error: TableError) => error.code,
    );
  const small = file(true);

  it.each([
    ['nothing', new Uint8Array(), 'damaged_file'],
    ['a few bytes', new TextEncoder().encode('PAR1'), 'damaged_file'],
    ['another format', new TextEncoder().encode('a,b\n1,2\n'.repeat(50)), 'damaged_file'],
    ['a cut off file', small.subarray(0, small.length - 20), 'damaged_file'],
    [
      'a footer longer than the file',
      Uint8Array.from([...small.subarray(0, -8), 0, 0, 0, 1, ...small.subarray(-4)]),
      'damaged_file',
    ],
    [
      'an encrypted file',
      Uint8Array.from([...small.subarray(0, -4), ...new TextEncoder().encode('PARE')]),
      'unsupported_file',
    ],
  ])('refuses %s', async (_name, source, expected) => {
    expect(await code(source)).toBe(expected);
  });

  it('reads a footer that is longer than its first request in two', async () => {
    const wide = writeParquet({
      columns: Array.from({ length: 900 }, (_, index) => ({
        name: `column ${index}`,
        data: [index],
        type: 'INT32',
      })),
    });
    const source = memoryFile(wide);
    const parquet = await openParquet(source);
    expect(parquet.columns).toHaveLength(900);
    expect(source.ranges).toHaveLength(2);
    expect(await read(memoryFile(wide), 0, 1, ['column 7'])).toEqual([{ 'column 7': 7 }]);
  });
});

it('opens the files of a table without waiting for a slow one', async () => {
  const bytes = writeParquet({ columns: [{ name: 'a', data: ['x'], type: 'STRING' }] });
  let openOthers = (): void => {};
  const othersAreOpen = new Promise<void>((resolve) => {
    openOthers = resolve;
  });
  let left = 19;
  const files = Array.from({ length: 1 + left }, (_, index): ByteSource => {
    const file = memoryFile(bytes);
    return {
      ...file,
      async readRange(start, end) {
        if (index === 0) await othersAreOpen;
        else left -= 1;
        if (left === 0) openOthers();
        return await file.readRange(start, end);
      },
    };
  });
  expect((await openParquetTable(files)).rowCount).toBe(20);
});

it('joins row groups into few requests, and reads no column that is not asked for', async () => {
  const big = 'y'.repeat(2000);
  const bytes = writeParquet({
    columns: [
      { name: 'a', data: Array.from({ length: 4000 }, (_, n) => `${n}`), type: 'STRING' },
      {
        name: 'b',
        data: Array.from({ length: 4000 }, (_, n) => `${n}${big}${Math.sin(n)}`),
        type: 'STRING',
        codec: 'UNCOMPRESSED',
      },
    ],
    rowGroupSize: 500,
  });
  const source = memoryFile(bytes);
  expect(await read(source, 0, 4000, ['a'])).toHaveLength(4000);
  const taken = source.ranges.reduce((sum, [start, end]) => sum + end - start, 0);
  expect(bytes.length).toBeGreaterThan(8_000_000);
  expect(taken).toBeLessThan(600_000);
  expect(source.ranges.length).toBeLessThan(12);
});

it('reads small columns after a large one from a file on disk', async () => {
  // The last block of the large column is near the end of the file, which is in memory.
  const sizes = [...Array<number>(32).fill(512 * 1024), 30 * 1024];
  const numbers = sizes.map((_, n) => n);
  const bytes = writeParquet({
    columns: [
      {
        name: 'large',
        data: sizes.map((size, n) => String.fromCharCode(65 + n).repeat(size)),
        type: 'STRING',
        encoding: 'PLAIN',
        codec: 'UNCOMPRESSED',
      },
      { name: 'n', data: numbers, type: 'INT32' },
      { name: 'text', data: numbers.map((n) => `b${n}`), type: 'STRING' },
    ],
  });
  const found = (await read(await diskFile(bytes), 0, sizes.length)) as Array<Record<string, unknown>>;
  expect(found.map(({ large, ...others }) => ({ length: (large as string).length, ...others }))).toEqual(
    sizes.map((length, n) => ({ length, n, text: `b${n}` })),
  );
});

it('reads any number of columns of row groups that are too large to be read at once', async () => {
  const names = Array.from({ length: 12 }, (_, column) => `c${column}`);
  const large = Array.from({ length: 33 }, (_, n) => String.fromCharCode(65 + n).repeat(512 * 1024));
  const bytes = writeParquet({
    columns: [
      { name: 'large', data: large, type: 'STRING', encoding: 'PLAIN', codec: 'UNCOMPRESSED' },
      ...names.map((name) => ({ name, data: large.map((_, n) => `${name}-${n}`), type: 'STRING' as const })),
    ],
  });
  const source = await diskFile(bytes);
  for (let count = 0; count <= names.length; count += 1) {
    const chosen = names.slice(0, count);
    const found = await read(source, 0, large.length, ['large', ...chosen]);
    const expected = large.map((text, n) => ({
      large: text,
      ...Object.fromEntries(chosen.map((name) => [name, `${name}-${n}`])),
    }));
    // Not by `toEqual`, which would print megabytes.
    expect(JSON.stringify(found) === JSON.stringify(expected)).toBe(true);
  }
});

describe('texts', () => {
  const words = Array.from({ length: 300 }, (_, n) =>
    n % 6 === 0 ? null : `é${'y'.repeat(n % 9)} ${n % 13}`,
  );

  it.each([
    ['plain', 'PLAIN', 'OPTIONAL'],
    ['by a dictionary', 'RLE_DICTIONARY', 'OPTIONAL'],
    ['with their lengths apart', 'DELTA_LENGTH_BYTE_ARRAY', 'OPTIONAL'],
    ['by their differences', 'DELTA_BYTE_ARRAY', 'OPTIONAL'],
    ['all there', 'PLAIN', 'REQUIRED'],
  ] as const)('%s', async (_name, encoding, repetition_type) => {
    const texts = repetition_type === 'REQUIRED' ? words.map((word) => word ?? '') : words;
    const bytes = writeParquet({
      columns: [{ name: 't', data: texts, encoding }],
      schema: [
        { name: 'root', num_children: 1 },
        { name: 't', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type },
      ],
      rowGroupSize: 120,
      pageSize: 200,
    });
    const parquet = await openParquet(memoryFile(bytes));
    const found: unknown[] = [];
    for await (const batch of readParquet(parquet, { columns: ['t'], from: 5, to: 290 })) {
      const values = batch.columns.get('t') as readonly unknown[];
      expect(values).toHaveLength(batch.rowCount);
      found.push(...values);
    }
    expect(found).toEqual(texts.slice(5, 290));
  });

  it.each([
    ['SNAPPY', 'PLAIN'],
    ['SNAPPY', 'RLE_DICTIONARY'],
    ['GZIP', 'PLAIN'],
    ['UNCOMPRESSED', 'PLAIN'],
  ] as const)('of %s pages, %s, outlive the bytes that were fetched', async (codec, encoding) => {
    // What Node puts into the buffer that small ones share, as small pages of gzip.
    const neighbour = Buffer.from('a neighbour');
    const source = memoryFile(
      writeParquet({
        columns: [{ name: 't', data: words, encoding, codec }],
        schema: [
          { name: 'root', num_children: 1 },
          { name: 't', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
        ],
        rowGroupSize: 120,
        pageSize: 200,
      }),
    );
    const ranges: Uint8Array[] = [];
    const parquet = await openParquet(source);
    const { readRange } = parquet.bytes;
    const watched: ByteSource = {
      ...parquet.bytes,
      async readRange(start, end, signal) {
        const bytes = await readRange(start, end, signal);
        ranges.push(bytes);
        return bytes;
      },
    };
    const found: unknown[] = [];
    const rows = { columns: ['t'], from: 0, to: 300 };
    for await (const { columns } of readParquet({ ...parquet, bytes: watched }, rows)) {
      found.push(...(columns.get('t') as readonly unknown[]));
    }
    expect(found).toEqual(words);
    expect(neighbour.toString()).toBe('a neighbour');
    expect(ranges.length).toBeGreaterThan(0);
    for (const { buffer } of ranges) expect(buffer.byteLength).toBe(0);
  });

  it('refuses lengths beyond the page', () => {
    const sized = (length: number, text: string): Uint8Array =>
      Uint8Array.from([...new Uint8Array(Uint32Array.of(length).buffer), ...new TextEncoder().encode(text)]);
    expect(plainTexts(new ByteCursor(sized(2, 'hi')), 1)).toEqual([new TextEncoder().encode('hi')]);
    for (const [bytes, count] of [
      [sized(3, 'hi'), 1],
      [sized(2 ** 32 - 1, 'hi'), 1],
      [sized(2, 'hi'), 2],
      [new Uint8Array(3), 1],
    ] as const) {
      expect(() => plainTexts(new ByteCursor(bytes), count)).toThrow('longer than its page');
    }
    const bytes = new TextEncoder().encode('abcdef');
    expect(contiguousTexts(bytes, 1, Int32Array.of(2, 0, 3)).map(String)).toEqual([
      '98,99',
      '',
      '100,101,102',
    ]);
    expect(() => contiguousTexts(bytes, 1, Int32Array.of(2, 4))).toThrow('longer than its page');
    expect(() => contiguousTexts(bytes, 1, Int32Array.of(-1))).toThrow('longer than its page');
  });
});
