import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { gzipSync } from 'node:zlib';
import { writeParquet } from '../../../../packages/tabular/src/write/index.ts';

/** A request whose table costs little to send and, if nothing bounds it, much to read. */
export interface TableAttack {
  readonly name: string;
  /** Below the address of the service. */
  readonly path: string;
  readonly body: FormData | string;
}

const COMMIT = '0123456789abcdef0123456789abcdef01234567';
const UPLOAD = '/datasets/upload?dry_run=true';
const PREVIEW = '/datasets/upload/preview';

function form(name: string, content: string | Uint8Array<ArrayBuffer>, mapping?: object): FormData {
  const body = new FormData();
  body.append('file', new Blob([content]), name);
  if (mapping !== undefined) body.append('mapping', JSON.stringify(mapping));
  return body;
}

async function parquetOf(columns: number, rows: number, cell: string): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  const table = writeParquet(
    (async function* () {
      yield Array.from({ length: rows }, () => null);
    })(),
    Array.from({ length: columns }, (_, index) => ({
      name: `c${index}`,
      type: 'json' as const,
      json: () => cell,
    })),
  );
  for await (const part of table) parts.push(part);
  return new Uint8Array(Buffer.concat(parts));
}

/** The attacks by uploaded tables. */
export async function uploadAttacks(): Promise<TableAttack[]> {
  const long = 'x'.repeat(60_000);
  const rows = (count: number, row: string): string => row.repeat(count);
  const names = Array.from({ length: 3000 }, (_, line) =>
    JSON.stringify(Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`k${line * 100 + i}`, 1]))),
  );
  const lists = Array.from({ length: 100_000 }, (_, i) => `"k${i}":[]`).join();
  const members = JSON.stringify(Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`m${i}`, i])));
  const hex = Array.from({ length: 6 }, (_, i) => `${String(i).repeat(62_000)}\n`).join('');
  // As many columns as are read, and more.
  const wide = await parquetOf(16_384, 1, '1');
  const wider = await parquetOf(50_000, 1, '1');
  return [
    ...[
      { checker: { type: 'regex', pattern: long } },
      { tags: [long] },
      { prompt_column: undefined, prompt_template: `${long}{b}` },
    ].map((constant, index) => ({
      name: `a constant of 60 kB in 20,000 rows (${index + 1})`,
      path: UPLOAD,
      body: form('t.csv', `b\n${rows(20_000, '1\n')}`, { prompt_column: 'b', ...constant }),
    })),
    {
      name: 'a column of 62 kB a thousand times in a template',
      path: UPLOAD,
      body: form('t.csv', `a\n${hex}`, { prompt_template: '{a}'.repeat(1000) }),
    },
    {
      name: 'a compressed file of 100 MB',
      path: UPLOAD,
      body: form('t.csv.gz', new Uint8Array(gzipSync(`a,b\n${rows(25_000_000, '1,2\n')}`)), {
        prompt_column: 'a',
      }),
    },
    {
      name: 'a million lines with too few fields',
      path: UPLOAD,
      body: form('t.csv', `a,b\n${rows(1_000_000, '1\n')}`, { prompt_column: 'a', invalid_rows: 'skip' }),
    },
    { name: 'Parquet of 16,384 columns', path: PREVIEW, body: form('t.parquet', wide) },
    { name: 'Parquet of 50,000 columns', path: PREVIEW, body: form('t.parquet', wider) },
    {
      name: 'Parquet of objects with 20,000 members',
      path: UPLOAD,
      body: form('t.parquet', await parquetOf(1, 20, members), { prompt_column: 'c0' }),
    },
    { name: '300,000 names in JSON Lines', path: PREVIEW, body: form('t.jsonl', `${names.join('\n')}\n`) },
    {
      name: '100,000 lists next to the rows',
      path: PREVIEW,
      body: form('t.json', `{"x":${'['.repeat(100)}${']'.repeat(100)},${lists},"rows":[{"a":1}]}`),
    },
    {
      name: 'a quoted cell of 100 MB',
      path: PREVIEW,
      body: form('t.csv', `a\n"${'y'.repeat(100_000_000)}"\n`),
    },
    {
      name: 'CSV of 16,384 columns',
      path: PREVIEW,
      body: form(
        't.csv',
        `${Array.from({ length: 16_384 }, (_, i) => `c${i}`).join()}\n${rows(20, `${'1,'.repeat(16_383)}1\n`)}`,
      ),
    },
  ];
}

/** A hub whose answers are made to keep the service busy. */
export interface HostileHub extends AsyncDisposable {
  readonly endpoint: string;
}

export const HUB_ATTACKS: readonly TableAttack[] = [
  ...['braces', 'members', 'files'].map((name) => ({
    name: `a hub whose answer is ${name}`,
    path: '/datasets/hub/preview',
    body: JSON.stringify({ path: `h/${name}`, split: 'train' }),
  })),
  {
    name: 'a checker of 900 kB in 6,000 rows of a hub',
    path: '/datasets/hub/import?dry_run=true',
    body: JSON.stringify({
      name: 'x',
      config: { path: 'h/rows', split: 'train' },
      mapping: { prompt_column: 'a', checker: { x: 'y'.repeat(900_000) } },
    }),
  },
];

export async function startHostileHub(): Promise<HostileHub> {
  const csv = `a\n${'1\n'.repeat(6000)}`;
  const description = (name: string): Iterable<string> => {
    if (name === 'braces') return Array.from({ length: 300 }, () => '['.repeat(100_000));
    const head = `{"id":"h/${name}","sha":"${COMMIT}","private":false,"gated":false`;
    if (name !== 'members') return [`${head}}`];
    const members = Array.from({ length: 800 }, (_, part) =>
      Array.from({ length: 1000 }, (_, i) => `,"k${part * 1000 + i}":{}`).join(''),
    );
    return [head, ...members, '}'];
  };
  const listing = (name: string): Iterable<string> => {
    const entry = (path: string, size: number): string =>
      `{"type":"file","path":"${path}","size":${size},"oid":"x"}`;
    if (name !== 'files') return [`[${entry('data.csv', csv.length)}]`];
    return [
      '[',
      ...Array.from({ length: 100_000 }, (_, i) => `${i === 0 ? '' : ','}${entry(`d${i}/train-0.csv`, 5)}`),
      ']',
    ];
  };
  const server = createServer((request, response) => {
    const path = /^\/(?:api\/)?datasets\/h\/(\w+)\/(revision|tree|resolve)\//.exec(request.url ?? '');
    const [, name = '', kind] = path ?? [];
    if (kind === 'resolve') {
      const [, from = '0', to = ''] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
      const end = to === '' ? csv.length : Math.min(Number(to) + 1, csv.length);
      response.writeHead(request.headers.range === undefined ? 200 : 206, {
        'content-range': `bytes ${from}-${end - 1}/${csv.length}`,
      });
      response.end(csv.slice(Number(from), end));
      return;
    }
    if (kind === undefined) {
      response.writeHead(404).end('{}');
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    const parts = kind === 'tree' ? listing(name) : description(name);
    // The service ends such requests in their middle.
    pipeline(Readable.from(parts), response).catch(() => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
