import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openParquetTable } from '../src/parquet/parquet-table.ts';
import { type TableColumn, writeCsv, writeParquet } from '../src/write/index.ts';
import { memoryFile } from './memory-file.ts';

type Row = Readonly<Record<'text' | 'data' | 'integer' | 'number' | 'truth', string | null>>;

const column = (name: keyof Row, type: TableColumn<Row>['type']): TableColumn<Row> => {
  return { name, type, json: (row) => row[name] };
};
const COLUMNS = [
  column('text', 'string'),
  column('data', 'json'),
  column('integer', 'int64'),
  column('number', 'double'),
  column('truth', 'bool'),
];

let folder: string;
let database: DuckDBInstance;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-write-'));
  database = await DuckDBInstance.create();
});
afterAll(async () => {
  database.closeSync();
  await rm(folder, { recursive: true });
});

/** What DuckDB reads from a file, integers as text. */
async function readByDuckDB(bytes: Uint8Array, sql: (path: string) => string): Promise<unknown[]> {
  const path = join(folder, createHash('sha256').update(bytes).digest('hex'));
  await writeFile(path, bytes);
  const connection = await database.connect();
  try {
    const reader = await connection.runAndReadAll(sql(path));
    return reader.getRowObjectsJS().map((row) => ({ ...row, integer: row['integer']?.toString() ?? null }));
  } finally {
    connection.closeSync();
  }
}

async function* inBatches(rows: readonly Row[], size: number): AsyncGenerator<Row[]> {
  for (let at = 0; at < rows.length; at += size) yield rows.slice(at, at + size);
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(chunks));
}

const arrayBufferOf = (bytes: Buffer): ArrayBuffer => Uint8Array.from(bytes).buffer as ArrayBuffer;
const readByHyparquet = async (bytes: Buffer): Promise<Record<string, unknown>[]> =>
  await parquetReadObjects({
    file: arrayBufferOf(bytes),
    compressors: { ZSTD: (input) => zstdDecompressSync(input) },
    rowFormat: 'object',
  });

const orNull = (json: fc.Arbitrary<string>): fc.Arbitrary<string | null> =>
  fc.oneof({ weight: 4, arbitrary: json }, { weight: 1, arbitrary: fc.constantFrom(null, 'null') });
// DuckDB's binding removes byte order marks from what it read.
const wellFormed = fc
  .string({ unit: 'grapheme', maxLength: 20 })
  .map((text) => text.replaceAll(/[\0\ufeff]/g, ''));
const awkward = fc.constantFrom('', ' ', '\n', '\r\n', '"', ',', '=1+1', 'NA', 'null', '1.50', '\\', '\\"');
const ROWS = fc.array(
  fc.record<Row>({
    text: orNull(fc.oneof(wellFormed, awkward).map((text) => JSON.stringify(text))),
    data: orNull(
      fc.json({ stringUnit: 'grapheme', maxDepth: 2 }).filter((json) => !json.includes('\\u0000')),
    ),
    integer: orNull(fc.maxSafeInteger().map(String)),
    number: orNull(fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => String(value))),
    truth: orNull(fc.boolean().map(String)),
  }),
  { maxLength: 40 },
);

const parsed = (json: string | null): unknown => (json === null ? null : JSON.parse(json));
/** What every reader must give. */
const expected = (rows: readonly Row[]) =>
  rows.map((row) => ({
    text: parsed(row.text),
    data: row.data === 'null' ? null : row.data,
    integer: row.integer === 'null' ? null : row.integer,
    number: parsed(row.number),
    truth: parsed(row.truth),
  }));

it('writes Parquet that DuckDB, hyparquet and our reader read alike, whatever the batches are', async () => {
  await fc.assert(
    fc.asyncProperty(ROWS, fc.integer({ min: 1, max: 50 }), async (rows, size) => {
      const bytes = await collect(writeParquet(inBatches(rows, size), COLUMNS));
      expect(bytes.equals(await collect(writeParquet(inBatches(rows, 7), COLUMNS)))).toBe(true);
      const wanted = expected(rows);
      expect(
        await readByDuckDB(
          bytes,
          (path) => `SELECT * REPLACE (data::VARCHAR AS data) FROM read_parquet('${path}')`,
        ),
      ).toEqual(wanted);
      const read = await readByHyparquet(bytes);
      expect(
        read.map((row) => ({
          ...row,
          data: row['data'] ?? null,
          integer: row['integer']?.toString() ?? null,
        })),
      ).toEqual(wanted.map((row) => ({ ...row, data: parsed(row.data) })));
      const table = await openParquetTable([memoryFile(bytes)], {
        everyFooter: true,
        signal: undefined,
      });
      const range = { from: 0, columns: ['text', 'number', 'truth'], signal: undefined };
      const own = (await Array.fromAsync(table.read(range))).flatMap((batch) => batch.rows);
      expect(own).toEqual(wanted.map(({ text, number, truth }) => ({ text, number, truth })));
    }),
    { numRuns: 40 },
  );
});

it.each([
  ['two chunks of CSV', writeCsv, 256 * 1024],
  ['a row group of Parquet', writeParquet, 34e6],
] as const)('reads no more rows than %s need while its reader stalls', async (_, write, maxBytes) => {
  const text = JSON.stringify('x'.repeat(10_000));
  let readBytes = 0;
  async function* batches(): AsyncGenerator<Row[]> {
    const row = { text, data: null, integer: null, number: null, truth: null };
    for (;;) {
      readBytes += 10 * text.length;
      yield Array.from({ length: 10 }, () => row);
    }
  }
  const chunks = write(batches(), [column('text', 'string')]);
  await chunks.next();
  expect((await chunks.next()).done).toBe(false);
  expect(readBytes).toBeLessThan(maxBytes);
  await chunks.return(undefined);
});

it('states types, checksums, and row groups of at most 64 Ki rows or some 32 MiB', async () => {
  const row = (n: number): Row => {
    return {
      text: `"t${n % 3}"`,
      data: n % 2 === 0 ? null : '{"a":1}',
      integer: `${n}`,
      number: null,
      truth: 'true',
    };
  };
  const many = Array.from({ length: 150_000 }, (_, n) => row(n));
  const bytes = await collect(writeParquet(inBatches(many, 1_000), COLUMNS));
  const metadata = parquetMetadata(arrayBufferOf(bytes));
  expect(metadata.row_groups.map(({ num_rows }) => Number(num_rows))).toEqual([65_536, 65_536, 18_928]);
  expect(
    metadata.schema.slice(1).map(({ name, type, logical_type }) => [name, type, logical_type?.type]),
  ).toEqual([
    ['text', 'BYTE_ARRAY', 'STRING'],
    ['data', 'BYTE_ARRAY', 'JSON'],
    ['integer', 'INT64', undefined],
    ['number', 'DOUBLE', undefined],
    ['truth', 'BOOLEAN', undefined],
  ]);
  const [sums] = (await readByDuckDB(
    bytes,
    (path) =>
      `SELECT sum("integer")::VARCHAR AS integer, count(data)::INT AS data, count(*)::INT AS rows, typeof(any_value(data)) AS type FROM read_parquet('${path}')`,
  )) as [Record<string, unknown>];
  expect(sums).toEqual({
    integer: String((149_999 * 150_000) / 2),
    data: 75_000,
    rows: 150_000,
    type: 'JSON',
  });

  const damaged = Buffer.from(bytes);
  damaged[200] = (damaged[200] ?? 0) ^ 1;
  const table = await openParquetTable([memoryFile(damaged)], {
    everyFooter: true,
    signal: undefined,
  });
  await expect(
    Array.fromAsync(table.read({ from: 0, to: 10, columns: ['text'], signal: undefined })),
  ).rejects.toMatchObject({
    code: 'damaged_file',
  });

  const heavy = Array.from({ length: 50 }, (_, n) => ({
    ...row(n),
    text: JSON.stringify(`${n}é"`.repeat(300_000)),
  }));
  const large = await collect(writeParquet(inBatches(heavy, 10), COLUMNS));
  expect(parquetMetadata(arrayBufferOf(large)).row_groups.length).toBeGreaterThan(1);
  const texts = await readByHyparquet(large);
  expect(texts.every((each, n) => each['text'] === `${n}é"`.repeat(300_000))).toBe(true);
});

it('cuts long texts where neither an escape nor a character is split', async () => {
  const units = ['\\"', '\\\\', '\\u0001', 'é', '😀', 'x'];
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...units), { minLength: 1, maxLength: 12 }),
      fc.nat(7),
      async (parts, shift) => {
        const json = `"${'x'.repeat(shift)}${parts.join('').repeat(30_000)}"`;
        const row: Row = { text: json, data: json, integer: null, number: null, truth: null };
        const bytes = await collect(writeParquet(inBatches([row], 1), COLUMNS));
        const [read] = await readByHyparquet(bytes);
        expect(read?.['text'] === JSON.parse(json) && read?.['data'] === JSON.parse(json)).toBe(true);
        const csv = (await collect(writeCsv(inBatches([row], 1), COLUMNS.slice(0, 1)))).toString();
        const plain = JSON.parse(json) as string;
        expect([csv === `text\n"${plain.replaceAll('"', '""')}"\n`, csv === `text\n${plain}\n`]).toContain(
          true,
        );
      },
    ),
    { numRuns: 8 },
  );
});

it('writes CSV that DuckDB reads with the same texts, and tells nulls from empty texts', async () => {
  await fc.assert(
    fc.asyncProperty(ROWS, fc.integer({ min: 1, max: 50 }), async (rows, size) => {
      const bytes = await collect(writeCsv(inBatches(rows, size), COLUMNS));
      expect(bytes.equals(await collect(writeCsv(inBatches(rows, 7), COLUMNS)))).toBe(true);
      const read = await readByDuckDB(
        bytes,
        (path) =>
          `SELECT * FROM read_csv('${path}', header = true, all_varchar = true, delim = ',', quote = '"', escape = '"', nullstr = '', allow_quoted_nulls = false, new_line = '\\n')`,
      );
      const cell = (json: string | null): string | null => {
        const value = parsed(json);
        return typeof value === 'string' ? value : value === null ? null : json;
      };
      expect(read).toEqual(
        rows.map(({ text, data, integer, number, truth }) => {
          return {
            text: cell(text),
            data: cell(data),
            integer: cell(integer),
            number: cell(number),
            truth: cell(truth),
          };
        }),
      );
    }),
    { numRuns: 40 },
  );
});

it('guards formulas for spreadsheets only, and never numbers', async () => {
  const texts = ['=1+1', '+1', '-1', '@x', '\tx', '＝1', "'x", 'a=b'];
  const rows = texts.map((text): Row => {
    return { text: JSON.stringify(text), data: '[1]', integer: '-1', number: '-0.5', truth: null };
  });
  rows.push({ text: '-12345678901234567890', data: null, integer: null, number: null, truth: null });
  const write = async (isForExcel: boolean): Promise<string> =>
    (await collect(writeCsv(inBatches(rows, 3), COLUMNS, { isForExcel }))).toString();
  const plain = await write(false);
  expect(plain.split('\n').slice(0, 3)).toEqual([
    'text,data,integer,number,truth',
    '=1+1,[1],-1,-0.5,',
    '+1,[1],-1,-0.5,',
  ]);
  const lines = (await write(true)).split('\n');
  expect(lines[0]).toBe('\ufefftext,data,integer,number,truth');
  expect(lines.slice(1, 9).map((line) => line.slice(0, line.indexOf(',')))).toEqual([
    "'=1+1",
    "'+1",
    "'-1",
    "'@x",
    "'\tx",
    "'＝1",
    "'x",
    'a=b',
  ]);
  expect(lines[9]).toBe('-12345678901234567890,,,,');
  for (const text of ['\nx', '\r=1']) {
    const broken = inBatches([{ ...(rows[0] as Row), text: JSON.stringify(text) }], 1);
    const written = await collect(writeCsv(broken, COLUMNS, { isForExcel: true }));
    expect(written.toString()).toContain(`\n"'${text}",`);
  }
  const named = [{ ...(COLUMNS[0] as (typeof COLUMNS)[number]), name: '=1+1' }];
  expect((await collect(writeCsv(inBatches([], 1), named, { isForExcel: true }))).toString()).toBe(
    "\ufeff'=1+1\n",
  );
  const single = await collect(writeCsv(inBatches(rows.slice(-1), 1), COLUMNS.slice(1, 2)));
  expect(single.toString()).toBe('data\n""\n');
});
