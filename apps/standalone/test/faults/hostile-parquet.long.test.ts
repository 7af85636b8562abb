import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FakeHub, startFakeHub } from '../../../../packages/hub-client/test/fake-hub.ts';
import {
  ENGINE_MESSAGES,
  mutateParquet,
  randomNumbers,
} from '../../../../packages/tabular/test/mutate-parquet.ts';
import type { RewriteOptions } from '../../../../packages/tabular/test/rewrite-parquet.ts';
import { PAGE_KINDS, sampleFiles } from '../../../../packages/tabular/test/sample-parquet.ts';
import { report, tally } from './report.ts';
import type { ServiceProcess } from './run-service.ts';
import { type OwnService, startService } from './start-service.ts';
import { ask, outcomeOf, type ServiceResponse } from './stored-datasets.ts';

const AREA = 'Attacks';
const TOKEN = 'hf_reader';
const SECRET = 'PRIVATEROW';
let hub: FakeHub;
let own: OwnService;
let service: ServiceProcess;
beforeAll(async () => {
  hub = await startFakeHub();
  hub.tokens.add(TOKEN);
  const rows = Array.from({ length: 2000 }, (_, n) => `{"q":"${SECRET}${n}","a":"${'x'.repeat(300)}"}\n`);
  hub.add({
    id: 'org/private',
    access: 'private',
    readers: [TOKEN],
    files: { 'train.jsonl': rows.join('') },
  });
  own = await startService({ HUB_ENDPOINT: hub.endpoint });
  service = own.service;
});
afterAll(async () => {
  await own[Symbol.asyncDispose]();
  await hub.close();
});

const preview = (path: string, more: object = {}, url = service.url): Promise<ServiceResponse> =>
  ask(`${url}/datasets/hub/preview`, {
    method: 'POST',
    // A connection that is kept may close before its next request is read.
    headers: { 'Content-Type': 'application/json', Connection: 'close' },
    body: JSON.stringify({ path, limit: 100, ...more }),
  });

/** Everything that an answer says, with what it says in base64. */
function allOf({ text }: ServiceResponse): string {
  const decoded = [...text.matchAll(/"([A-Za-z0-9+/]{16,}={0,2})"/g)].map(([, base64]) =>
    Buffer.from(base64!, 'base64').toString('latin1'),
  );
  return [text, ...decoded].join('\n');
}

/** Longest time that a probe took while work was running. */
async function slowestProbeMs(during: Promise<unknown>): Promise<number> {
  let over = false;
  void during.finally(() => {
    over = true;
  });
  let slowest = 0;
  while (!over) {
    const begunMs = performance.now();
    expect((await ask(`${service.url}/healthz`)).status).toBe(200);
    slowest = Math.max(slowest, performance.now() - begunMs);
    await delay(10);
  }
  return slowest;
}

const LIES: Array<[string, NonNullable<RewriteOptions['metadata']>]> = [
  [
    'values sixteen times as long',
    ({ schema }) => {
      for (const element of schema) if (element.name === 'fixed') element.type_length = 160;
    },
  ],
  [
    'INT64 for INT32',
    ({ schema, row_groups: groups }) => {
      const index = schema.findIndex(({ name }) => name === 'small');
      schema[index]!.type = 'INT64';
      for (const { columns } of groups) columns[index - 1]!.meta_data!.type = 'INT64';
    },
  ],
];

it('files whose pages are shorter than their footer says show nothing of others', {
  timeout: 600_000,
}, async (context) => {
  const samples = sampleFiles().filter(({ name }) => /^(?:PLAIN|RLE_DICTIONARY), required$/.test(name));
  expect(samples).toHaveLength(2);
  const found: string[] = [];
  for (let round = 0; round < 5; round++) {
    for (const [lie, metadata] of LIES) {
      for (const { name, make } of samples) {
        for (const kind of PAGE_KINDS) {
          const id = `org/${`lie-${lie}-${name}-${kind.codec}-${kind.version}`.replaceAll(/[^A-Za-z0-9]+/g, '-')}`;
          if (round === 0) hub.add({ id, files: { 'train.parquet': make({ ...kind, metadata }) } });
          const secret = await preview('org/private', { token: TOKEN });
          expect(secret.text).toContain(SECRET);
          const answer = await preview(id);
          expect(allOf(answer)).not.toContain(SECRET);
          expect(answer.body.detail).not.toMatch(ENGINE_MESSAGES);
          found.push(outcomeOf(answer));
        }
      }
    }
  }
  expect(tally(found)).toEqual({ '502 hub_bad_response': found.length });
  report(context, {
    area: AREA,
    scenario:
      'previews of Parquet files that claim more than their pages hold, between those of private rows',
    expected: '502 with the column, row group and page; no other bytes',
    runs: found.length,
    observed: tally(found),
  });
});

it('mutated Parquet files are refused with messages of the service', {
  timeout: 3_600_000,
}, async (context) => {
  const random = randomNumbers(41);
  const seeds = sampleFiles().flatMap(({ make }) => PAGE_KINDS.map((kind) => make(kind)));
  const files = 20_000;
  const found: string[] = [];
  let next = 0;
  await Promise.all(
    Array.from({ length: 4 }, async (_, index) => {
      while (next < files) {
        const id = `org/mutated-${index}`;
        hub.add({ id, files: { 'train.parquet': mutateParquet(seeds[next++ % seeds.length]!, random) } });
        const answer = await preview(id);
        expect(answer.body?.detail ?? '').not.toMatch(ENGINE_MESSAGES);
        found.push(outcomeOf(answer));
      }
    }),
  );
  for (const outcome of found) {
    expect(['200', '400 hub_unsupported_dataset', '502 hub_bad_response']).toContain(outcome);
  }
  expect(service.log().filter(({ event }) => event === 'error.internal')).toEqual([]);
  report(context, {
    area: AREA,
    scenario: 'previews of mutated Parquet files, all compressions and encodings, both versions of pages',
    expected: 'rows, or 400 or 502 with a message of the service',
    runs: found.length,
    observed: tally(found),
  });
});

it('dataset cards of very many entries do not block others', { timeout: 300_000 }, async (context) => {
  const card = (count: number): string =>
    `---\nconfigs:\n${Array.from({ length: count }, (_, n) => `- config_name: c${n}\n  data_files: a.jsonl\n`).join('')}---\n`;
  const found: string[] = [];
  for (const [id, entries] of [
    ['org/card-of-190000', 190_000],
    ['org/card-of-45000', 45_000],
  ] as const) {
    hub.add({ id, files: { 'README.md': card(entries / 2), 'a.jsonl': '{"q":"x"}\n' } });
    const asked = preview(id, { subset: 'c1' });
    const slowest = await slowestProbeMs(asked);
    const answer = await asked;
    expect([id, slowest < 1500 || slowest]).toEqual([id, true]);
    if (entries > 50_000) expect(answer.body.detail).toContain('more than 50000 entries');
    found.push(outcomeOf(answer));
  }
  expect(found).toEqual(['400 hub_unsupported_dataset', '200']);
  report(context, {
    area: AREA,
    scenario: 'previews of datasets whose card has 190,000 and 45,000 entries',
    expected: '400 over 50,000 entries; otherwise a thread parses, and probes respond in the meantime',
    runs: found.length,
    observed: tally(found),
  });
});

it('a hub on a public address leads nowhere private', { timeout: 300_000 }, async (context) => {
  // Simulates a route to a public address: connections to it end at the loopback hub.
  const address = '93.184.216.34';
  const { port } = new URL(hub.endpoint);
  const route = `import net from 'node:net';
    const { connect } = net;
    net.connect = (options, ...rest) =>
      connect(options?.host === '${address}' ? { ...options, host: '127.0.0.1' } : options, ...rest);`;
  await using outside = await startService({
    HUB_ENDPOINT: `http://${address}:${port}`,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(route)}`,
  });
  const { url } = outside.service;
  const [sample] = sampleFiles();
  // Parquet files are in the storage, to which the hub redirects; it is on the loopback interface.
  hub.add({ id: 'org/stored', files: { 'train.parquet': sample!.make(PAGE_KINDS[0]!) } });
  hub.add({ id: 'org/direct', files: { 'train.jsonl': '{"q":"x"}\n' } });
  const found: string[] = [];
  hub.forget();
  for (let round = 0; round < 20; round++) {
    expect(outcomeOf(await preview('org/direct', {}, url))).toBe('200');
    const answer = await preview('org/stored', {}, url);
    expect(answer.body.detail).toMatch(/private address/);
    found.push(outcomeOf(answer));
  }
  expect(hub.requests.filter(({ origin }) => origin === 'storage')).toEqual([]);
  expect(tally(found)).toEqual({ '502 hub_bad_response': found.length });
  // A hub that is on a private address itself, as this one is for the other service, may.
  expect(outcomeOf(await preview('org/stored'))).toBe('200');
  report(context, {
    area: AREA,
    scenario: 'a hub on a public address that redirects to the loopback interface',
    expected: '502 without a connection',
    runs: found.length,
    observed: tally(found),
  });
});
