import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FakeHub, startFakeHub } from '../../../../packages/hub-client/test/fake-hub.ts';
import { buildZip } from '../../../../packages/pkg-format/test/build-zip.ts';
import { IS_LONG, times } from '../../../../tools/vitest/long.ts';
import { report, tally } from './report.ts';
import { holdingsOf } from './run-service.ts';
import { uploadForm } from './sample-packages.ts';
import { type OwnService, startService } from './start-service.ts';
import {
  ask,
  LEFTOVERS,
  listDatasets,
  NO_LEFTOVERS,
  outcomeOf,
  type ServiceResponse,
} from './stored-datasets.ts';

const AREA = 'Attacks';
const MIB = 1024 * 1024;
/** what the process may hold at its peak, after all attacks before and with the service itself, which takes 160 MB */
const MAX_RSS_BYTES = 800 * MIB;

let own: OwnService;
let hub: FakeHub;
beforeAll(async () => {
  hub = await startFakeHub();
  own = await startService({ HUB_ENDPOINT: hub.endpoint }, 'standalone');
});
afterAll(async () => {
  await own[Symbol.asyncDispose]();
  await hub.close();
});

/** 20 MB that deflate to a few hundredths of a megabyte, just within the expansion of one entry. */
const compressible = (): Buffer =>
  Buffer.concat(
    Array.from({ length: 400 }, () => {
      const block = Buffer.alloc(50_000);
      for (let at = 400; at < block.length; at += 500) block[at] = 1 + ((at / 500) % 255);
      block.writeUInt32LE(randomBytes(4).readUInt32LE());
      return block;
    }),
  );

/** An archive of these lines and one asset that all of them refer to. */
function packageOf(lines: readonly object[], content: Uint8Array): Uint8Array<ArrayBuffer> {
  const section = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  return buildZip({
    entries: [
      { name: 'sections/default.jsonl', content: section },
      { name: 'assets/a.bin', content },
    ],
  }) as Uint8Array<ArrayBuffer>;
}

/** Items that each refer to the asset this many times. */
const itemsOf = (items: number, references: number): object[] =>
  Array.from({ length: items }, (_, index) => ({
    id: String(index),
    inputs: { prompt: 'p' },
    assets: Object.fromEntries(Array.from({ length: references }, (_, name) => [`a${name}`, 'assets/a.bin'])),
  }));

interface Watched {
  readonly answer: ServiceResponse;
  readonly peakRssBytes: number;
  /** how often the health check responded */
  readonly responses: number;
  /** part of the time in which the health check was kept waiting */
  readonly waitingShare: number;
}

/** Sends an upload, and polls the service's health and memory in the meantime. */
async function watch(send: () => Promise<ServiceResponse>): Promise<Watched> {
  const { service } = own;
  let isRunning = true;
  let peakRssBytes = 0;
  let waitedMs = 0;
  let responses = 0;
  const watching = (async () => {
    while (isRunning) {
      const start = performance.now();
      const { status } = await ask(`${service.url}/healthz`);
      expect(status).toBe(200);
      responses += 1;
      // A request takes some time on a busy machine, whatever the service does.
      waitedMs += Math.max(0, performance.now() - start - 100);
      peakRssBytes = Math.max(peakRssBytes, (await holdingsOf(service.child.pid)).rssBytes);
      await delay(10);
    }
  })();
  const start = performance.now();
  const answer = await send();
  isRunning = false;
  await watching;
  return { answer, peakRssBytes, responses, waitingShare: waitedMs / (performance.now() - start) };
}

const upload = (name: string, archive: Uint8Array<ArrayBuffer>): Promise<ServiceResponse> =>
  ask(`${own.service.url}/datasets/upload`, { method: 'POST', body: uploadForm(archive, name) });

/** The same as a job; gives the job's error as the answer. */
async function uploadAsJob(name: string, archive: Uint8Array<ArrayBuffer>): Promise<ServiceResponse> {
  const { url } = own.service;
  const { body } = await ask(`${url}/datasets/upload`, {
    method: 'POST',
    headers: { Prefer: 'respond-async' },
    body: uploadForm(archive, name),
  });
  for (;;) {
    const answer = await ask(`${url}/jobs/${body.id}`);
    const { error } = answer.body;
    if (error != null) return { ...answer, status: error.status, code: error.code, body: error };
    if (answer.body.status === 'completed') return answer;
    await delay(50);
  }
}

async function expectNothingStored(datasets: number): Promise<void> {
  expect(await listDatasets(own.service.url)).toHaveLength(datasets);
  expect(await own.query(LEFTOVERS)).toEqual(NO_LEFTOVERS);
  await expect.poll(() => own.service.stagedFiles()).toEqual([]);
  expect(own.service.hasEnded()).toBe(false);
}

describe('an archive in which many references name one file', () => {
  const WAYS = [upload, uploadAsJob];
  const ATTACKS = [
    {
      scenario: 'one item refers to one file of 20 MB 21 times, in an archive of under 200 kB',
      archive: () => packageOf(itemsOf(1, 21), compressible()),
      error: { file: 'sections/default.jsonl', line: 1, path: '/assets/a2' },
    },
    {
      scenario: 'one item refers to one file of one byte 100,000 times',
      archive: () => packageOf(itemsOf(1, 100_000), Buffer.of(1)),
      error: { file: 'sections/default.jsonl', line: 1 },
    },
    {
      // beyond 20 GiB together
      scenario: '1,100 items refer to one file of 20 MB, in an archive of under 200 kB',
      archive: () => packageOf(itemsOf(1_100, 1), compressible()),
      error: { file: 'sections/default.jsonl', line: 1_074 },
    },
  ];

  // the tests of packages try the others too, which take a minute each
  it.for(ATTACKS.slice(0, times(ATTACKS.length, 1)))(
    '$scenario',
    { timeout: 300_000 },
    async ({ scenario, archive, error }, context) => {
      const datasets = (await listDatasets(own.service.url)).length;
      const outcomes: string[] = [];
      const tries = times(10, 1);
      for (let index = 0; index < tries; index++) {
        const bytes = archive();
        expect(bytes.byteLength).toBeLessThan(2 * MIB);
        for (const send of WAYS) {
          const { answer, peakRssBytes } = await watch(() => send(`hostile ${index}`, bytes));
          expect(answer.body.errors).toEqual([expect.objectContaining(error)]);
          expect(peakRssBytes).toBeLessThan(MAX_RSS_BYTES);
          outcomes.push(`${outcomeOf(answer)}, under ${MAX_RSS_BYTES / MIB} MiB of memory`);
        }
      }
      await expectNothingStored(datasets);
      report(context, {
        area: AREA,
        scenario,
        expected: '400 package_limit with the line, little memory, nothing stored',
        runs: WAYS.length * tries,
        observed: tally(outcomes),
      });
    },
  );

  it('the health check responds while large files are embedded into items', {
    timeout: 300_000,
  }, async (context) => {
    const items = times(20, 4);
    const bytes = packageOf(itemsOf(items, 1), randomBytes(20_000_000));
    const { answer, peakRssBytes, responses, waitingShare } = await watch(() => upload('shared file', bytes));
    expect(outcomeOf(answer)).toBe('201');
    expect(answer.body.item_count).toBe(items);
    // no file is embedded as a whole before a request gets its turn
    expect(responses).toBeGreaterThan(items);
    // `npm test` runs files side by side on the same cores: the time says nothing there
    if (IS_LONG) expect(waitingShare).toBeLessThan(0.25);
    await ask(`${own.service.url}/datasets/${answer.body.id}`, { method: 'DELETE' });
    report(context, {
      area: AREA,
      scenario: `${items} items refer to one file of 20 MB that does not compress, and the import is within all limits`,
      expected: '201; the health check waits more than 100 ms in less than a quarter of the time',
      runs: 1,
      observed: {
        [`201; it waited ${(waitingShare * 100).toFixed(0)} % of the time; ${Math.round(peakRssBytes / MIB)} MiB of memory`]: 1,
      },
    });
  });

  it.runIf(IS_LONG)('stays usable for archives that are honest', async () => {
    const shared = packageOf(itemsOf(times(60, 20), 1), compressible());
    const answer = await upload('a file of many items', shared);
    expect(outcomeOf(answer)).toBe('201');
    await ask(`${own.service.url}/datasets/${answer.body.id}`, { method: 'DELETE' });
  });
});

describe('a line of very many values', () => {
  /** what the process may hold at its peak, with the service itself, which takes 170 MB */
  const MAX_PEAK_MIB = 600;
  const LINE_BYTES = 60_000_000;
  const arrayOf = (value: string): string =>
    `{"id":"1","inputs":{"prompt":"p"},"meta":{"x":[${`${value},`.repeat(LINE_BYTES / (value.length + 1))}0]}}`;
  const members = (count: number, value: string): string =>
    Array.from({ length: count }, (_, index) => `"a${String(index).padStart(20, '0')}":${value}`).join(',');
  const SHAPES: readonly (readonly [what: string, line: () => string])[] = [
    ['numbers that are longer in canonical form, `1e20`', () => arrayOf('1e20')],
    ['2,000,000 keys', () => `{"id":"1","inputs":{"prompt":"p"},"meta":{${members(2_000_000, '0')}}}`],
    [
      '1,000,000 references to a file',
      () => `{"id":"1","inputs":{"prompt":"p"},"assets":{${members(1_000_000, '"assets/a.bin"')}}}`,
    ],
    ['zeros', () => arrayOf('0')],
    ['empty arrays', () => arrayOf('[]')],
    ['small arrays, nested', () => arrayOf('[[[[0]]]]')],
  ];
  const archiveOf = (line: string): Uint8Array<ArrayBuffer> =>
    buildZip({
      entries: [
        { name: 'sections/default.jsonl', content: `{"id":"0","inputs":{"prompt":"p"}}\n${line}\n` },
        { name: 'assets/a.bin', content: Uint8Array.of(1) },
      ],
    }) as Uint8Array<ArrayBuffer>;

  it.runIf(IS_LONG).for(SHAPES)('%s', { timeout: 300_000 }, async ([what, lineOf], context) => {
    // The peak is the service's own: nothing else was sent to it. What packs well is not refused as such.
    await using fresh = await startService({ SVC_MAX_EXPANSION_RATIO: '5000' }, 'standalone');
    const { service } = fresh;
    const archive = archiveOf(lineOf());
    const send = (): Promise<ServiceResponse> =>
      ask(`${service.url}/datasets/upload`, { method: 'POST', body: uploadForm(archive, 'values') });
    const responses = [await send(), ...(await Promise.all(Array.from({ length: times(4, 2) }, send)))];
    for (const { body } of responses) {
      expect(body.errors).toEqual([expect.objectContaining({ file: 'sections/default.jsonl', line: 2 })]);
    }
    const outcomes = tally(responses.map(outcomeOf));
    expect(outcomes).toEqual({ '400 package_limit': responses.length });
    const status = await readFile(`/proc/${service.child.pid}/status`, 'utf8');
    const peakMib = Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
    expect(peakMib).toBeLessThan(MAX_PEAK_MIB);
    report(context, {
      area: AREA,
      scenario: `a line of 60 MB or less with ${what}, in one archive, then ${IS_LONG ? 'four' : 'two'} concurrently`,
      expected: `400 package_limit with the line, under ${MAX_PEAK_MIB} MiB of memory at any time`,
      runs: responses.length,
      observed: outcomes,
    });
  });

  it.runIf(IS_LONG)('stays usable for items with many values that are honest', async () => {
    const embeddings = Array.from({ length: 2 }, () => Array.from({ length: 100_000 }, Math.random));
    const messages = Array.from({ length: 5000 }, (_, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      content: 'x'.repeat(500),
    }));
    const lines = [
      { id: 'a', inputs: { prompt: 'p' }, meta: { embeddings } },
      { id: 'b', inputs: { messages } },
      {
        id: 'c',
        inputs: { prompt: 'p', choices: Array.from({ length: 1000 }, (_, index) => `choice ${index}`) },
      },
    ];
    const answer = await upload('many values', packageOf(lines, Buffer.of(1)));
    expect(outcomeOf(answer)).toBe('201');
    await ask(`${own.service.url}/datasets/${answer.body.id}`, { method: 'DELETE' });
  });
});

describe('a hub file with a line that is too long', () => {
  it.runIf(IS_LONG)(
    'a row of very many values is refused as well, in lines and in an array',
    async (context) => {
      const row = `{"q":[${'1e20,'.repeat(1_000_000)}0]}`;
      const outcomes: string[] = [];
      for (const [path, file, text] of [
        ['org/values-in-lines', 'train.jsonl.gz', `{"q":[1]}\n${row}\n`],
        ['org/values-in-array', 'train.json.gz', `[{"q":[1]},${row}]`],
      ] as const) {
        hub.add({ id: path, files: { [file]: gzipSync(text) } });
        const answer = await ask(`${own.service.url}/datasets/hub/import`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({ name: path, config: { path }, mapping: { prompt_column: 'q' } }),
        });
        expect(answer.body.errors).toMatchObject([{ file }]);
        expect(answer.body.detail).toContain('values');
        outcomes.push(outcomeOf(answer));
      }
      expect(tally(outcomes)).toEqual({ '400 invalid_row': 2 });
      report(context, {
        area: AREA,
        scenario: 'a hub file has a row of 1,000,000 numbers that are longer in canonical form',
        expected: '400 invalid_row, before the row is parsed',
        runs: 2,
        observed: tally(outcomes),
      });
    },
  );

  it.runIf(IS_LONG)('is the same error in an import as in a preview', async (context) => {
    const tries = times(10, 1);
    const outcomes: string[] = [];
    for (let index = 0; index < tries; index++) {
      const path = `org/long-line-${index}`;
      const line = `{"q":"${'x'.repeat(64 * MIB)}"}\n`;
      hub.add({ id: path, files: { 'train.jsonl.gz': gzipSync(line) } });
      const post = (action: string, body: object): Promise<ServiceResponse> =>
        ask(`${own.service.url}/datasets/hub/${action}`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify(body),
        });
      const preview = await post('preview', { path });
      const mapping = { prompt_column: 'q' };
      const imported = await post('import', { name: path, config: { path }, mapping });
      for (const answer of [preview, imported]) {
        expect(answer.body.errors).toMatchObject([{ file: 'train.jsonl.gz', line: 1 }]);
        outcomes.push(outcomeOf(answer));
      }
      expect(imported.body.detail).toBe(preview.body.detail);
    }
    expect(tally(outcomes)).toEqual({ '400 invalid_row': 2 * tries });
    report(context, {
      area: AREA,
      scenario: 'a hub file has a line of over 64 MiB: preview and import',
      expected: '400 invalid_row with the line in both',
      runs: 2 * tries,
      observed: tally(outcomes),
    });
  });
});
