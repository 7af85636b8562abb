/**
 * `node bench/turns/main.ts`: the longest turn of the event loop while files and answers of the hub are read that could hold
 * it up. Exits with 1 if one is longer than it may be. Run it on a machine that does nothing else.
 */
import { openAsBlob } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { createHubClient, type HubClient } from '../../packages/hub-client/dist/index.js';
import { readTable } from '../../packages/tabular/dist/index.js';
import { writeParquet } from '../../packages/tabular/dist/write/index.js';
import { longestTurn } from './longest-turn.ts';

/** The most that a turn may take, in times that 100,000 small objects take to be parsed. */
const MAX_TURN = 5;
const ABOUT = { id: 'o/d', sha: '0123456789012345678901234567890123456789', private: false, gated: false };

await using cleanUp = new AsyncDisposableStack();
const folder = await mkdtemp(join(tmpdir(), 'svc-turns-'));
cleanUp.defer(() => rm(folder, { recursive: true, force: true }));

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
const members = (count: number): string => Array.from({ length: count }, (_, n) => `"k${n}":{}`).join(',');

/** Reads the first row of a file, which has to be looked at as a whole. */
async function readFirst(name: string, column: string, content: string | Uint8Array): Promise<number> {
  const path = join(folder, name);
  await writeFile(path, content);
  const read = async (): Promise<void> => {
    for await (const _row of readTable(await openAsBlob(path), { path: name, columns: [column] })) break;
  };
  // Code that runs for the first time is compiled.
  await read();
  return await longestTurn(read);
}

/** Works with a hub that gives these bodies. */
async function withHub(
  info: string,
  files: number,
  work: (client: HubClient) => Promise<unknown>,
): Promise<number> {
  const tree = Array.from({ length: files }, (_, n) => ({
    type: 'file',
    path: `d${n % 1000}/train-${n}.csv`,
    size: 5,
  }));
  const bodies = { info: Buffer.from(info), tree: Buffer.from(JSON.stringify(tree)) };
  await using hub = createServer((request, response) => {
    const body = request.url?.includes('/tree/') ? bodies.tree : bodies.info;
    pipeline(Readable.from(cut(body), { objectMode: false }), response, () => {});
  });
  await new Promise<void>((resolve) => hub.listen(0, '127.0.0.1', resolve));
  await using client = createHubClient({
    endpoint: `http://127.0.0.1:${(hub.address() as AddressInfo).port}`,
    retry: { maxRetries: 0 },
  });
  try {
    return await longestTurn(() => work(client));
  } finally {
    hub.closeAllConnections();
  }
}

function* cut(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; at += 65_536) yield body.subarray(at, at + 65_536);
}

const open = (client: HubClient) => client.openDataset({ path: 'o/d' });
const refuse = (client: HubClient) => open(client).catch(() => undefined);
const select = async (client: HubClient) => (await open(client)).select().catch(() => undefined);
const about = (more: object): string => JSON.stringify({ ...ABOUT, ...more });

const CASES: readonly (readonly [what: string, work: () => Promise<number>])[] = [
  [
    'JSON, 200,000 lists next to the rows',
    () =>
      readFirst(
        'lists.json',
        'a',
        `{${Array.from({ length: 200_000 }, (_, i) => `"k${i}":[]`).join()},"rows":[{"a":1}]}`,
      ),
  ],
  [
    'JSON Lines with 15,000 names',
    () =>
      readFirst('names.jsonl', 'a', Array.from({ length: 150 }, (_, line) => `${names(line)}\n`).join('')),
  ],
  [
    'JSON, 400,000 rows in one line',
    () => readFirst('rows.json', 'a', `[${'{"a":1},'.repeat(399_999)}{"a":1}]`),
  ],
  ['Parquet of 16,000 columns', async () => readFirst('wide.parquet', 'c1', await parquetOf(16_000))],
  ['the hub answers with 30 MB of brackets', () => withHub('['.repeat(30_000_000), 0, refuse)],
  ['the hub answers with 2,000,000 members without use', () => withHub(`{${members(2_000_000)}}`, 0, refuse)],
  [
    'the hub answers with a card of 60,000 members',
    () =>
      withHub(
        `{${about({}).slice(1, -1)},"cardData":{"configs":[{"config_name":"c"}],"x":{${members(60_000)}}}}`,
        1,
        open,
      ),
  ],
  [
    'the hub lists 100,000 files, chosen by their names',
    () => withHub(about({ cardData: {} }), 100_000, select),
  ],
  [
    'the hub lists 100,000 files, chosen by a pattern',
    () =>
      withHub(
        about({ cardData: { configs: [{ config_name: 'c', data_files: 'd*/*.csv' }] } }),
        100_000,
        select,
      ),
  ],
];

console.log(`| longest turn of the event loop, at most ${MAX_TURN} | in times of the unit |\n|---|---|`);
for (const [what, work] of CASES) {
  const turn = await work();
  console.log(`| ${what} | ${turn.toFixed(2)} |`);
  if (!(turn < MAX_TURN)) process.exitCode = 1;
}
