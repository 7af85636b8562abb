import { openAsBlob } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FileMetaData } from 'hyparquet';
import { expect, it, onTestFinished } from 'vitest';
import { compressionOf } from '../src/files/file-format.ts';
import { type ByteInput, type ReadTableOptions, readTable } from '../src/index.ts';
import { rewriteParquet } from './rewrite-parquet.ts';
import { writeParquet } from './write-parquet.ts';

async function rows(input: ByteInput, options: ReadTableOptions = {}): Promise<unknown[]> {
  return await Array.fromAsync(readTable(input, options));
}

const parquet = writeParquet({
  columns: [
    { name: 'name', data: ['Ada', 'Alan'], type: 'STRING' },
    { name: 'score', data: [1, 2], type: 'INT32' },
    { name: 'note', data: Array.from({ length: 2 }, (_, n) => `${n}`.repeat(100_000)), type: 'STRING' },
  ],
});
const text = (content: string): Uint8Array => new TextEncoder().encode(content);
const SCORES = [
  { name: 'Ada', score: 1 },
  { name: 'Alan', score: 2 },
];
const columns = ['name', 'score'];

it.each([
  ['Parquet', parquet],
  ['CSV', text('name,score\nAda,1\nAlan,2\n')],
  ['TSV', text('name\tscore\nAda\t1\nAlan\t2\n')],
  ['JSON Lines', text('{"name":"Ada","score":1}\n{"name":"Alan","score":2}\n')],
  ['JSON', text('[{"name":"Ada","score":1},{"name":"Alan","score":2}]')],
])('reads %s from any source of bytes', async (_format, bytes) => {
  const folder = await mkdtemp(join(tmpdir(), 'read-table-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'scores'), bytes);
  const halves = [bytes.subarray(0, 9), bytes.subarray(9)];
  const inputs: ByteInput[] = [
    bytes,
    bytes.slice().buffer as ArrayBuffer,
    new Blob([bytes as Uint8Array<ArrayBuffer>]),
    await openAsBlob(join(folder, 'scores')),
    { byteLength: bytes.length, read: async (start, end) => bytes.slice(start, end) },
    halves,
    new Blob([bytes as Uint8Array<ArrayBuffer>]).stream(),
  ];
  for (const input of inputs) expect(await rows(input, { columns })).toEqual(SCORES);
});

it('leaves the bytes of a source with a cache alone', async () => {
  const bytes = text(`name,score\n${`${'A'.repeat(100_000)},1\n`.repeat(200)}`);
  const cache = new Map<number, Uint8Array>();
  async function read(start: number, end: number): Promise<Uint8Array> {
    const known = cache.get(start);
    if (known !== undefined && known.byteLength >= end - start) return known.subarray(0, end - start);
    const found = bytes.slice(start, end);
    cache.set(start, found);
    return found;
  }
  let count = 0;
  for await (const { score } of readTable({ byteLength: bytes.length, read })) count += Number(score);
  expect(count).toBe(200);
  expect([...cache.values()].filter(({ byteLength }) => byteLength === 0)).toEqual([]);
});

it('knows a compression by its suffix alone', () => {
  const names = ['a.csv', 'a.csv.gz', 'a.zst', 'a.zip', 'a.constructor', 'a.__proto__', 'gz'];
  expect(names.map(compressionOf)).toEqual([
    undefined,
    'gzip',
    'zstd',
    'other',
    ...[undefined, undefined, undefined],
  ]);
});

it('reads text by its lines', async () => {
  expect(await rows(text('one\ntwo\n'), { format: 'text' })).toEqual([{ text: 'one' }, { text: 'two' }]);
});

it('fetches the ranges of an address that it needs, and notices what is wrong with them', async () => {
  const asked: string[] = [];
  let answer: 'ranges' | 'whole' | 'changed' | 'long' = 'ranges';
  const server = createServer(({ headers }, response) => {
    const [, start = '0', end = '0'] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? [];
    asked.push(`${start}-${end}`);
    if (answer === 'whole') return response.end(parquet);
    const isLater = asked.length > 1;
    const extra = answer === 'long' && isLater ? 9 : 0;
    const part = Buffer.concat([parquet.slice(Number(start), Number(end) + 1), Buffer.alloc(extra)]);
    response.writeHead(206, {
      'content-range': `bytes ${start}-${end}/${parquet.length}`,
      etag: answer === 'changed' && isLater ? '"2"' : '"1"',
    });
    return response.end(part);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/scores.parquet`);
  const bytesAsked = (): number =>
    asked
      .map((range) => range.split('-').map(Number))
      .reduce((sum, [start = 0, end = 0]) => sum + end - start + 1, 0);
  expect(await rows(url, { columns })).toEqual(SCORES);
  expect(bytesAsked()).toBeGreaterThan(0);
  for (const [kind, code] of [
    ['whole', 'unsupported_file'],
    ['changed', 'damaged_file'],
    ['long', 'damaged_file'],
  ] as const) {
    answer = kind;
    asked.length = 0;
    await expect(rows(url)).rejects.toMatchObject({ code, location: { file: 'scores.parquet' } });
  }
});

it('refuses what has no bytes, unknown columns, and streams that are too long', async () => {
  for (const input of [null, 7, 'text', {}] as never[]) await expect(rows(input)).rejects.toThrow(TypeError);
  await expect(rows(['text'] as never)).rejects.toThrow('A chunk must be bytes, got string.');
  await expect(rows(parquet, { columns: ['nope'] })).rejects.toMatchObject({ code: 'column_not_found' });
  await expect(rows([parquet], { maxBytes: 10 })).rejects.toMatchObject({ code: 'unsupported_file' });
  const signal = AbortSignal.abort(new Error('stop'));
  await expect(rows(parquet, { signal })).rejects.toThrow('stop');
});

it('refuses VARIANT columns by name, also where other columns are read', async () => {
  const source = writeParquet({
    columns: [
      { name: 'v', data: [{ metadata: new Uint8Array(3), value: null }], codec: 'UNCOMPRESSED' },
      { name: 'n', data: [1], codec: 'UNCOMPRESSED' },
    ],
    schema: [
      { name: 'root', num_children: 2 },
      { name: 'v', num_children: 2, repetition_type: 'OPTIONAL' },
      { name: 'metadata', type: 'BYTE_ARRAY', repetition_type: 'REQUIRED' },
      { name: 'value', type: 'BYTE_ARRAY', repetition_type: 'OPTIONAL' },
      { name: 'n', type: 'INT32', repetition_type: 'REQUIRED' },
    ],
  });
  const annotate = ({ schema }: FileMetaData): void => {
    if (schema[1] !== undefined) schema[1].logical_type = { type: 'VARIANT' };
  };
  const bytes = rewriteParquet(source, { codec: 'ZSTD', version: 2, metadata: annotate });
  await expect(rows(bytes, { columns: ['n'] })).rejects.toMatchObject({
    code: 'unsupported_file',
    message: expect.stringContaining('column "v" is a VARIANT'),
  });
});
