import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import type { FormatHints } from '../files/file-format.ts';
import type { InputFile } from './table-file.ts';
import { chooseTables } from './unpack-files.ts';

type Contents = Readonly<Record<string, string | Uint8Array>>;

const { signal } = new AbortController();
const bytesOf = (content: string | Uint8Array): Uint8Array =>
  typeof content === 'string' ? new TextEncoder().encode(content) : content;

function fileOf(name: string, bytes: Uint8Array): InputFile {
  const read = (start: number, end: number) => Promise.resolve(bytes.slice(start, end));
  return { name, source: { byteLength: bytes.length, read } };
}

/** What is read of an archive, what is passed over, and what had to be unpacked to find that. */
async function choose(contents: Contents, hints: FormatHints = {}, beside: Contents = {}) {
  const opened: string[] = [];
  const archive = {
    files: new Map(Object.entries(contents)),
    async *read(path: string) {
      opened.push(path);
      yield bytesOf(contents[path] ?? '');
    },
  };
  const plain = Object.entries(beside).map(([name, content]) => ({
    file: fileOf(name, bytesOf(content)),
    archive: null,
  }));
  const packed = [{ file: fileOf('a.zip', new Uint8Array()), archive }, ...plain];
  const { files, skipped } = await chooseTables(packed, {
    ...{ hints, maxTotalBytes: 1e6, signal },
    store: async ({ name, content }) => fileOf(name, Buffer.concat(await Array.fromAsync(content))),
  });
  const reasons = Object.fromEntries(skipped.first.map(({ name, reason }) => [name, reason]));
  return { tables: files.map(({ name }) => name), reasons, total: skipped.total, opened };
}

const CSV = 'q,a\nx,1\n';
const POINTER = 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n';

it.each([
  ['_SUCCESS', ''],
  ['_SUCCESS', 'Job 1 has finished, with 3 parts\n'],
  ['_committed_123', '{"added":["part-0.csv"]}'],
  ['._part-0.csv', 'x'],
  ['.part-0.csv.crc', 'x'],
  ['__MACOSX/a.csv', CSV],
  ['table/_delta_log/0000.json', '{"commitInfo":{}}\n{"add":{}}\n'],
  ['Thumbs.db', 'x'],
  ['DESKTOP.INI', '[.ShellClassInfo]\n'],
  ['run.sh', 'echo a,b\n'],
  ['src/prepare.py', 'a, b = 1, 2\n'],
  ['explore.ipynb', '{"cells":[{"a":1}]}'],
  ['config.yaml', 'a: 1\n'],
  ['conf/settings.toml', 'a = 1\n'],
  ['state.json', '{"_data_files":[{"filename":"data-0.arrow"}]}'],
  ['dataset_info.json', '{"splits":[{"name":"train"}]}'],
  ['package.json', '{"name":"x"}'],
  ['images/1.png', 'x'],
  ['README.md', '# a\n'],
  ['LICENSE.txt', 'MIT\n'],
])('passes over %s by its name, without unpacking it', async (name, content) => {
  const { tables, reasons, opened } = await choose({ 'part-0.csv': CSV, [name]: content });
  expect(tables).toEqual(['part-0.csv']);
  expect(reasons).toEqual({ [name]: expect.stringMatching(/^it is /) });
  expect(opened).toEqual(['part-0.csv']);
});

it.each([
  ['Makefile', 'all:\n\techo\n', 'neither its name nor its content'],
  ['notes', 'Ask Ada.\n', 'neither its name nor its content'],
  ['requirements.txt', 'numpy\n', 'plain text'],
  ['weights.bin', Uint8Array.of(0, 1, 2, 3), 'binary data'],
  ['latin', Uint8Array.of(0xe9, 0x20, 0xe9), 'neither its name nor its content'],
  ['run.json', '{"model": "m",\n "seed": 1}\n', 'one JSON object'],
  ['run.json', '{"model":"m"}', 'one JSON object'],
  ['names.json', '["a","b"]', 'not an array of objects'],
  ['options.json', '// comment\n{"a": 1}\n', 'not JSON'],
  ['empty.csv', '', 'empty'],
  ['train.parquet', POINTER, 'Git LFS pointer'],
  ['train.csv', POINTER, 'Git LFS pointer'],
  ['login.jsonl', '<!doctype html><title>Sign in</title>', 'HTML page'],
  ['data.jsonl', "{'q': 'x'}\n", 'Python dictionaries'],
  ['rows.jsonl', CSV, 'not JSON Lines'],
  ['old.db', 'SQLite format 3\u0000', 'SQLite'],
  ['more.zip', 'PK\u0003\u0004', 'ZIP archive'],
])('passes over %s by its content, and says why', async (name, content, reason) => {
  const { tables, reasons } = await choose({ 'part-0.csv': CSV, [name]: content });
  expect(tables).toEqual(['part-0.csv']);
  expect(reasons).toEqual({ [name]: expect.stringContaining(reason) });
});

it('reads every table, whatever its name says besides', async () => {
  const contents = {
    'part-00000': CSV,
    'readme.csv': CSV,
    'state.csv': CSV,
    '_hidden.csv': CSV,
    'a.jsonl.gz': gzipSync('{"q":"x"}\n'),
    'b.dat': '[{"q":"x"}]',
    'c.log': '{"q":"x"}\n{"q":"y"}\n',
    'd.json': '{"data":[{"q":"x"}]}',
    'item.jsonl': '{"q":"x"}',
  };
  const { tables, total } = await choose(contents);
  expect(tables.toSorted()).toEqual(Object.keys(contents).toSorted());
  expect(total).toBe(0);
});

it('reads objects and texts where there is nothing else', async () => {
  const text = { 'a.txt': 'x\n', 'b.txt.gz': gzipSync('y\n'), Makefile: 'all:\n' };
  expect((await choose(text)).tables).toEqual(['a.txt', 'b.txt.gz']);
  expect((await choose({ 'a.json': '{"q":1}', 'b.json': '{"q":2}', 'c.txt': 'x' })).tables).toEqual([
    'a.json',
    'b.json',
  ]);
  expect((await choose({ 'a.json': '{"inputs":{}}', 'b.csv': CSV })).tables).toEqual(['a.json', 'b.csv']);
});

it('takes files that were sent beside an archive as they are', async () => {
  const { tables, reasons } = await choose({ 'notes.txt': 'x\n' }, {}, { 'a.csv': CSV, 'more.txt': 'y\n' });
  expect(tables).toEqual(['a.csv', 'more.txt']);
  expect(reasons).toEqual({ 'notes.txt': expect.stringContaining('plain text') });
  await expect(choose({ 'a.csv': CSV }, {}, { 'b.csv': POINTER })).rejects.toMatchObject({
    code: 'unsupported_file',
    message: expect.stringContaining('Git LFS pointer'),
    location: { file: 'b.csv' },
  });
});

it('reads by a given format what is named as a table, and all where nothing is', async () => {
  const text = { format: 'text' } as const;
  expect((await choose({ 'a.csv': CSV, Makefile: 'all:\n' }, text)).tables).toEqual(['a.csv']);
  expect((await choose({ Makefile: 'all:\n', notes: 'x\n' }, text)).tables).toEqual(['Makefile', 'notes']);
});

it.each([
  [{ _SUCCESS: '', 'run.py': 'x' }, /it holds "_SUCCESS" \(it is a mark.*"run\.py" \(it is a program\)\.$/],
  [{ 'train.jsonl': POINTER }, /"train\.jsonl" \(it is a Git LFS pointer\)/],
  [{ notes: 'x\n' }, /"notes" \(neither its name/],
  [Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`${index}.png`, ''])), /and 1995 more\.$/],
])('refuses an archive in which nothing is left, and says what it holds', async (contents, message) => {
  await expect(choose(contents)).rejects.toMatchObject({
    code: 'unsupported_file',
    message: expect.stringMatching(message),
    location: { file: 'a.zip' },
  });
});

it('lists a hundred of the files that are passed over, and counts them all', async () => {
  const images = Array.from({ length: 3000 }, (_, index) => [`images/${index}.png`, ''] as const);
  const { tables, reasons, total } = await choose({ ...Object.fromEntries(images), 'a.csv': CSV });
  expect(tables).toEqual(['a.csv']);
  expect(Object.keys(reasons)).toHaveLength(100);
  expect(total).toBe(3000);
});

it('refuses an archive with a table that cannot be read, which is no file to pass over', async () => {
  const invalid = Uint8Array.of(...bytesOf('q,a\n'), 0xe9, 0x2c, 0x31, 0x0a);
  await expect(choose({ 'a.csv': CSV, 'b.csv': invalid })).rejects.toMatchObject({
    code: 'unsupported_file',
    message: expect.stringContaining('give its encoding'),
    location: { file: 'b.csv', line: 2 },
  });
});
