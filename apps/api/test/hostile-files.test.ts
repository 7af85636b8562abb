import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect, it } from 'vitest';
import { times } from '../../../tools/vitest/long.ts';
import { makePackage } from './make-package.ts';
import { startTestApi } from './start-test-api.ts';

type Content = string | Uint8Array<ArrayBufferLike>;
type Row = readonly [question: string, answer: unknown];

interface HostileFile {
  readonly name: string;
  readonly content: Content;
  readonly fields?: Readonly<Record<string, unknown>> | undefined;
  /** What is stored; absent where the file is refused. */
  readonly rows?: readonly Row[];
  readonly code?: string;
  readonly at?: Readonly<Record<string, unknown>>;
}

const files: HostileFile[] = [];
const accepted = (
  name: string,
  content: Content,
  rows: readonly Row[],
  fields?: HostileFile['fields'],
): void => void files.push({ name, content, rows, fields });
const refused = (
  name: string,
  content: Content,
  code: string,
  at: Readonly<Record<string, unknown>> = {},
  fields?: HostileFile['fields'],
): void => void files.push({ name, content, code, at, fields });

const utf16be = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16();
const COMPRESSIONS: readonly (readonly [suffix: string, compress: (content: Content) => Content])[] = [
  ['', (content) => content],
  ['.gz', (content) => gzipSync(content)],
  ['.zst', (content) => zstdCompressSync(content)],
];

/** Every format in every encoding, compressed and not. */
function addEncodings(): void {
  const rows: Row[] = [
    ['é', 'x'],
    ['日本 😀', 'y'],
    ['c', 'z'],
  ];
  const objects = rows.map(([q, a]) => ({ q, a }));
  const formats: Record<string, string> = {
    csv: `q,a\n${rows.map((row) => row.join(',')).join('\n')}`,
    tsv: `q\ta\r\n${rows.map((row) => row.join('\t')).join('\r\n')}\r\n`,
    jsonl: objects.map((row) => JSON.stringify(row)).join('\n'),
    json: JSON.stringify({ rows: objects }, null, 1),
  };
  for (const [format, text] of Object.entries(formats)) {
    for (const [suffix, compress] of COMPRESSIONS) {
      const name = `a.${format}${suffix}`;
      accepted(name, compress(text), rows);
      accepted(name, compress(`\ufeff${text}`), rows);
      accepted(name, compress(Buffer.from(`\ufeff${text}`, 'utf16le')), rows);
      accepted(name, compress(utf16be(`\ufeff${text}`)), rows);
      const latin = Buffer.from(text.replace('日本 😀', 'ü'), 'latin1');
      refused(name, compress(latin), 'unsupported_file', {
        file: name,
        line: expect.any(Number),
        column: expect.any(Number),
      });
      const latinRows = rows.map(([q, a]): Row => [q.replace('日本 😀', 'ü'), a]);
      accepted(name, compress(latin), latinRows, { options: { encoding: 'latin-1' } });
      refused(
        name,
        compress(text),
        'unsupported_file',
        { file: name },
        { options: { encoding: 'none-such' } },
      );
    }
  }
}

/** Quotes, ragged rows and mixed types of CSV files. */
function addCsv(): void {
  const two: Row[] = [
    ['x', 'y'],
    ['z', 'w'],
  ];
  for (const delimiter of [',', ';', '\t', '|']) {
    const csv = (text: string): string => text.replaceAll(',', delimiter);
    accepted('a.csv', csv('q,a\nx,y\nz,w\n'), two);
    accepted('a.csv', csv('q,a\rx,y\rz,w'), two);
    accepted('a.csv', csv('\n\nq,a\n\nx,y\r\n\r\nz,w\n\n'), two);
    accepted('a.csv', csv('"q","a"\n"x","y"\n"z","w"'), two);
    accepted('a.csv', csv('q,a\n"x\n1","y ""2"""\nz,5" pipe\n'), [
      ['x\n1', 'y "2"'],
      ['z', '5" pipe'],
    ]);
    refused('a.csv', csv('q,a\nx,y\nz,w,v\nx,y\nx,y\nx,y\n'), 'invalid_row', {
      file: 'a.csv',
      line: 3,
      column: 4,
    });
    refused('a.csv', csv('q,a\nx,y\nz\nx,y\nx,y\nx,y\n'), 'invalid_row', {
      file: 'a.csv',
      line: 3,
      column: 2,
    });
    refused('a.csv', csv('q,a\nx,"y\nz,w\n'), 'invalid_row', { file: 'a.csv', line: 2, column: 3 });
    refused('a.csv', csv('q,a\n"x\n","y"z\nz,w\n'), 'invalid_row', { file: 'a.csv', line: 3, column: 6 });
  }
  const column = (values: readonly string[]): string =>
    `q,a\n${values.map((value) => `p,${value}`).join('\n')}`;
  const pairs = (values: readonly unknown[]): Row[] => values.map((value): Row => ['p', value]);
  for (const texts of [
    ['001'],
    ['1e5'],
    ['+1'],
    ['1.50'],
    ['-0'],
    ['1', 'x'],
    ['1', '.5'],
    ['NA', 'x'],
    ['', 'x'],
    ['true', '1'],
    ['True'],
    ['1,000'],
    [' 1'],
    ['0x10'],
    ['1_000'],
    ['Infinity'],
    ['9'.repeat(30)],
    ['-1', '18446744073709551615'],
    ['=1+1'],
    ['NaN', '1'],
  ]) {
    accepted('a.csv', column(texts.map((text) => (text.includes(',') ? `"${text}"` : text))), pairs(texts));
  }
  accepted('a.csv', column(['1', '-2', '0']), pairs([1, -2, 0]));
  accepted('a.csv', column(['1', '2.5', 'NA', '1e+21']), pairs([1, 2.5, undefined, 1e21]));
  accepted('a.csv', column(['true', 'null', 'false']), pairs([true, undefined, false]));
  accepted('a.csv', column(['None', '']), pairs([undefined, undefined]));
  accepted('a.csv', 'q,a\n', []);
  refused('a.csv', 'q;a\nx;1\n', 'column_not_found', {}, { options: { delimiter: ',' } });
  refused('a.csv', Buffer.from('q,a\nx,\xff\n'.padEnd(300_000, 'x,y\n'), 'latin1'), 'unsupported_file', {
    line: 2,
    column: 3,
  });
  refused(
    'a.csv',
    Buffer.concat([Buffer.from('q,a\n'.padEnd(300_000, 'x,y\n')), Buffer.from('x,\xff\n', 'latin1')]),
    'invalid_row',
    { file: 'a.csv', line: 75_001, column: 3 },
  );
  refused('a.csv', `q,a\n${','.repeat(60_000)}\n`, 'invalid_row', { file: 'a.csv', line: 2 });
  refused('a.csv', `${','.repeat(120_000)}\n`, 'unsupported_file', { file: 'a.csv' });
}

function addJson(): void {
  const line = '{"q":"x","a":1}';
  const location = { file: 'a.jsonl', line: 2 };
  for (const bad of [
    '{"q":',
    '{"q":"x" "a":1}',
    "{'q':1}",
    '{"q":"x","q":"y"}',
    '[1]',
    '5',
    '{"q":"\\x"}',
    '{"q":01}',
    '{"q":"x"},',
    'nul',
    `${'['.repeat(2000)}`,
    '{"q":"\u0001"}',
  ]) {
    refused('a.jsonl', `${line}\n${bad}\n${line}\n`, 'invalid_row', location);
  }
  accepted('a.jsonl', `\n${line}\n\n \t\n${line}`, [
    ['x', 1],
    ['x', 1],
  ]);
  accepted('a.jsonl', '{"q":"x","a":NaN}\n{"q":"y","b":1,"a":2.50}', [
    ['x', undefined],
    ['y', 2.5],
  ]);
  accepted('a.jsonl', '{"q":"2020-01-01","a":"2020-01-01"}', [['2020-01-01', '2020-01-01']]);
  accepted('a.json', `[${line},\n${line}]`, [
    ['x', 1],
    ['x', 1],
  ]);
  accepted('a.json', `{"meta":[1,2],"rows":[${line}],"n":{"a":[]}}`, [['x', 1]]);
  refused('a.json', `[${line},5]`, 'invalid_row', { file: 'a.json', line: 1 });
  refused('a.json', '[]', 'column_not_found');
  const whole = JSON.stringify({ rows: Array.from({ length: 20 }, () => ({ q: 'x', a: 1 })) }, null, 1);
  for (let length = 60; length < whole.length - 3; length += 60) {
    refused('a.json', whole.slice(0, length), 'invalid_row', { file: 'a.json', line: expect.any(Number) });
  }
}

/** Damaged, nested and disguised files. */
async function addBinaries(parquet: Uint8Array): Promise<void> {
  const rows: Row[] = [
    ['x', 1],
    ['y', 2],
  ];
  const csv = 'q,a\nx,1\ny,2\n';
  for (const name of ['a.csv', 'a.txt.bin', 'a.zip', 'a', 'a.parquet.csv']) accepted(name, parquet, rows);
  for (const name of ['a.zip', 'a.xlsx', 'a', 'a.csv.gz', 'a.csv.zst']) accepted(name, csv, rows);
  // names that are believed
  for (const name of ['a.json', 'a.jsonl', 'a.ndjson.gz'])
    refused(name, parquet, 'unsupported_file', { file: name });
  for (const name of ['a.parquet', 'a.json', 'a.jsonl'])
    for (const content of [csv, gzipSync(csv)]) refused(name, content, 'unsupported_file', { file: name });
  for (const name of ['a.csv', 'a.zst', 'a']) accepted(name, gzipSync(csv), rows);
  for (const name of ['a.csv', 'a.gz', 'a']) accepted(name, zstdCompressSync(csv), rows);
  const step = Math.floor(parquet.length / 20);
  for (let length = 4; length < parquet.length; length += step) {
    refused('a.parquet', parquet.subarray(0, length), 'unsupported_file', { file: 'a.parquet' });
  }
  const zipped = gzipSync(csv.repeat(2000));
  for (const length of [2, 5, 11, 30, zipped.length - 8, zipped.length - 1]) {
    refused('a.csv.gz', zipped.subarray(0, length), 'unsupported_file', { file: 'a.csv.gz' });
  }
  const frame = zstdCompressSync(csv.repeat(2000));
  for (const length of [4, 8, frame.length - 1]) {
    refused('a.csv.zst', frame.subarray(0, length), 'unsupported_file', { file: 'a.csv.zst' });
  }
  for (const head of [
    '%PDF-1.7',
    '\x89PNG\r\n\x1a\n',
    'GIF89a',
    'BZh9',
    'ARROW1\0\0',
    'SQLite format 3\0',
    'Obj\x01',
    'PARE',
    '\x7fELF',
    '\0\x01\x02\x03',
  ]) {
    refused('a.csv', Buffer.from(`${head}abc`, 'latin1'), 'unsupported_file', { file: 'a.csv' });
  }
  for (const empty of ['', '\n \n', '\ufeff', gzipSync('')])
    refused('a.csv', empty, 'unsupported_file', { file: 'a.csv' });
  refused('a.csv.gz', gzipSync(gzipSync(csv)), 'unsupported_file', { file: 'a.csv.gz' });
  // the beginning of an archive that is a document by its name
  refused('a.docx', Buffer.from('PK\u0003\u0004 and no directory'), 'unsupported_file', { file: 'a.docx' });
  refused('a.csv.gz', gzipSync(Buffer.alloc(80_000_000, 'a')), 'package_limit', { file: 'a.csv.gz' });
  refused('a.csv.zst', zstdCompressSync(Buffer.alloc(80_000_000, 'a')), 'package_limit', {
    file: 'a.csv.zst',
  });
  refused(
    'a.parquet.gz',
    gzipSync(Buffer.concat([Buffer.from('PAR1'), Buffer.alloc(30_000_000)])),
    'package_limit',
    { file: 'a.parquet.gz' },
  );
  const inner = await makePackage({ 'a.csv': csv });
  accepted('a.zip', inner, rows);
  accepted('a.zip', await makePackage({ 'x/a.csv.gz': gzipSync(csv) }), rows);
  refused('a.zip', await makePackage({ 'b.zip': inner }), 'unsupported_file', { file: 'a.zip' });
  refused('a.zip', await makePackage({ 'b.csv': Buffer.alloc(30_000_000, 'a') }), 'package_limit');
  refused(
    'a.zip',
    await makePackage({ '[Content_Types].xml': '<x/>', 'xl/workbook.xml': '<x/>' }),
    'unsupported_file',
    { file: 'a.zip' },
  );
  refused('a.zip', inner.subarray(0, inner.length - 30), 'package_corrupt');
  refused('a.zip', await makePackage({ 'a.csv': csv, 'a.tsv': csv }), 'invalid_request', { file: 'a.tsv' });
}

it('takes each of many hostile files exactly, or refuses it with its location and stores nothing', async () => {
  await using cleanUp = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'svc-hostile-'));
  cleanUp.defer(() => rm(folder, { recursive: true, force: true }));
  const parquet = join(folder, 'a.parquet');
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  await connection.run(
    `COPY (SELECT * FROM (VALUES ('x', 1), ('y', 2)) AS t(q, a)) TO '${parquet}' (FORMAT parquet)`,
  );
  connection.closeSync();
  instance.closeSync();
  addEncodings();
  addCsv();
  addJson();
  await addBinaries(await readFile(parquet));
  const distinct = new Set(
    files.map(({ name, content, fields }) =>
      JSON.stringify([name, Buffer.from(content as string).toString('latin1'), fields]),
    ),
  );
  expect(distinct.size).toBeGreaterThanOrEqual(200);

  const api = cleanUp.use(await startTestApi({ SVC_MAX_UNCOMPRESSED_BYTES: '20000000' }));
  let stored = 0;
  const tried = files.filter((_, index) => index % times(1, 4) === 0);
  for (const { name, content, fields, rows, code, at } of tried) {
    const form = new FormData();
    form.append('mapping', '{"prompt_column":"q","answer_column":"a"}');
    for (const [key, value] of Object.entries(fields ?? {})) form.append(key, JSON.stringify(value));
    form.append('file', new Blob([content as Uint8Array<ArrayBuffer>]), name);
    const response = await fetch(`${api.url}/datasets/upload`, { method: 'POST', body: form });
    const body = (await response.json()) as { id: string; code: string; errors?: object[] };
    const shown = `${name} ${JSON.stringify(String(content).slice(0, 60))} ${JSON.stringify(body).slice(0, 600)}`;
    if (rows === undefined) {
      expect([response.status, body.code], shown).toEqual([400, code]);
      if (Object.keys(at ?? {}).length > 0) expect(body.errors?.[0], shown).toMatchObject(at ?? {});
      continue;
    }
    stored += 1;
    expect(response.status, shown).toBe(201);
    const text = await (await fetch(`${api.url}/datasets/${body.id}/items.jsonl`)).text();
    const items = text.split('\n').filter((line) => line !== '');
    const found = items.map((line) => JSON.parse(line) as { inputs: { prompt: string }; answer?: unknown });
    expect(
      found.map(({ inputs, answer }) => [inputs.prompt, answer]),
      shown,
    ).toEqual(rows);
  }
  const list = await fetch(`${api.url}/datasets?limit=1`);
  expect(await list.json()).toMatchObject({ meta: { total_items: stored } });
  await expect.poll(() => api.stagedFiles()).toEqual([]);
});
