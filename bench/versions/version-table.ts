import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Bench } from '../bench.ts';
import { itemLines, writePackage } from '../generate.ts';
import { type Sample, timed } from '../measure.ts';
import { type Service, upload, uploadByCurl } from '../service.ts';
import { shellOutput } from '../shell.ts';

/** How often each change is made; what counts is the worst. */
const TIMES = 5;
const UPSERTED_ITEMS = 100;
/** The dataset whose changes are as many as its history is long. */
const OLD_ITEMS = 10_000;
const APPENDS = 1_000;

const itemOf = (id: string, prompt: string): string =>
  `${JSON.stringify({ id, inputs: { prompt }, answer: '4', meta: { source: 'changed' } })}\n`;

/** Times changes of a dataset with this many items, and what they write, as rows of a table. */
export async function* versionTable(bench: Bench, items: number): AsyncGenerator<string> {
  const file = join(bench.folder, 'versions.pkg.zip');
  await writePackage(file, items);
  await bench.empty();
  yield '';
  yield `| change of ${items.toLocaleString('en')} items | longest of ${TIMES} | target | met | most write-ahead log | target | met |`;
  yield '|---|---|---|---|---|---|---|';
  const times = await bench.withService(async (service) => {
    const { id } = await upload(service, file);
    await bench.prepareLookUps();
    await bench.analyze();
    return await changeTimes(bench, service, id, items);
  });
  for (const { what, seconds, bytes, maxSeconds, maxBytes } of times) {
    const time = maxSeconds === undefined ? ' | ' : `< ${maxSeconds} s | ${met(seconds < maxSeconds)}`;
    const log = maxBytes === undefined ? ' | ' : `< ${maxBytes / 1e6} MB | ${met(bytes < maxBytes)}`;
    yield `| ${what} | ${seconds.toFixed(2)} s | ${time} | ${(bytes / 1000).toFixed(0)} kB | ${log} |`;
  }

  await bench.empty();
  const { space, pages } = await bench.withService((service) => compareHistory(bench, service));
  yield '';
  yield `| ${APPENDS.toLocaleString('en')} appends of one item to ${OLD_ITEMS.toLocaleString('en')}, against an upload of the same items | ratio | target | met |`;
  yield '|---|---|---|---|';
  yield `| space in the database, vacuumed | ${space.toFixed(3)} | < 1.05 | ${met(space < 1.05)} |`;
  for (const { what, ratio } of pages)
    yield `| ${what} | ${ratio.toFixed(2)} | ≤ 1.5 | ${met(ratio <= 1.5)} |`;
}

const met = (isMet: boolean): string => (isMet ? 'yes' : 'no');

interface ChangeTime {
  readonly what: string;
  readonly seconds: number;
  /** What the changes wrote to the write-ahead log. */
  readonly bytes: number;
  readonly maxSeconds?: number;
  readonly maxBytes?: number;
}

async function changeTimes(
  bench: Bench,
  service: Service,
  id: string,
  items: number,
): Promise<readonly ChangeTime[]> {
  const change = async (what: string, mode: string, body: (round: number) => string): Promise<ChangeTime> => {
    let [seconds, bytes] = [0, 0];
    for (let round = 0; round < TIMES; round += 1) {
      const before = await walPosition(bench);
      const sample = await timed(() =>
        send(service, 'POST', `/datasets/${id}/items?mode=${mode}`, body(round)),
      );
      seconds = Math.max(seconds, sample.seconds);
      bytes = Math.max(bytes, (await walPosition(bench)) - before);
    }
    return { what, seconds, bytes };
  };
  const upserted = (round: number): string =>
    Array.from({ length: UPSERTED_ITEMS }, (_, n) =>
      itemOf(`q${(n * 7919 + round) % items}`, `Round ${round}, question ${n}?`),
    ).join('');
  const single = (round: number): string => itemOf(`q${Math.floor(items / 2) + round}`, `Corrected ${round}`);
  return [
    {
      ...(await change('append 1', 'append', (n) => itemOf(`new${n}`, '2 + 2?'))),
      maxSeconds: 1,
      maxBytes: 1e6,
    },
    { ...(await change(`upsert ${UPSERTED_ITEMS}`, 'upsert', upserted)), maxSeconds: 3 },
    await change('upsert 1', 'upsert', single),
  ];
}

async function send(service: Service, method: string, path: string, body: string): Promise<void> {
  const headers = { 'content-type': 'application/jsonl' };
  const response = await fetch(service.url + path, { method, headers, body });
  const text = await response.text();
  if (response.status !== 201) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
}

/** Bytes that the server has written to its log since it was made. */
async function walPosition({ psql }: Bench): Promise<number> {
  const sql = `SELECT pg_current_wal_insert_lsn() - '\\''0/0'\\''`;
  return Number(await shellOutput(`psql -qAt "$PGURL" -c '${sql}'`, psql));
}

interface HistoryCost {
  readonly space: number;
  readonly pages: readonly { readonly what: string; readonly ratio: number }[];
}

/** Compares a dataset of many versions with an upload of what it has become. */
async function compareHistory(bench: Bench, service: Service): Promise<HistoryCost> {
  const empty = await bench.databaseBytes();
  const [old, whole] = [join(bench.folder, 'old.jsonl'), join(bench.folder, 'whole.jsonl')];
  await pipeline(Readable.from(itemLines(OLD_ITEMS)), createWriteStream(old));
  await uploadByCurl(service, old, { fileName: 'old.jsonl', fields: { name: 'old' } });
  const id = await newestId(service);
  const added = Buffer.concat([...itemLines(APPENDS)])
    .toString()
    .trimEnd()
    .split('\n');
  for (const line of added) await send(service, 'POST', `/datasets/${id}/items?mode=append`, `${line}\n`);
  await bench.prepareLookUps();
  await bench.analyze();
  const withHistory = (await bench.databaseBytes()) - empty;
  const stored = await fetch(`${service.url}/datasets/${id}/items.jsonl`);
  if (stored.body === null) throw new Error('the stream of items has no body');
  await pipeline(Readable.fromWeb(stored.body), createWriteStream(whole));
  const before = await bench.databaseBytes();
  await uploadByCurl(service, whole, { fileName: 'whole.jsonl', fields: { name: 'whole' } });
  const fresh = await newestId(service);
  await bench.prepareLookUps();
  await bench.analyze();
  const space = withHistory / ((await bench.databaseBytes()) - before);
  const pages: { what: string; ratio: number }[] = [];
  for (const from of [0, OLD_ITEMS / 2, OLD_ITEMS + APPENDS / 2]) {
    const page = `items?from=0-${from}&limit=50`;
    await readOften(`${service.url}/datasets/${fresh}/${page}`);
    const theirs = await readOften(`${service.url}/datasets/${fresh}/${page}`);
    const ours = await readOften(`${service.url}/datasets/${id}/${page}`);
    pages.push({
      what: `a page of 50 from item ${from.toLocaleString('en')} on`,
      ratio: ours.seconds / theirs.seconds,
    });
  }
  return { space, pages };
}

/** Reads a page again and again. */
function readOften(url: string): Promise<Sample> {
  return timed(async () => {
    for (let time = 0; time < 1_000; time += 1) await (await fetch(url)).arrayBuffer();
  });
}

async function newestId(service: Service): Promise<string> {
  const list = (await (await fetch(`${service.url}/datasets?limit=1`)).json()) as { data: { id: string }[] };
  return (list.data[0] as { id: string }).id;
}
