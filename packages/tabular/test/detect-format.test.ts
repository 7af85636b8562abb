import { gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, it } from 'vitest';
import {
  detectFormat,
  openByteSource,
  openFileTable,
  type ReadTableOptions,
  readTable,
} from '../src/index.ts';
import { writeParquet } from './write-parquet.ts';

const text = (content: string): Uint8Array => new TextEncoder().encode(content);

/** The format of a file, its warnings and its rows. */
async function read(content: string | Uint8Array, options: ReadTableOptions = {}) {
  const bytes = typeof content === 'string' ? text(content) : content;
  const source = await openByteSource(bytes, options);
  const detected = await detectFormat(source, options);
  const { warnings = [] } = await openFileTable(source, detected);
  return { format: detected.format, warnings, rows: await Array.fromAsync(readTable(bytes, options)) };
}

it.each([
  ['an array of texts', '[\n "a",\n "b"\n]', 'rows.json'],
  ['an array of arrays', '[[1,2],[3,4]]', 'rows.json'],
  ['a text', '"a"', 'rows.json'],
  ['a number', '5', 'rows.json'],
  ['an array of texts of any name', '["a",\n"b"]', 'rows'],
  ['a large array', `["a"${',"b"'.repeat(100_000)}]`, 'rows.json'],
  ['an array that is cut off', '[1,2', 'rows.json'],
  ['arrays in lines', '[1,2]\n[3,4]\n', 'rows.jsonl'],
])('refuses JSON without rows: %s', async (_name, content, path) => {
  const error = { code: 'unsupported_file', message: expect.stringContaining('not an array of objects') };
  await expect(read(content, { path })).rejects.toMatchObject(error);
});

it('refuses text of a name that says JSON, and reads it where the format is given', async () => {
  await expect(read('hello\nworld\n', { path: 'a.json' })).rejects.toMatchObject({
    code: 'unsupported_file',
    message: expect.stringContaining('not JSON'),
  });
  const { rows } = await read('hello\nworld\n', { path: 'a.json', format: 'text' });
  expect(rows).toEqual([{ text: 'hello' }, { text: 'world' }]);
});

const q = ['one', 'two'];
it.each([
  ['columns', { q: { 0: q[0], 1: q[1] }, a: { 0: 1, 1: null } }],
  ['index', { 0: { q: q[0], a: 1 }, 1: { q: q[1], a: null } }],
  [
    'split',
    {
      columns: ['q', 'a'],
      index: [0, 1],
      data: [
        [q[0], 1],
        [q[1], null],
      ],
    },
  ],
])(
  'refuses a table that pandas writes with orient="%s", which would become one row',
  async (orient, table) => {
    const error = { code: 'unsupported_file', message: expect.stringContaining(`orient="${orient}"`) };
    for (const content of [JSON.stringify(table), JSON.stringify(table, null, 2)]) {
      await expect(read(content, { path: 'rows.json' })).rejects.toMatchObject(error);
    }
    const { rows } = await read(JSON.stringify(table), { path: 'rows.json', format: 'jsonl' });
    expect(rows).toEqual([JSON.parse(JSON.stringify(table))]);
  },
);

it('takes other objects that begin alike as one row', async () => {
  for (const row of [
    { a: { 0: 1 }, b: 'text' },
    { 0: { a: 1 }, 1: null },
    { columns: ['a'], data: 1 },
  ]) {
    expect((await read(JSON.stringify(row), { path: 'row.json' })).rows).toEqual([row]);
  }
  expect((await read('{"a":{"0":1}}\n{"a":{"0":2}}\n', { path: 'rows.json' })).rows).toHaveLength(2);
});

const POINTER = 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n';
const OLDER_POINTER = 'version https://hawser.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n';
const PAGE = '<!-- saved -->\n<!DOCTYPE html>\n<html><body>Sign in, please</body></html>\n';
const DICTIONARIES = "{'q': 'x', 'a': 1}\n{'q': 'y', 'a': None}\n";
const CSV = 'q,a\nx,1\ny,2\n';
const PARQUET = writeParquet({ columns: [{ name: 'q', data: ['x'], type: 'STRING' }] });

it.each([
  ['Git LFS pointer', POINTER],
  ['Git LFS pointer', OLDER_POINTER],
  ['git-annex pointer', '/annex/objects/SHA256E-s1--4d7a.csv\n'],
  ['HTML page', PAGE],
  ['HTML page', '<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN">\n<html/>'],
  ['HTML page', '\ufeff\n  <HTML lang="en">\n<head><title>404</title>'],
])('refuses a %s of any name, in one sentence', async (found, content) => {
  for (const suffix of ['csv', 'tsv', 'txt', 'json', 'jsonl', 'ndjson', 'parquet', 'dat']) {
    for (const [path, bytes] of [
      [`a.${suffix}`, text(content)],
      [`A.${suffix.toUpperCase()}.gz`, gzipSync(content)],
    ] as const) {
      const error = await read(bytes, { path }).catch((caught: unknown) => caught);
      expect([path, error]).toMatchObject([path, { code: 'unsupported_file' }]);
      expect(String(error)).toMatch(new RegExp(`Cannot read the file: it is an? ${found}[^.]*\\.$`));
    }
  }
  await expect(read(content, { path: 'a.csv', format: 'text' })).resolves.toMatchObject({ format: 'text' });
});

it.each([
  ['jsonl', 'CSV', CSV],
  ['json', 'CSV', CSV],
  ['parquet', 'CSV', CSV],
  ['jsonl', 'plain text', 'hello\nworld\n'],
  ['jsonl.gz', 'plain text', gzipSync('hello\nworld\n')],
  ['ndjson', 'Parquet', PARQUET],
  ['json', 'Parquet', PARQUET],
  ['json.zst', 'Parquet', zstdCompressSync(PARQUET)],
  ['parquet', 'JSON', '{"q":"x"}\n'],
  ['pq', 'JSON', '[{"q":"x"}]'],
  ['parquet', 'binary data', Uint8Array.of(1, 2, 0, 255, 254)],
  ['parquet', 'binary data', Uint8Array.of(200, 201, 202, 203)],
  ['parquet', 'SQLite database', 'SQLite format 3\u0000'],
  ['jsonl', 'PNG image', Uint8Array.of(0x89, 0x50, 0x4e, 0x47)],
  ['jsonl', 'Python dictionaries', DICTIONARIES],
  ['json', 'Python dictionaries', `[${DICTIONARIES.trim().replace('\n', ', ')}]`],
  ['csv', 'Python dictionaries', DICTIONARIES],
  ['tsv', 'Python dictionaries', "{1: 'x', 2: 'y'}\n{1: 'z', 2: 'w'}\n"],
  ['dat', 'Python dictionaries', "{'it\\'s': \"x\", 'b': 1}\n{'it\\'s': \"y\", 'b': 2}\n"],
  ['csv', 'XML', '<?xml version="1.0"?>\n<Error><Code>AccessDenied</Code></Error>\n'],
  ['jsonl', 'not an array of objects', '1\n2\n'],
])('refuses a file named .%s that is %s', async (suffix, found, content) => {
  const error = { code: 'unsupported_file', message: expect.stringContaining(found) };
  await expect(read(content, { path: `a.${suffix}` })).rejects.toMatchObject(error);
});

it('reads JSON Lines named .json, an array named .jsonl, and what a given format says', async () => {
  const rows = [{ q: 'x' }, { q: 'y' }];
  const [lines, array] = ['{"q":"x"}\n{"q":"y"}\n', JSON.stringify(rows)];
  for (const content of [lines, array, gzipSync(lines), zstdCompressSync(array)]) {
    for (const path of ['a.json', 'a.jsonl', 'a.jsonl.gz', 'A.NDJSON', 'a.csv', 'a'])
      expect([path, (await read(content, { path })).rows]).toEqual([path, rows]);
  }
  expect((await read(CSV, { path: 'a.jsonl', format: 'csv' })).rows).toEqual([
    { q: 'x', a: 1 },
    { q: 'y', a: 2 },
  ]);
  expect((await read(lines, { path: 'a.parquet', format: 'jsonl' })).rows).toEqual(rows);
  expect((await read(DICTIONARIES, { path: 'a.csv', format: 'text' })).rows).toHaveLength(2);
  expect((await read(DICTIONARIES, { path: 'a.txt' })).format).toBe('text');
  expect((await read(PARQUET, { path: 'a.jsonl', format: 'parquet' })).rows).toEqual([{ q: 'x' }]);
});

it('says that a file is read as plain text, unless its name or the caller does', async () => {
  const open = 'a,b\n"1,2\n3,4\n5,6\n';
  expect(await read(open, { path: 'data' })).toMatchObject({
    format: 'text',
    warnings: [expect.stringContaining('read as plain text')],
  });
  expect((await read(open, { path: 'data.txt' })).warnings).toEqual([]);
  expect((await read(open, { path: 'data', format: 'text' })).warnings).toEqual([]);
});

it.each([
  ['numbers', ['1.0', '', '2.5', '1e-05'], 'float64'],
  ['truth values', ['True', '', 'False'], 'bool'],
])('says that %s as Python writes them stay texts', async (values, column, type) => {
  const { warnings } = await read(`a,b\n${column.map((value) => `${value},0\n`).join('')}`, {
    path: 'a.csv',
  });
  expect(warnings).toEqual([expect.stringMatching(`^Column "a" has ${values} .* type to ${type} `)]);
});

it('says nothing of other texts and of other numbers', async () => {
  expect((await read('a,b,c,d\n001,x,1.5,true\n1.0,1.0,2,false\n', { path: 'a.csv' })).warnings).toEqual([]);
});

it('names Arrow streams', async () => {
  const stream = new Uint8Array(64).fill(255, 0, 4);
  stream[4] = 48;
  await expect(read(stream)).rejects.toMatchObject({ message: expect.stringContaining('an Arrow stream') });
});

it('reads the character NUL in text files of known names', async () => {
  const row = { a: 'x\u0000y', b: 1 };
  expect(await read('a,b\nx\u0000y,1\n', { path: 'a.csv' })).toMatchObject({ format: 'csv', rows: [row] });
  await expect(read('a,b\nx\u0000y,1\n', { path: 'a' })).rejects.toMatchObject({ code: 'unsupported_file' });
  const invalid = Uint8Array.of(...text('a,b\nmany letters,'), 0, 255, 10);
  await expect(read(invalid, { path: 'a.csv' })).rejects.toMatchObject({ code: 'unsupported_file' });
});

const QUOTED = [{ q: 'x;y', a: 1 }];
it.each([';', ',', '\t', '|', ' ', ':', '\\t'])('reads the line sep=%j as the dialect', async (stated) => {
  const delimiter = stated === '\\t' ? '\t' : stated;
  const table = `q${delimiter}a\r\n"x;y"${delimiter}1\r\n`;
  const lines = [
    `sep=${stated}`,
    `SEP=${stated}`,
    `"sep=${stated}"`,
    `\ufeffsep=${stated}`,
    `\ufeff\ufeffsep=${stated}`,
  ];
  for (const [index, line] of lines.entries()) {
    const content = `${line}${index % 2 === 0 ? '\r\n' : '\n'}${table}`;
    for (const options of [{ path: 'a.csv' }, { path: 'a' }, { format: 'csv' as const }, { delimiter }]) {
      expect([line, (await read(content, options)).rows]).toEqual([line, QUOTED]);
    }
    const noHeader = await read(content, { path: 'a.csv', header: false });
    expect(noHeader.rows).toEqual([
      { 0: 'q', 1: 'a' },
      { 0: 'x;y', 1: '1' },
    ]);
  }
});

it.each([
  ['sep=,a\n1,2\n', [{ 'sep=': 1, a: 2 }]],
  ['sep=\n1\n', [{ 'sep=': 1 }]],
  ['sep=x\n1\n', [{ 'sep=x': 1 }]],
  ['a;sep=\n1;2\n', [{ a: 1, 'sep=': 2 }]],
  ['a\nsep=;\n', [{ a: 'sep=;' }]],
])('takes names of columns for names: %j', async (content, rows) => {
  expect((await read(content, { path: 'a.csv' })).rows).toEqual(rows);
});

it('says where a row is after the line of the dialect', async () => {
  await expect(read('sep=;\nq;a\n1;2\n3\n', { path: 'a.csv' })).rejects.toMatchObject({
    location: { line: 4 },
  });
});

it.each(['utf-8', 'utf-16le'] as const)(
  'leaves out any number of byte order marks of %s',
  async (encoding) => {
    for (const [content, path] of [
      ['q,a\nx,1\n', 'a.csv'],
      ['[{"q":"x","a":1}]', 'a.json'],
    ] as const) {
      const marked = new Uint8Array(
        Buffer.from(`\ufeff\ufeff\ufeff${content}`, encoding === 'utf-8' ? 'utf8' : 'utf16le'),
      );
      expect((await read(marked, { path })).rows).toEqual([{ q: 'x', a: 1 }]);
    }
  },
);

it('takes a typed column for missing values where no field has quotes or content', async () => {
  const rowsOf = async (content: string) => {
    const source = await openByteSource(text(content), { path: 'a.csv' });
    const table = await openFileTable(source, await detectFormat(source), { textColumns: new Set(['a']) });
    const rows = [];
    for await (const batch of table.read()) for (const { a } of batch.rows) rows.push(a);
    return rows;
  };
  expect(await rowsOf('a,b\n,1\n,2\n')).toEqual([null, null]);
  expect(await rowsOf('a,b\n"",1\n,2\n')).toEqual(['', '']);
  expect(await rowsOf('a,b\n,1\nNA,2\n')).toEqual(['', 'NA']);
});

it.each([
  ['items', '{"inputs":{"prompt":"a"}}\n{"id":1,"inputs":{}}\n', true],
  ['rows', '{"question":"a","answer":"b"}\n', undefined],
  ['items and a row', '{"inputs":{}}\n{"question":"a"}\n', undefined],
  ['items in a member', '{"item":{"inputs":{}}}\n{"item":{"inputs":{}}}\n', undefined],
  ['items and lines that are no JSON', '{"inputs":{}}\n{"inputs":\n', true],
  [
    'an item that is longer than the head',
    `{"assets":["${'x'.repeat(400_000)}"],"inputs":{}}\n{"a":1}\n`,
    true,
  ],
  ['a row that is longer than the head', `{"question":"${'x'.repeat(400_000)}"}\n`, undefined],
])('tells %s by the first lines', async (_, content, areItems) => {
  const source = await openByteSource(text(content), { path: 'x.jsonl' });
  expect((await detectFormat(source)).areItems).toBe(areItems);
});
