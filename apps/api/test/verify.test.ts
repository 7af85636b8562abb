import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import JSZip from 'jszip';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../packages/jsonl-v23/src/json/index.ts';
import { type Outcome, svcPkg } from '../../../packages/svc-pkg/test/run-svc-pkg.ts';
import { makePackage, uploadForm } from './make-package.ts';
import { startTestApi, type TestApi } from './start-test-api.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies have every shape
type Body = any;

let api: TestApi;
let folder: string;
let archive: Uint8Array<ArrayBuffer>;
let run: Body;
let baseline: Body;

beforeAll(async () => {
  api = await startTestApi();
  folder = await mkdtemp(join(tmpdir(), 'svc-verify-'));
  const datasetId = await dataset();
  baseline = await runOf(datasetId, 40, {});
  run = await runOf(datasetId, 33, {
    bar: { metric: 'mean', scorer: 'any', baseline: baseline.id, max_drop: 0.3, confidence: 0.9 },
  });
  const label = { verdict: 'fail', note: 'no', types: [] };
  await send('PUT', `/runs/${run.id}/results/one/0/1/label`, label, 200);
  archive = await exported(run.id, '?include_baseline=true');
});
afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function send(method: string, path: string, body: unknown, status: number): Promise<Body> {
  const type = typeof body === 'string' ? 'application/jsonl' : 'application/json';
  const response = await fetch(`${api.url}${path}`, {
    method,
    headers: { 'content-type': type },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const answer = (await response.json()) as Body;
  expect(response.status, JSON.stringify(answer)).toBe(status);
  return answer;
}

async function exported(id: string, query = ''): Promise<Uint8Array<ArrayBuffer>> {
  const response = await fetch(`${api.url}/runs/${id}/export${query}`);
  expect(response.status).toBe(200);
  return new Uint8Array(await response.arrayBuffer());
}

const ITEMS = 30;
const itemAt = (at: number): object => ({
  ...{ id: `q-${at}`, type: 'numeric', inputs: { prompt: `${at} + 1?` }, answer: String(at + 1) },
  meta: { passage: `p${at % 7}` },
});

async function dataset(): Promise<string> {
  const lines = Array.from({ length: ITEMS }, (_, at) => JSON.stringify(itemAt(at)));
  const files = {
    'sections/one.jsonl': lines.slice(0, 20).join('\n'),
    'sections/two.jsonl': lines.slice(20).join('\n'),
  };
  const body = uploadForm(await makePackage(files));
  const response = await fetch(`${api.url}/datasets/upload`, { method: 'POST', body });
  return ((await response.json()) as Body).id;
}

/** A run with three scorers, two tries of each item and clusters; its first outputs are right. */
async function runOf(datasetId: string, right: number, more: object): Promise<Body> {
  const config = {
    provider: { type: 'external', label: 'x' },
    scorers: [{ name: 'own' }, { name: 'any', checker: { type: 'includes' } }, { name: 'late' }],
    ...{ repetitions: 2, cluster_by: '/meta/passage' },
  };
  const created = await send('POST', '/runs', { dataset_id: datasetId, config, ...more }, 202);
  const lines = Array.from({ length: 2 * ITEMS }, (_, at) => {
    const item = Math.floor(at / 2);
    const place =
      item < 20 ? { section: 'one', order_index: item } : { section: 'two', order_index: item - 20 };
    const output = at < right ? `So it is ${item + 1}.` : 'I do not know.';
    const scores = { late: { score: (at % 4) / 4 } };
    const said = at === 59 ? { error: { code: 'lost', message: 'no' } } : { output, scores };
    return JSON.stringify({ ...place, repetition: (at % 2) + 1, finish_reason: 'stop', ...said });
  });
  await send('POST', `/runs/${created.id}/results`, lines.join('\n'), 200);
  return await send('POST', `/runs/${created.id}/finish`, {}, 200);
}

async function verify(of: Uint8Array, ...args: string[]): Promise<Outcome> {
  const path = join(folder, `${Math.random()}.pkg.zip`);
  await writeFile(path, of);
  return await svcPkg(['verify', path, '--json', ...args]);
}

type Files = Map<string, string>;

/** The package after an edit. @param isSealed whether the manifest states the checksums of the edited files */
async function edited(edit: (files: Files) => void, isSealed: boolean): Promise<Uint8Array> {
  const zip = await JSZip.loadAsync(archive);
  const files: Files = new Map();
  for (const path of Object.keys(zip.files)) files.set(path, (await zip.file(path)?.async('string')) ?? '');
  edit(files);
  const manifest = JSON.parse(files.get('manifest.json') ?? '');
  for (const file of isSealed ? manifest.files : []) {
    const bytes = Buffer.from(files.get(file.path) ?? '');
    Object.assign(file, {
      bytes: bytes.byteLength,
      sha256: createHash('sha256').update(bytes).digest('hex'),
    });
  }
  if (isSealed) files.set('manifest.json', `${canonicalJson(manifest)}\n`);
  const out = new JSZip();
  for (const [path, text] of files) out.file(path, text);
  return await out.generateAsync({ type: 'uint8array' });
}

describe('a package as the service writes it', () => {
  it('is proven: hashes, scores of checkers, statistics, verdict', async () => {
    const { exitCode, stdout, document } = await verify(archive, '--run-hash', run.run_hash);
    expect(document(), stdout).toEqual({
      ...{ run_hash: run.run_hash, scoring: 'svc-scoring-1', differing: [], differing_total: 0 },
      proven: {
        ...{ items: ITEMS, version_hash: 1, files: 8, scores: 118, statistics: 24, counts: 4, verdict: 1 },
        ...{ run_hash: 1, bar_hash: 1, known_run_hash: 1, baseline_run_hash: 1 },
      },
      trusted: { outputs: 59, client_scores: 59, labels: 2, sealed_at: 1, baseline_scores: 60 },
    });
    expect(exitCode).toBe(0);
  });

  it('is proven with its baseline in another package, and without it but for its verdict', async () => {
    const other = join(folder, 'baseline.pkg.zip');
    await writeFile(other, await exported(baseline.id));
    const alone = await exported(run.id);
    expect((await verify(alone, '--baseline', other)).document()).toMatchObject({
      ...{ differing_total: 0, proven: { verdict: 1, baseline_run_hash: 1 } },
    });
    const without = await verify(alone);
    expect(without.document()).toMatchObject({ differing_total: 0, trusted: { verdict: 1 } });
    expect(without.document<Body>().proven).not.toHaveProperty('verdict');
    expect(without.exitCode).toBe(0);
  });

  it('is proven where the run names no scorers', async () => {
    const config = { provider: { type: 'external', label: 'x' }, repetitions: 2 };
    const bar = { metric: 'pass_rate', at_least: 0.4 };
    const short = await runOf(run.dataset_id, 33, { bar, config });
    const { exitCode, document } = await verify(await exported(short.id), '--run-hash', short.run_hash);
    expect(document()).toMatchObject({ differing: [], proven: { scores: 59, statistics: 12, verdict: 1 } });
    expect(exitCode).toBe(0);
  });

  it('has no run', async () => {
    const response = await fetch(`${api.url}/datasets/${run.dataset_id}/export`);
    const { exitCode, document } = await verify(new Uint8Array(await response.arrayBuffer()));
    expect(document()).toMatchObject({ run_hash: null, proven: { items: ITEMS, version_hash: 1 } });
    expect(exitCode).toBe(0);
  });

  it('prints what it means for people', async () => {
    const path = join(folder, 'text.pkg.zip');
    await writeFile(path, archive);
    const { stdout } = await svcPkg(['verify', path]);
    expect(stdout).toContain(`run hash   ${run.run_hash}`);
    expect(stdout).toContain('rewritten consistently agrees with itself');
  });
});

const inJson =
  (path: string, change: (value: Body) => void) =>
  (files: Files): void => {
    const value = JSON.parse(files.get(path) ?? '');
    change(value);
    files.set(path, `${canonicalJson(value)}\n`);
  };
const inLine =
  (path: string, at: number, change: (value: Body) => void) =>
  (files: Files): void => {
    const lines = (files.get(path) ?? '').split('\n');
    const value = JSON.parse(lines[at] ?? '');
    change(value);
    lines[at] = canonicalJson(value);
    files.set(path, lines.join('\n'));
  };
const result = (at: number, change: (value: Body) => void) => inLine('results.jsonl', at, change);
const manifestRun = (change: (value: Body) => void) => inJson('manifest.json', ({ run }) => change(run));
const metaRun = (change: (value: Body) => void) => inJson('meta.json', ({ run }) => change(run));
const swapped =
  (path: string) =>
  (files: Files): void => {
    const [first = '', second = '', ...rest] = (files.get(path) ?? '').split('\n');
    files.set(path, [second, first, ...rest].join('\n'));
  };

/** Each with a place that must be named. The first ones leave the manifest as it was. */
const UNSEALED: [string, (files: Files) => void, string][] = [
  [
    'a byte of an item',
    (files) =>
      files.set('sections/one.jsonl', `${files.get('sections/one.jsonl')?.replace('0 + 1', '0 + 2')}`),
    'results.jsonl:1 /item_hash',
  ],
  [
    'a byte of an output',
    result(3, (line) => {
      line.output += '.';
    }),
    '/run_hash',
  ],
  [
    'a label',
    result(0, (line) => {
      line.labels[0].verdict = 'pass';
    }),
    '/sha256',
  ],
  [
    'a latency',
    result(5, (line) => {
      line.latency_ms = 1;
    }),
    '/files/3/bytes',
  ],
  [
    'a note of the dataset',
    inJson('meta.json', (meta) => {
      meta.notes = 'x';
    }),
    '/files/0/bytes',
  ],
  [
    'a mean',
    metaRun((meta) => {
      meta.scores.mean = 0.9;
    }),
    '/run/scores/mean',
  ],
  [
    'a line less',
    (files) => files.set('results.jsonl', `${files.get('results.jsonl')?.replace(/^.*\n/, '')}`),
    '/run/counts/done',
  ],
  [
    'a record of the baseline',
    inLine('baseline/results.jsonl', 0, (line) => {
      line.scores.any.score = 0;
    }),
    'baseline/run.json/run_hash',
  ],
  [
    'a checksum',
    inJson('manifest.json', (manifest) => {
      manifest.files[2].sha256 = 'a'.repeat(64);
    }),
    '/files/2/sha256',
  ],
  [
    'a size',
    inJson('manifest.json', (manifest) => {
      manifest.files[1].bytes += 1;
    }),
    '/files/1/bytes',
  ],
  ['a file less', (files) => void files.delete('run_config.json'), '/path'],
  [
    'the version hash',
    inJson('manifest.json', (manifest) => {
      manifest.version_hash = 'b'.repeat(64);
    }),
    '/version_hash',
  ],
  [
    'a count of items',
    inJson('manifest.json', (manifest) => {
      manifest.sections[0].item_count = 3;
    }),
    '/item_count',
  ],
  [
    'a hash of a section',
    inJson('manifest.json', (manifest) => {
      manifest.sections[1].section_hash = 'c'.repeat(64);
    }),
    '/section_hash',
  ],
];

/** The manifest states the checksums of what was edited: what is named is recomputed. */
const SEALED: [string, (files: Files) => void, string][] = [
  [
    'an answer',
    inLine('sections/one.jsonl', 0, (item) => {
      item.answer = '9';
    }),
    'results.jsonl:1 /item_hash',
  ],
  [
    'a prompt',
    inLine('sections/two.jsonl', 4, (item) => {
      item.inputs.prompt += '?';
    }),
    'results.jsonl:49 /item_hash',
  ],
  ['the order of items', swapped('sections/one.jsonl'), 'results.jsonl:1 /item_hash'],
  [
    'an output that is right now',
    result(40, (line) => {
      line.output = 'It is 21.';
    }),
    'results.jsonl:41 /scores/own/score',
  ],
  [
    'an output that scores alike',
    result(0, (line) => {
      line.output = 'It is 1.';
    }),
    '/run_hash',
  ],
  [
    'a score of the main scorer',
    result(40, (line) => {
      line.scores.own.score = 1;
    }),
    'results.jsonl:41 /scores/own/score',
  ],
  [
    'the main score of a result',
    result(41, (line) => {
      line.score = 1;
    }),
    'results.jsonl:42 /score',
  ],
  [
    'whether a result has passed',
    result(2, (line) => {
      line.scores.any.passed = false;
    }),
    'results.jsonl:3 /scores/any/passed',
  ],
  [
    'what gave a score',
    result(2, (line) => {
      line.scores.any.scored_by = 'client';
    }),
    '/run_hash',
  ],
  [
    'an explanation',
    result(6, (line) => {
      line.scores.own.explanation = 'Read 7.';
    }),
    'results.jsonl:7 /scores/own/explanation',
  ],
  [
    'a score from outside',
    result(7, (line) => {
      line.scores.late.score = 1;
    }),
    '/run/scorers/late/mean',
  ],
  ['a status', result(8, (line) => Object.assign(line, { status: 'unscored' })), 'results.jsonl:9 /score'],
  [
    'a reason to end',
    result(9, (line) => {
      line.finish_reason = 'length';
    }),
    'results.jsonl:10 /truncated',
  ],
  [
    'usage',
    result(10, (line) => {
      line.usage = { total_tokens: 1 };
    }),
    '/run_hash',
  ],
  [
    'reasoning',
    result(10, (line) => {
      line.reasoning = 'hm';
    }),
    '/run_hash',
  ],
  [
    'an error',
    result(59, (line) => {
      line.error.message = 'other';
    }),
    '/run_hash',
  ],
  [
    'the id of an item',
    result(11, (line) => {
      line.item_id = 'q-1';
    }),
    'results.jsonl:12 /item_id',
  ],
  [
    'the hash of an item',
    result(11, (line) => {
      line.item_hash = 'd'.repeat(64);
    }),
    'results.jsonl:12 /item_hash',
  ],
  ['the order of results', swapped('results.jsonl'), 'results.jsonl:2'],
  [
    'a repetition',
    result(1, (line) => {
      line.repetition = 3;
    }),
    'results.jsonl:2 /repetition',
  ],
  [
    'a standard error',
    metaRun((meta) => {
      meta.scores.stderr *= 0.999;
    }),
    '/run/scores/stderr',
  ],
  [
    'an interval',
    metaRun((meta) => {
      meta.scorers.any.ci95[0] += 1e-6;
    }),
    '/run/scorers/any/ci95',
  ],
  [
    'an interval of a share',
    metaRun((meta) => {
      meta.scores.pass_rate_ci95[1] = 1;
    }),
    '/run/scores/pass_rate_ci95',
  ],
  [
    'passed results',
    metaRun((meta) => {
      meta.scores.passed += 1;
    }),
    '/run/scores/passed',
  ],
  [
    'a pass rate',
    metaRun((meta) => {
      meta.scorers.own.pass_rate = 1;
    }),
    '/run/scorers/own/pass_rate',
  ],
  [
    'a count of results',
    metaRun((meta) => {
      meta.counts.failed = 0;
    }),
    '/run/counts/failed',
  ],
  [
    'the total',
    metaRun((meta) => {
      meta.counts.total = 59;
    }),
    '/run/counts/total',
  ],
  [
    'a scorer less',
    metaRun((meta) => {
      delete meta.scorers.late;
    }),
    '/run/scorers/late',
  ],
  [
    'a scorer more',
    metaRun((meta) => {
      meta.scorers.new = meta.scorers.own;
    }),
    '/run/scorers/new/mean',
  ],
  [
    'the bar',
    inJson('bar.json', (bar) => {
      bar.max_drop = 0.01;
    }),
    '/run/bar_hash',
  ],
  [
    'the bar and its hash',
    (files) => {
      inJson('bar.json', (bar) => {
        bar.max_drop = 0.01;
      })(files);
      const text = `svc-bar-1\n${files.get('bar.json')?.trimEnd()}`;
      manifestRun((of) => {
        of.bar_hash = createHash('sha256').update(text).digest('hex');
      })(files);
    },
    '/run_hash',
  ],
  [
    'the bar, taken away',
    (files) => {
      files.delete('bar.json');
      inJson('manifest.json', (of) => {
        of.files = of.files.filter(({ path }: Body) => path !== 'bar.json');
      })(files);
      manifestRun((of) => {
        of.bar_hash = null;
      })(files);
    },
    '/run_hash',
  ],
  [
    'the outcome',
    metaRun((meta) => {
      meta.verdict.outcome = 'not_met';
    }),
    '/run/verdict/outcome',
  ],
  [
    'the interval of the verdict',
    metaRun((meta) => {
      meta.verdict.ci[0] = -0.01;
    }),
    '/run/verdict/ci',
  ],
  [
    'outputs before the bar',
    metaRun((meta) => {
      meta.verdict.outputs_before = 0;
    }),
    '/outputs_before',
  ],
  [
    'the verdict, taken away',
    metaRun((meta) => {
      meta.verdict = null;
    }),
    '/run/verdict/outcome',
  ],
  [
    'the configuration',
    inJson('run_config.json', (config) => {
      config.scorers[1].checker.type = 'exact_match';
    }),
    '/run_hash',
  ],
  [
    'the clusters',
    inJson('run_config.json', (config) => {
      delete config.cluster_by;
    }),
    '/run/scores/stderr',
  ],
  [
    'the hash of the run',
    manifestRun((of) => {
      of.run_hash = 'e'.repeat(64);
    }),
    '/run/run_hash',
  ],
  [
    'the version of the run',
    manifestRun((of) => {
      of.dataset_version_hash = 'f'.repeat(64);
    }),
    '/run/dataset_version_hash',
  ],
  [
    'the number of results',
    manifestRun((of) => {
      of.results = 7;
    }),
    '/run/results',
  ],
  [
    'a score of the baseline',
    inLine('baseline/results.jsonl', 40, (line) => {
      line.scores.any.score = 0.5;
    }),
    'baseline/run.json/run_hash',
  ],
  [
    'the name of the baseline',
    inJson('baseline/run.json', (of) => {
      of.id = run.id;
    }),
    'baseline/run.json/id',
  ],
];

describe('a package that was edited', () => {
  it.each([
    ['the baseline is no JSON', (files: Files) => files.set('baseline/run.json', '{'), 'baseline/'],
    [
      'a configuration asks for more than runs may have',
      inJson('run_config.json', (config) => Object.assign(config, { repetitions: 1e9 })),
      '/run_hash',
    ],
  ])('is read within limits where %s', async (_, edit, place) => {
    const { exitCode, stdout } = await verify(await edited(edit, true));
    expect(stdout).toContain(place);
    expect(exitCode).toBe(10);
  });

  it.each([
    ...UNSEALED.map(([...one]) => [...one, false] as const),
    ...SEALED.map(([...one]) => [...one, true] as const),
  ])('%s is named', async (_, edit, place, isSealed) => {
    const { exitCode, document, stdout } = await verify(await edited(edit, isSealed));
    const { differing } = document<{ differing: { place: string }[] }>();
    expect(
      differing.some((one) =>
        one.place.replace('json /', 'json/').includes(place.replace('json /', 'json/')),
      ),
      stdout,
    ).toBe(true);
    expect(exitCode).toBe(10);
  });

  it('agrees with itself where it was rewritten consistently, but not with a known hash', async () => {
    const { exitCode, document } = await verify(archive, '--run-hash', baseline.run_hash);
    expect(document()).toMatchObject({ differing: [{ place: '--run-hash', recorded: baseline.run_hash }] });
    expect(exitCode).toBe(10);
  });

  it('of unknown scoring is verified without its scores', async () => {
    const unknown = await edited((files) => {
      manifestRun((of) => {
        of.scoring = 'svc-scoring-9';
      })(files);
      metaRun((of) => {
        of.scoring = 'svc-scoring-9';
      })(files);
    }, true);
    const refused = await verify(unknown);
    expect(refused).toMatchObject({ exitCode: 10 });
    expect(refused.document()).toMatchObject({ scoring: 'svc-scoring-9', differing_total: 0 });
    expect(refused.document<Body>().proven).not.toHaveProperty('scores');
    expect(await verify(unknown, '--allow-unknown-scoring')).toMatchObject({ exitCode: 0 });
  });

  it('and broken, or no package, ends with 3', async () => {
    const broken = Uint8Array.from(archive);
    broken.fill(0, broken.length >> 1, (broken.length >> 1) + 64);
    expect(await verify(broken)).toMatchObject({ exitCode: 3 });
    expect(await verify(Buffer.from('text'))).toMatchObject({ exitCode: 3 });
  });
});
