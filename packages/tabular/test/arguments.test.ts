import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openFileTable, openParquetTable, openTextTables, readTable } from '../src/index.ts';
import { readRows } from '../src/text/read-rows.ts';
import { writeCsv, writeParquet } from '../src/write/index.ts';
import { memoryFile } from './memory-file.ts';

const CSV = 'id,n\na,1\nb,2\n';
const first = async (rows: AsyncGenerator<unknown>): Promise<unknown> => await rows.next();

const prototype = ReadableStream.prototype as { [Symbol.asyncIterator]?: unknown };
const native = Object.getOwnPropertyDescriptor(prototype, Symbol.asyncIterator) as PropertyDescriptor;

describe.each([
  ['with async iteration', false],
  ['without async iteration, as in Safari', true],
])('web streams %s', (_, isMissing) => {
  beforeEach(() => {
    if (isMissing) delete prototype[Symbol.asyncIterator];
  });
  afterEach(() => {
    Object.defineProperty(prototype, Symbol.asyncIterator, native);
  });

  it('give tables and rows', async () => {
    expect(await Array.fromAsync(readTable(new Blob([CSV]).stream(), { path: 'a.csv' }))).toEqual([
      { id: 'a', n: 1 },
      { id: 'b', n: 2 },
    ]);
  });

  it('are cancelled and unlocked when reading ends early', async () => {
    let cancelled = false;
    const stream = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new TextEncoder().encode(CSV.repeat(100))),
      cancel: () => {
        cancelled = true;
      },
    });
    for await (const _row of readRows(stream, 'text', { file: 'a.txt' })) break;
    expect(cancelled).toBe(true);
    expect(stream.locked).toBe(false);
  });
});

const bytes = new TextEncoder().encode(CSV);
it.each<[object, string]>([
  [{ columns: 'id' }, 'columns must be an array of names, got "id".'],
  [{ format: 'xlsx' }, 'format must be one of csv, tsv, jsonl, json, parquet, text, got "xlsx".'],
  [{ delimiter: ';;' }, 'delimiter must be one ASCII character, got ";;".'],
  [{ quote: 1 }, 'quote must be one ASCII character, got number.'],
  [{ header: 'no' }, 'header must be a boolean, got "no".'],
  [{ encoding: 8 }, 'encoding must be a text, got number.'],
  [{ maxBytes: '1' }, 'maxBytes must be a positive integer, got a value of the type string.'],
])('readTable refuses %j', async (options, message) => {
  await expect(first(readTable(bytes, options))).rejects.toThrow(message);
  await expect(first(readTable(bytes, options))).rejects.toBeInstanceOf(TypeError);
});

it.each<[string, (options: never) => Promise<unknown>, object, string]>([
  ...(
    [
      [{ wholeFile: 'no' }, 'wholeFile must be a boolean, got "no".'],
      [{ skipsInvalid: 1 }, 'skipsInvalid must be a boolean, got number.'],
      [{ textColumns: ['id'] }, 'textColumns must be a Set of names or "all", got an array.'],
    ] as const
  ).map(([options, message]): [string, (options: never) => Promise<unknown>, object, string] => [
    'openFileTable',
    (given) => openFileTable(memoryFile(bytes), { format: 'csv', options: {} }, given),
    options,
    message,
  ]),
  ...(
    [
      [{ format: 'tsv' }, 'format must be one of json, csv, text, got "tsv".'],
      [{ format: 'csv', textColumns: 'some' }, 'textColumns must be a Set of names or "all", got "some".'],
    ] as const
  ).map(([options, message]): [string, (options: never) => Promise<unknown>, object, string] => [
    'openTextTables',
    (given) => openTextTables(new Map([['t', [memoryFile(bytes)]]]), given),
    options,
    message,
  ]),
  [
    'openParquetTable',
    (given) => openParquetTable([], given),
    { everyFooter: 0 },
    'everyFooter must be a boolean, got number.',
  ],
])('%s refuses wrong options %#', async (_, open, options, message) => {
  await expect(open(options as never)).rejects.toThrow(message);
  await expect(open(options as never)).rejects.toBeInstanceOf(TypeError);
});

it('names no file of bytes without a name', async () => {
  const location = { line: 2 };
  const broken = new TextEncoder().encode('{"a":1}\n{"a":\n');
  const rows = readRows(new Blob([broken]).stream(), 'json', { file: '' });
  await expect(Array.fromAsync(rows)).rejects.toMatchObject({
    location: expect.not.objectContaining({ file: '' }),
  });
  const table = Array.fromAsync(readTable(broken, { format: 'jsonl' }));
  await expect(table).rejects.toMatchObject({ location: expect.objectContaining(location) });
  await expect(table).rejects.toMatchObject({ location: expect.not.objectContaining({ file: '' }) });
});

async function* batches(...rows: unknown[]): AsyncGenerator<never[]> {
  yield rows as never[];
}
const column = { name: 'a', type: 'string', json: (row: { a: string }) => JSON.stringify(row.a) } as const;

describe.each([
  ['writeCsv', writeCsv],
  ['writeParquet', writeParquet],
] as const)('%s refuses', (_, write) => {
  it.each<[unknown, string]>([
    [{}, 'columns must be an array, got object.'],
    [[{ ...column, name: 1 }], 'columns[0].name must be a text, got number.'],
    [
      [column, { ...column, type: 'int32' }],
      'columns[1].type must be one of string, json, int64, double, bool, got "int32".',
    ],
    [[{ ...column, json: 'a' }], 'columns[0].json must be a function, got "a".'],
    [
      [{ ...column, json: () => 1 }],
      'The result of `json` of column "a" must be JSON text or null, got number.',
    ],
  ])('the columns %j', async (columns, message) => {
    const written = Array.fromAsync(write(batches({ a: 'x' }), columns as never));
    await expect(written).rejects.toThrow(new TypeError(message));
  });

  it('rows without batches', async () => {
    const rows = [{ a: 'x' }] as never;
    await expect(Array.fromAsync(write(rows, [column]))).rejects.toThrow(
      new TypeError('A batch must be an array of rows, got object.'),
    );
  });
});
