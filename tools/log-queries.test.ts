import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runWithContext } from '../packages/observability/src/index.ts';
import { createLogger, EVENTS } from '../packages/service/src/index.ts';

const page = readFileSync(new URL('../docs/logs.md', import.meta.url), 'utf8');
const blocks = (language: string): string[] =>
  [...page.matchAll(new RegExp(`\\n\`\`\`${language}\\n(.*)\\n\`\`\``, 'g'))].map(([, text = '']) => text);

const RUN = '018f0000-0000-7000-8000-000000000001';
const DATASET = '018f0000-0000-7000-8000-000000000002';
const folder = mkdtempSync(join(tmpdir(), 'svc-logs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The log of an API and a worker, written by the real logger. */
beforeAll(async () => {
  const lines: string[] = [];
  const options = { now: () => new Date('2026-01-01T00:00:00Z'), write: (line: string) => lines.push(line) };
  const api = createLogger({ service: 'svc-api', ...options });
  const worker = createLogger({ service: 'svc-worker', ...options });
  const logRequest = (route: string, status_code: number, duration_ms: number): void =>
    api.log('http.request', { method: 'GET', route, status_code, duration_ms, bytes_in: 0, bytes_out: 9 });
  api.log('server.start', { host: '127.0.0.1', port: 8080, version: '0.1.0' });
  await runWithContext({ request_id: 'client-6' }, async () => {
    api.log('dataset.import.start', { source: 'pkg_zip', bytes: 5 });
    api.log('dataset.import.fail', {
      source: 'pkg_zip',
      outcome: 'failed',
      code: 'package_invalid_line',
      place: 'sections/a.jsonl:7:12',
      duration_ms: 3,
    });
    logRequest('/datasets/upload', 400, 5);
  });
  await runWithContext({ request_id: 'client-7' }, async () => {
    api.log('dataset.import.finish', {
      source: 'hub',
      dataset_id: DATASET,
      version_hash: 'f'.repeat(64),
      section_count: 1,
      item_count: 3000,
      asset_count: 0,
      bytes: 1_000_000,
      duration_ms: 1500,
    });
    logRequest('/datasets/hub/import', 201, 1502.25);
  });
  await runWithContext({ request_id: 'client-8', run_id: RUN, job_id: RUN }, async () => {
    worker.log('worker.run.start', { dataset_id: DATASET, attempt: 1 });
    for (const reason of ['rate_limited', 'timeout', 'timeout']) {
      const fields = { host: 'api.example.com', model: 'm', status_code: null, attempt: 1, delay_ms: 500 };
      worker.log('provider.retry', { ...fields, reason });
    }
    worker.log('worker.run.finish', { status: 'completed', ok: 9, failed: 1, unscored: 0, duration_ms: 40 });
  });
  await runWithContext({ request_id: 'client-9', job_id: RUN }, async () => {
    worker.log('job.recover', { kind: 'run', attempt: 2 });
  });
  await runWithContext({ request_id: 'client-9' }, async () => {
    api.log('dataset.export.finish', { dataset_id: DATASET, bytes: 700, duration_ms: 3, complete: true });
    api.log('dataset.export.finish', { dataset_id: DATASET, bytes: 42, duration_ms: 3, complete: false });
    api.log('error.internal', {
      error: new TypeError('x is not a function'),
      method: 'GET',
      route: '/datasets',
    });
    logRequest('/datasets', 500, 2);
    logRequest('/datasets', 500, 1);
  });
  writeFileSync(join(folder, 'svc.log'), lines.join(''));
});

const TIME = '2026-01-01T00:00:00.000Z';
const found = [
  [
    expect.stringMatching(/"event":"dataset.import.finish".*"request_id":"client-7"/),
    expect.stringMatching(/"event":"http.request"/),
  ],
  ['{"request_id":"client-7","route":"/datasets/hub/import","status_code":201,"duration_ms":1502.25}'],
  [`${TIME}\terror.internal\tTypeError\tx is not a function`],
  ['2\t/datasets\t500', '1\t/datasets/hub/import\t201', '1\t/datasets/upload\t400'],
  [`${TIME}\tpkg_zip\tpackage_invalid_line\tsections/a.jsonl:7:12`],
  [`${DATASET}\t3000\t2000`],
  [
    `{"timestamp":"${TIME}","event":"worker.run.start","attempt":1,"status":null,"ok":null,"failed":null,"code":null}`,
    `{"timestamp":"${TIME}","event":"worker.run.finish","attempt":null,"status":"completed","ok":9,"failed":1,"code":null}`,
  ],
  ['1\tprovider.retry\trate_limited', '2\tprovider.retry\ttimeout'],
];

type Labels = Readonly<Record<string, string>>;

/** The labels that Loki's `json` stage extracts: nested members joined with `_`, without lists. */
function labelsOf(line: string): Record<string, string> {
  const labels: Record<string, string> = {};
  const add = (value: object, prefix: string): void => {
    for (const [key, member] of Object.entries(value)) {
      if (Array.isArray(member) || member === null) continue;
      if (typeof member === 'object') add(member, `${prefix}${key}_`);
      else labels[prefix + key] = String(member);
    }
  };
  add(JSON.parse(line), '');
  return labels;
}

/**
 * What a query of the page selects of a log: the part of LogQL that the page uses. Lines as `line_format` writes them; of
 * an aggregation, group → the values that it is made of.
 */
function askLoki(query: string, log: readonly string[]): unknown {
  const [, pipeline = ''] = /\{app="svc"\}(.*?)(?:\[\w+\].*)?$/.exec(query) ?? [];
  let lines: { text: string; labels: Labels }[] = log.map((text) => ({ text, labels: { app: 'svc' } }));
  for (const stage of pipeline
    .split('|')
    .slice(1)
    .map((one) => one.trim())) {
    const [, operator, value = ''] = /^(=) "(.*)"$/.exec(stage) ?? [];
    const [, label = '', wanted] = /^(\w+)="(.*)"$/.exec(stage) ?? [];
    const [, format] = /^line_format "(.*)"$/.exec(stage) ?? [];
    const [, field] = /^unwrap (\w+)$/.exec(stage) ?? [];
    if (operator !== undefined) lines = lines.filter(({ text }) => text.includes(value));
    else if (stage === 'json') lines = lines.map(({ text }) => ({ text, labels: labelsOf(text) }));
    else if (wanted !== undefined) lines = lines.filter(({ labels }) => labels[label] === wanted);
    else if (format !== undefined) {
      const fill = (labels: Labels): string =>
        format.replaceAll(/\{\{\.(\w+)\}\}/g, (_, name) => labels[name] ?? '');
      lines = lines.map(({ labels }) => ({ text: fill(labels), labels }));
    } else if (field !== undefined)
      lines = lines.map(({ labels }) => ({ text: labels[field] ?? '', labels }));
    else throw new Error(`this test does not know the stage ${stage}`);
  }
  if (query.startsWith('{')) return lines.map(({ text }) => text);
  const by = /\bby \((\w+)\)/.exec(query)?.[1] ?? '';
  const groups = Map.groupBy(lines, ({ labels }) => labels[by] ?? '');
  return Object.fromEntries(
    [...groups].map(([group, ones]) => [
      group,
      /\| unwrap /.test(query) ? ones.map(({ text }) => Number(text)) : ones.length,
    ]),
  );
}

const lokiResults = [
  [
    expect.stringMatching(/"event":"dataset.import.finish".*"request_id":"client-7"/),
    expect.stringMatching(/"event":"http.request"/),
  ],
  ['error.internal  x is not a function'],
  { '/datasets/upload': 1, '/datasets/hub/import': 1, '/datasets': 2 },
  { '/datasets/upload': [5], '/datasets/hub/import': [1502.25], '/datasets': [2, 1] },
  { package_invalid_line: 1 },
  { '': [700, 42] },
  [`run ${RUN}, attempt 2`],
];

describe('docs/logs.md', () => {
  const log = (): string[] => readFileSync(join(folder, 'svc.log'), 'utf8').trimEnd().split('\n');

  it('has the Loki examples that this test runs', () => {
    expect(blocks('logql')).toHaveLength(lokiResults.length);
  });

  it.each(blocks('logql').map((query, index) => [query, index] as const))(
    'finds in real log lines what it says: %s',
    (query, index) => {
      expect(askLoki(query, log())).toEqual(lokiResults[index]);
    },
  );

  it('lists no event that is never logged', () => {
    const sources = [
      'apps/api/src',
      'apps/worker/src',
      'apps/standalone/src',
      'packages/service/src/config',
      'packages/service/src/flows',
      'packages/service/src/http',
      'packages/service/src/lifecycle',
    ]
      .flatMap((path) => {
        const at = fileURLToPath(new URL(`../${path}`, import.meta.url));
        return readdirSync(at, { recursive: true, encoding: 'utf8' })
          .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
          .map((name) => readFileSync(join(at, name), 'utf8'));
      })
      .join('\n');
    expect(Object.keys(EVENTS).filter((event) => !sources.includes(`'${event}'`))).toEqual([]);
  });

  const queries = blocks('sh');

  it('has the jq examples that this test runs', () => {
    expect(queries).toHaveLength(found.length);
  });

  const programs = spawnSync('sh', ['-c', 'jq --version']).status === 0;
  it.for(queries.map((query, index) => [query, index] as const))('%s', ([query, index], { skip }) => {
    if (!programs) skip('jq is not installed');
    const { status, stdout, stderr } = spawnSync('sh', ['-c', query], { cwd: folder, encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout.trimEnd().split('\n')).toEqual(found[index]);
  });

  it.each(blocks('logql'))('asks Loki for events and fields that exist: %s', (query) => {
    const event = /event="([^"]+)"/.exec(query)?.[1];
    const fields = new Set([
      'timestamp',
      'level',
      'service',
      'event',
      'request_id',
      'actor',
      'run_id',
      'job_id',
    ]);
    // json makes one label of each nested member: error.code becomes error_code
    for (const name of ['name', 'code', 'message', 'stack']) fields.add(`error_${name}`);
    if (event !== undefined) {
      expect(Object.keys(EVENTS)).toContain(event);
      for (const field of Object.keys(EVENTS[event as keyof typeof EVENTS].fields)) fields.add(field);
    }
    const asked = [...query.matchAll(/\bby \((\w+)\)|\bunwrap (\w+)|\{\{\.(\w+)\}\}|\|\s+(\w+)="/g)].map(
      (match) => match.slice(1).find((name) => name !== undefined),
    );
    expect(asked.length).toBeGreaterThan(0);
    for (const field of asked) expect([...fields]).toContain(field);
  });
});
