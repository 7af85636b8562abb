import { existsSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FakeHub, startFakeHub } from '../../../../packages/hub-client/test/fake-hub.ts';
import { DuckDb } from '../../../../packages/tabular/test/duckdb.ts';
import { IS_LONG, times } from '../../../../tools/vitest/long.ts';
import { report, tally } from './report.ts';
import type { ServiceProcess } from './run-service.ts';
import { type OwnService, startService } from './start-service.ts';
import { ask, outcomeOf, type ServiceResponse } from './stored-datasets.ts';

/** Small tables that a mapping makes large. */

const AREA = 'Security review';
const MIB = 1024 * 1024;
const ROWS = 10_000;
/** Longest pause of the main thread: many times that of a busy machine, and a fraction of that with unbounded batches. */
const MAX_STANDSTILL_SECONDS = 2;
const MAX_MEMORY_BYTES = 1024 * MIB;

let hub: FakeHub;
let own: OwnService;
let service: ServiceProcess;
beforeAll(async () => {
  hub = await startFakeHub();
  hub.add({ id: 'org/tiny', files: { 'data.csv': TINY } });
  own = await startService({ HUB_ENDPOINT: hub.endpoint });
  service = own.service;
});
afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
  await hub?.close();
});

const TINY = `a,b\n${'1,2\n'.repeat(ROWS)}`;

function upload(
  content: string | Uint8Array,
  mapping: object,
  query = '?dry_run=true',
  format = 'csv',
): Promise<ServiceResponse> {
  const form = new FormData();
  form.append('mapping', JSON.stringify(mapping));
  form.append('format', format);
  form.append('file', new Blob([content as Uint8Array<ArrayBuffer>]), 'table');
  return ask(`${service.url}/datasets/upload${query}`, { method: 'POST', body: form });
}

const importHub = (mapping: object): Promise<ServiceResponse> =>
  ask(`${service.url}/datasets/hub/import?dry_run=true`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'x', config: { path: 'org/tiny', split: 'train' }, mapping }),
  });

/** The longest standstill of the service's main thread since this was last asked, as it measures itself. */
async function standstillSeconds(): Promise<number> {
  const { text } = await ask(`${service.url}/metrics`);
  return Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(text)?.[1]);
}

/** The most memory that the service has had; 0 where the system does not say. */
function peakBytes(): number {
  const path = `/proc/${service.child.pid}/status`;
  if (!existsSync(path)) return 0;
  return 1024 * Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(path, 'utf8'))?.[1]);
}

/** Does something, after which the service must neither have stood still nor have taken much memory. */
async function expectCalm(name: string, work: () => Promise<ServiceResponse>): Promise<string> {
  await standstillSeconds();
  const response = await work();
  const outcome = outcomeOf(response);
  expect([name, await standstillSeconds()]).toEqual([
    name,
    expect.toSatisfy((seconds) => seconds < MAX_STANDSTILL_SECONDS),
  ]);
  expect([name, peakBytes()]).toEqual([name, expect.toSatisfy((bytes) => bytes < MAX_MEMORY_BYTES)]);
  return outcome;
}

const KIB_60 = 'x'.repeat(60_000);
const CONSTANTS: readonly (readonly [string, object])[] = [
  ['checker', { prompt_column: 'b', checker: { type: 'regex', pattern: KIB_60 } }],
  ['tags', { prompt_column: 'b', tags: [KIB_60] }],
  ['prompt_template', { prompt_template: `${KIB_60}{b}` }],
  ['system_prompt_template', { prompt_column: 'b', system_prompt_template: `${KIB_60}{a}` }],
  ['default_type', { prompt_column: 'b', default_type: 'x'.repeat(1000) }],
  ['meta_columns', { prompt_column: 'b', meta_columns: { [KIB_60]: 'a' } }],
];

/** One constant that is too large, and one that is too small to count. */
const IN_SHORT_FORM: ReadonlySet<string> = new Set(['checker', 'default_type']);

it('tiny rows with large constants do not stop the service', { timeout: 600_000 }, async (context) => {
  const found: string[] = [];
  for (const [name, mapping] of CONSTANTS) {
    // both ways map rows with the same code
    const ways = [
      ['form', () => upload(TINY, mapping)],
      ['hub', () => importHub(mapping)],
    ] as const;
    if (!IS_LONG && !IN_SHORT_FORM.has(name)) continue;
    for (const [way, work] of IS_LONG || name === 'checker' ? ways : ways.slice(0, 1)) {
      const outcome = await expectCalm(`${name}, ${way}`, work);
      expect([name, way, outcome]).toEqual([
        name,
        way,
        name === 'default_type' ? '200' : '400 package_limit',
      ]);
      found.push(outcome);
    }
  }
  const tooLong = { prompt_column: 'a', checker: { x: 'y'.repeat(900_000) } };
  found.push(await expectCalm('checker of 900 kB', () => importHub(tooLong)));
  expect(found.at(-1)).toBe('400 invalid_request');
  report(context, {
    area: AREA,
    scenario: `dry runs of a table of ${ROWS} tiny rows whose mapping adds 60 kB to every item, uploaded and from the hub`,
    expected: '400 past 64 MiB of items; the main thread and memory stay free',
    runs: found.length,
    observed: tally(found),
  });
});

it('small files do not become gigabytes of items', { timeout: 600_000 }, async (context) => {
  const manyPlaces = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`k${n}`, 'a']));
  const long = `a\n${`${'x'.repeat(62_000)}\n`.repeat(60)}`;
  const cases: readonly (readonly [string, () => Promise<ServiceResponse>])[] = [
    ['400 invalid_request', () => upload(long, { prompt_template: '{a}'.repeat(1000) }, '')],
    ['400 invalid_request', () => upload(long, { prompt_column: 'a', meta_columns: manyPlaces }, '')],
    ['400 package_limit', () => upload(gzipSync(long), { prompt_template: '{a}'.repeat(20) }, '')],
    [
      '400 package_limit',
      () => upload(gzipSync(`a,b\n${'1,2\n'.repeat(3_000_000)}`), { prompt_column: 'a' }),
    ],
  ];
  const found: string[] = [];
  // what is refused before a row is read, and one table whose rows are too many
  for (const [expected, work] of cases.slice(0, times(cases.length, 3))) {
    found.push(await expectCalm(expected, work));
    expect(found.at(-1)).toBe(expected);
  }
  expect((await ask(`${service.url}/datasets`)).body.data).toEqual([]);
  report(context, {
    area: AREA,
    scenario: 'imports of small files that a mapping or their compression makes very large',
    expected: '400, and nothing is stored',
    runs: found.length,
    observed: tally(found),
  });
});

it('Parquet files of very many equal rows end soon', { timeout: 600_000 }, async (context) => {
  await using duckDb = await DuckDb.open();
  const options = 'compression zstd, row_group_size 2000000';
  const repeated = await duckDb.write(`select 'x' as a from range(2000000)`, options);
  const nulls = await duckDb.write(
    `select null::varchar as a from range(${times(20_000_000, 4_000_000)})`,
    options,
  );
  expect(repeated.byteLength + nulls.byteLength).toBeLessThan(100_000);
  const cases: readonly (readonly [string, Uint8Array, object])[] = [
    ['one value', repeated, { prompt_column: 'a' }],
    ['nulls', nulls, { prompt_template: 'x', meta_columns: ['a'] }],
    ['nulls that are skipped', nulls, { prompt_column: 'a', invalid_rows: 'skip' }],
    ['no column', nulls, { prompt_template: 'x' }],
  ];
  const found: string[] = [];
  for (const [name, content, mapping] of cases) {
    // those that are skipped are read as well
    if (!IS_LONG && name !== 'nulls that are skipped') continue;
    found.push(await expectCalm(name, () => upload(content, mapping, '?dry_run=true', 'parquet')));
    expect([name, found.at(-1)]).toEqual([name, '400 package_limit']);
  }
  report(context, {
    area: AREA,
    scenario: 'dry runs of Parquet files of some kB with 2 and 20 million rows',
    expected: '400 past 64 MiB of items, also where rows are skipped',
    runs: found.length,
    observed: tally(found),
  });
});
