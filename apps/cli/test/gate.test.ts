import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importItems } from '../../../packages/service/test/store/import-items.ts';
import { type Outcome, svcPkg } from '../../../packages/svc-pkg/test/run-svc-pkg.ts';
import { until } from '../../../tools/vitest/until.ts';
import { type FakeProvider, type Reply, startFakeProvider } from '../../worker/test/fake-provider.ts';
import { runEnded, startTestService, type TestService } from '../../worker/test/start-test-service.ts';

/** The program as it is installed: the build. */
const MAIN = fileURLToPath(new URL('../../../packages/svc-pkg/dist/main.js', import.meta.url));
const UNKNOWN = '0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d';

let cleanUp: AsyncDisposableStack;
let service: TestService;
let provider: FakeProvider;
let folder: string;
let datasetId: string;
/** Id of the run with the labels `baseline` and `steady`, without the faults of the easy section. */
let baseline: string;
/** What the model answers; tests change it. */
let reply: (number: number, prompt: string) => Reply;

const EASY = 40;
const HARD = 20;
/** Questions of two sections; the answer is the number. */
const item = (number: number, prompt = `Number ${number}?`): string =>
  JSON.stringify({ id: `q${number}`, type: 'exact', inputs: { prompt }, answer: String(number) });
const sectionOf = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => item(from + index));

const right = (number: number): Reply => ({ text: String(number) });
const wrong: Reply = { text: 'I do not know' };
/** The baseline knows four of five. */
const usual = (number: number): Reply => (number % 5 === 0 ? wrong : right(number));

const config = (more: object = {}): object => ({
  provider: { type: 'openai_compatible', base_url: provider.baseUrl, model: 'm' },
  max_retries: 0,
  ...more,
});
/** The configuration as `--config -` reads it. */
const gate = (argv: readonly string[], more: object = {}, of = datasetId): Promise<Outcome> =>
  svcPkg(['gate', of, '--config', '-', '--max-drop', '0.02', '--api-url', service.url, ...argv], {
    stdin: Readable.from([Buffer.from(JSON.stringify(config(more)))]),
  });

/** A gate that continues with a run. */
const judged = (id: string, argv: readonly string[], env = {}): Promise<Outcome> => {
  const options = ['--run', id, '--max-drop', '0.02', '--api-url', service.url];
  return svcPkg(['gate', datasetId, ...options, ...argv], { env });
};

async function run(more: object = {}, dataset_id = datasetId): Promise<string> {
  const { status, body } = await service.post('/runs', { dataset_id, config: config(more) });
  expect(status, JSON.stringify(body)).toBe(202);
  await runEnded(service, body.id);
  return body.id;
}

beforeAll(async () => {
  cleanUp = new AsyncDisposableStack();
  service = cleanUp.use(await startTestService());
  provider = cleanUp.use(
    await startFakeProvider((prompt) => reply(Number(/Number (\d+)/.exec(prompt)?.[1]), prompt)),
  );
  folder = await mkdtemp(join(tmpdir(), 'svc-gate-'));
  cleanUp.defer(() => rm(folder, { recursive: true }));
  const sections = { easy: sectionOf(0, EASY), hard: sectionOf(EASY, HARD) };
  datasetId = (await importItems(service.store.datasets, sections)).id;
  reply = usual;
  const older = await run();
  baseline = await run();
  for (const id of [older, baseline]) await service.patch(`/runs/${id}`, { labels: ['baseline'] });
});
afterAll(() => cleanUp.disposeAsync());

const at = (name: string): string => join(folder, name);
const document = (outcome: Outcome) => {
  expect(outcome.stderr).toBe('');
  return outcome.document<{
    verdict: string;
    reason: string;
    exit_code: number;
    run: { id: string };
    baseline: object;
    sight: { detectable: number; correlation: number; measured_with: string | null } | null;
    cases: {
      scorer: string;
      section: string | null;
      verdict: string;
      interval: [number, number] | null;
      paired: number;
      mean_difference: number;
      worse_items: { item_id: string; question?: string; output?: string; baseline_output?: string }[];
    }[];
    warnings: string[];
  }>();
};

it('says before the run what it can see, then that equal runs are not worse', async () => {
  reply = usual;
  const outcome = await gate(['--baseline', 'baseline']);
  expect(outcome.stderr).toMatch(
    new RegExp(
      `^With 60 items you will see a drop of \\d+ points; 2 points need [\\d,]+ \\(power 0\\.8, variance of ${baseline}, correlation 0\\.5 assumed\\)\nRun \\S+ is queued\n$`,
    ),
  );
  expect(outcome.stdout).toMatch(/^verdict +not worse$/m);
  expect(outcome.stdout).toMatch(/^95 % interval +0 to 0 points$/m);
  expect(outcome.stdout).toMatch(new RegExp(`^baseline +${baseline} \\(label baseline\\)$`, 'm'));
  expect(outcome.exitCode).toBe(0);
});

it('seals the drop before the run, and shows the hash and the bar in every form', async () => {
  reply = (number) => (number >= EASY + 4 ? wrong : usual(number));
  const files = ['--junit', at('seal.xml'), '--summary', at('seal.md')];
  const outcome = await gate(['--baseline', baseline, '--seal', '--json', ...files]);
  const { run } = document(outcome);
  const { body: ended } = await service.get(`/runs/${run.id}`);
  expect(ended.bar).toEqual({ metric: 'mean', baseline, max_drop: 0.02, confidence: 0.95 });
  expect(ended.verdict).toMatchObject({ outcome: 'not_met', outputs_before: 0, sealed_at: ended.created_at });
  expect(outcome.document()).toMatchObject({
    run: { run_hash: ended.run_hash },
    sealed: { hash: ended.bar_hash, ...ended.verdict },
  });
  const junit = await readFile(at('seal.xml'), 'utf8');
  expect(junit).toContain(`<property name="run_hash" value="${ended.run_hash}"/>`);
  expect(junit).toContain('<property name="bar_outcome" value="not_met"/>');
  const summary = await readFile(at('seal.md'), 'utf8');
  expect(summary).toContain(`- Sealed bar: not met, sealed at ${ended.created_at}, 0 outputs may be older`);
  expect(summary).toContain(`- Run hash: \`${ended.run_hash}\``);
  const response = await fetch(`${service.url}/runs/${run.id}/export?include_baseline=true`);
  await writeFile(at('seal.pkg.zip'), new Uint8Array(await response.arrayBuffer()));
  const proof = await svcPkg(['verify', at('seal.pkg.zip'), '--run-hash', ended.run_hash, '--json']);
  expect(proof.document()).toMatchObject({ differing: [], proven: { scores: EASY + HARD, verdict: 1 } });
  expect(await judged(run.id, ['--baseline', baseline, '--seal'])).toMatchObject({ exitCode: 2 });
  const again = await judged(run.id, ['--baseline', baseline, '--json']);
  expect(again.document()).toMatchObject({ verdict: 'worse', sealed: { hash: ended.bar_hash } });
});

it('says worse where the interval lies below the allowed drop, in each section and scorer', async () => {
  reply = (number) => (number >= EASY + 4 ? wrong : usual(number));
  const files = ['--junit', at('worse.xml'), '--summary', at('worse.md')];
  const outcome = await gate(['--baseline', baseline, '--json', ...files]);
  expect(outcome.exitCode).toBe(10);
  const found = document(outcome);
  expect(found).toMatchObject({ verdict: 'worse', exit_code: 10, warnings: [] });
  expect(found.cases.map(({ section, verdict, paired }) => [section, verdict, paired])).toEqual([
    [null, 'worse', 60],
    ['hard', 'worse', HARD],
    ['easy', 'not_worse', EASY],
  ]);
  // 13 of 16 items are wrong that were right
  expect(found.cases[0]?.mean_difference).toBeCloseTo(-13 / 60, 12);
  expect(found.cases[0]?.worse_items).toHaveLength(13);
  expect(found.cases[0]?.worse_items[0]).toEqual({
    ...{ section: 'hard', order_index: 4, item_id: 'q44', baseline_score: 1, score: 0 },
    ...{ question: 'Number 44?', expected: '44', baseline_output: '44', output: 'I do not know' },
  });
  // Of two further cases each interval is wider: by 2.2414 / 1.96, the normal quantiles for errors of 1.25 % and 2.5 %.
  const { body: compared } = await service.get(`/runs/${baseline}/compare/${found.run.id}`);
  const { mean_difference: difference, ci95 } = compared.by_section.hard;
  const wider = difference + (ci95[1] - difference) * 1.14358;
  expect(found.cases[1]?.interval?.[1]).toBeCloseTo(wider, 4);
  expect(found.cases[0]?.interval).toEqual(compared.ci95);
  expect(await readFile(at('worse.xml'), 'utf8')).toContain('tests="3" failures="2" errors="0" skipped="0"');
  expect(await readFile(at('worse.md'), 'utf8')).toContain('  - now: `I do not know`');

  // the next gate knows how much runs differ
  reply = usual;
  const next = document(await gate(['--baseline', baseline, '--json']));
  expect(next.sight?.measured_with).toBe(found.run.id);
  expect(next.sight?.correlation).not.toBe(0.5);
});

describe('an undecided gate', () => {
  it('ends with 11, or as --undecided says', async () => {
    reply = (number) => (number === 1 ? wrong : usual(number));
    const id = await run();
    for (const [argv, exitCode, skipped] of [
      [[], 11, 1],
      [['--undecided', 'pass'], 0, 1],
      [['--undecided', 'fail'], 10, 0],
    ] as const) {
      const files = ['--json', '--junit', at('u.xml')];
      const outcome = await judged(id, ['--baseline', baseline, ...files, ...argv]);
      expect(outcome.exitCode).toBe(exitCode);
      expect(document(outcome)).toMatchObject({
        verdict: 'undecided',
        exit_code: exitCode,
        reason:
          'The interval of the difference, -5 to 1.67 points, contains -2 points: more items or repetitions would decide.',
      });
      const xml = await readFile(at('u.xml'), 'utf8');
      expect(xml).toContain(`failures="${1 - skipped}" errors="0" skipped="${skipped + 1}"`);
    }
  });

  it.each([
    ['one item', 1, right],
    ['two items that got worse', 2, () => wrong],
    ['two items that are equal', 2, right],
  ])('is one of %s', async (_, count, now) => {
    reply = right;
    const numbers = Array.from({ length: count }, (__, index) => JSON.parse(item(index)));
    const few = await service.importItems(numbers);
    const before = await run({}, few);
    reply = now;
    const outcome = await gate(['--baseline', before], {}, few);
    expect(outcome.exitCode).toBe(11);
    expect(outcome.stdout).toContain(
      'Too few items: fewer than three, or three clusters of them, decide nothing.',
    );
    expect(outcome.stdout).not.toContain('95 % interval');
    expect(outcome.stdout).toContain(`A comparison of ${count} item${count === 1 ? '' : 's'} says little`);
    const after = /^run +(\S+)$/m.exec(outcome.stdout)?.[1];
    const { body } = await service.get(`/runs/${before}/compare/${after}`);
    expect(body).toMatchObject({ verdict: 'undecided', by_section: { default: { verdict: 'undecided' } } });
    const compared = await svcPkg(['compare', before, String(after), '--api-url', service.url]);
    expect(compared.stdout).toMatch(/^verdict +undecided/m);
  });

  it('is not one of three items', async () => {
    reply = right;
    const three = await service.importItems([1, 2, 3].map((number) => JSON.parse(item(number))));
    const before = await run({}, three);
    expect((await gate(['--baseline', before], {}, three)).exitCode).toBe(0);
    reply = () => wrong;
    expect((await gate(['--baseline', before], {}, three)).exitCode).toBe(10);
  });
});

it('ends with 12 until people have judged enough results', async () => {
  reply = usual;
  const id = await run();
  const argv = ['--baseline', baseline, '--json', '--min-labels', '2', '--undecided', 'pass'];
  const outcome = await judged(id, [...argv, '--junit', at('labels.xml'), '--summary', at('labels.md')]);
  expect(outcome.exitCode).toBe(12);
  const reason = 'Too few labels: people have judged 0 of the 2 results that --min-labels requires.';
  expect(document(outcome)).toMatchObject({
    verdict: 'undecided',
    exit_code: 12,
    reason,
    labels: { found: 0 },
  });
  expect(await readFile(at('labels.xml'), 'utf8')).toContain(`<skipped message="${reason}"/>`);
  expect(await readFile(at('labels.md'), 'utf8')).toContain(
    '- Results that people have judged: 0 of 2 required\n',
  );
  for (const [order, verdict] of [
    ['1', 'pass'],
    ['5', 'pass'],
    ['6', null],
  ] as const) {
    const path = `/runs/${id}/results/easy/${order}/1/label`;
    const body = JSON.stringify({ verdict, note: 'seen' });
    const headers = { 'content-type': 'application/json' };
    expect((await fetch(`${service.url}${path}`, { method: 'PUT', headers, body })).status).toBe(200);
  }
  const labelled = await judged(id, argv);
  expect(labelled.exitCode).toBe(0);
  expect(document(labelled)).toMatchObject({ verdict: 'not_worse', labels: { found: 2, agreement: 0.5 } });
  // the outputs are known: the labels are there again
  expect((await judged(await run(), argv)).exitCode).toBe(0);
  expect((await judged(id, [...argv.slice(0, 3), '--min-labels', '3'])).exitCode).toBe(12);
});

it('compares versions over the items that both have, and says so', async () => {
  reply = usual;
  const of = await service.importItems([1, 2, 3, 4, 5, 6].map((number) => JSON.parse(item(number))));
  const first = await run({}, of);
  const edit = new FormData();
  edit.set('file', new Blob([`${item(100)}\n`]), 'more.jsonl');
  expect(await service.post(`/datasets/${of}/items?mode=append`, edit)).toMatchObject({
    body: { version: 2 },
  });
  const outcome = await gate(['--baseline', first, '--summary', at('versions.md')], {}, of);
  expect(outcome.exitCode).toBe(0);
  const note =
    'The baseline is of version 1 of the dataset, and the run version 2: only the 6 items that both have are compared.';
  expect(outcome.stdout).toContain(note);
  expect(await readFile(at('versions.md'), 'utf8')).toContain(`- **Note:** ${note}`);

  const other = await service.importItems([JSON.parse(item(1, 'Another 1?'))]);
  const nothing = await gate(['--baseline', first], {}, other);
  expect(nothing).toMatchObject({ exitCode: 1 });
  expect(nothing.stderr).toContain('No items of the baseline and the run pair: No scored items');
  expect(nothing.stderr).toContain('(nothing_to_compare)');
});

it('takes the newest completed run with a label, but its own', async () => {
  reply = usual;
  const again = await run();
  await service.patch(`/runs/${again}`, { labels: ['baseline'] });
  const outcome = await judged(again, ['--baseline', 'baseline', '--json']);
  expect(document(outcome)).toMatchObject({
    run: { id: again },
    baseline: { id: baseline, label: 'baseline' },
    warnings: ['The run has the label itself: the baseline is the newest other run with it.'],
  });
  await service.patch(`/runs/${again}`, { labels: ['only'] });
  expect((await judged(again, ['--baseline', 'only', '--json'])).error()).toMatchObject({
    code: 'baseline_not_found',
    message: `No completed run of the dataset other than --run ${again} has the label "only"`,
  });
  await service.delete(`/runs/${again}`);
});

it('decides by one scorer, and reports the others', async () => {
  reply = usual;
  const scorers = [{ name: 'right' }, { name: 'short', checker: { type: 'regex', pattern: '^.{1,3}$' } }];
  const named = await run({ scorers });
  reply = (number) => ({ text: `I think that it is ${number}, since ${number} is what you ask for` });
  const argv = ['--baseline', named, '--json'];
  const byShort = await gate([...argv, '--scorer', 'short'], { scorers });
  expect(byShort.exitCode).toBe(10);
  expect(document(byShort).cases.map(({ scorer, section }) => [scorer, section])).toEqual([
    ['short', null],
    ...['easy', 'hard'].map((section) => ['short', section]),
    ['right', null],
    ...['easy', 'hard'].map((section) => ['right', section]),
  ]);
  const unknown = await gate([...argv, '--scorer', 'style'], { scorers });
  expect(unknown.error()).toMatchObject({
    code: 'usage',
    message: '--scorer must be a scorer of the configuration (right, short), got style',
  });
  const absent = await gate(['--baseline', baseline, '--json', '--scorer', 'short'], { scorers });
  expect(absent.error()).toMatchObject({
    message: `Run ${baseline} has no scorer "short"; it has main`,
  });
});

const refusing: Reply = { status: 401, body: '{"error":{"message":"no such key"}}' };

describe('a gate that cannot tell', () => {
  it.each<[string, () => void, () => readonly string[], object, number, string, RegExp]>([
    [
      'a provider that refuses',
      () => {
        reply = () => refusing;
      },
      () => ['--baseline', baseline],
      {},
      1,
      'run_failed',
      /has the status failed/,
    ],
    [
      'a provider that fails for an item',
      () => {
        reply = (number) => (number === 7 ? { status: 400 } : usual(number));
      },
      () => ['--baseline', baseline],
      {},
      1,
      'items_failed',
      /^1 of 60 items failed$/,
    ],
    [
      'a baseline that is gone',
      () => {},
      () => ['--baseline', UNKNOWN],
      {},
      1,
      'run_not_found',
      new RegExp(UNKNOWN),
    ],
    [
      'a label that nothing has',
      () => {},
      () => ['--baseline', 'none'],
      {},
      1,
      'baseline_not_found',
      /has the label "none"/,
    ],
    [
      'a run that its budget stops',
      () => {
        reply = usual;
      },
      () => ['--baseline', baseline],
      {
        price: { input_per_million: 1e6, output_per_million: 1e6 },
        max_cost: { amount: 50 },
        concurrency: 1,
      },
      4,
      'run_stopped',
      /The budget of run/,
    ],
    [
      'a folder that is not there',
      () => {},
      () => ['--baseline', baseline, '--junit', at('none/gate.xml')],
      {},
      3,
      'io_error',
      /no such file/,
    ],
    [
      'a run and a configuration',
      () => {},
      () => ['--baseline', baseline, '--run', baseline],
      {},
      2,
      'usage',
      /either/,
    ],
    [
      'a drop that is no number',
      () => {},
      () => ['--baseline', baseline, '--max-drop', '2'],
      {},
      2,
      'usage',
      /0 to 1/,
    ],
    [
      'a configuration without a provider',
      () => {},
      () => ['--baseline', baseline],
      { provider: null },
      1,
      'invalid_request',
      /provider/,
    ],
  ])('%s', async (_, prepare, argv, more, exitCode, code, message) => {
    prepare();
    const outcome = await gate(['--json', ...argv()], more);
    expect(outcome.error()).toMatchObject({
      code,
      message: expect.stringMatching(message),
      exit_code: exitCode,
    });
    expect(outcome).toMatchObject({ exitCode, stdout: '' });
  });

  it('has no baseline that failed', async () => {
    reply = () => refusing;
    const failed = await run();
    const outcome = await gate(['--json', '--baseline', failed]);
    expect(outcome.error()).toMatchObject({ code: 'baseline_unusable' });
  });
});

it('ends with 130 on SIGINT while the run continues, and resumes with --run', async () => {
  reply = (number) => (number > 10 && number !== 20 ? 'hang' : usual(number));
  const argv = ['gate', datasetId, '--baseline', 'baseline', '--max-drop', '0.02', '--api-url', service.url];
  const child = spawn(process.execPath, [MAIN, ...argv, '--config', '-'], { stdio: 'pipe', env: {} });
  const printed = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  child.stdin.end(JSON.stringify(config({ concurrency: 60 })));
  await until(provider.waiting, (waiting) => waiting > 20);
  child.kill('SIGINT');
  const [stdout, stderr, [code]] = await printed;
  expect([code, stdout]).toEqual([130, '']);
  const [, id = ''] = /Interrupted: run (\S+) continues in the service \(interrupted\)/.exec(stderr) ?? [];
  expect(stderr).toContain(`--run ${id} --baseline ${baseline} --max-drop 0.02`);
  expect((await service.get(`/runs/${id}`)).body.status).toBe('running');

  const continued = svcPkg([...argv, '--run', id, '--json']);
  provider.release();
  // what hung says the prompt, which is wrong
  const outcome = await continued;
  expect(outcome.exitCode).toBe(10);
  expect(document(outcome)).toMatchObject({ verdict: 'worse', run: { id } });
  expect([...provider.asked.keys()].filter((prompt) => prompt === 'Number 30?')).toHaveLength(1);
});

it('annotates in GitHub Actions, and prints one line with --quiet', async () => {
  reply = () => wrong;
  const id = await run();
  const annotated = await judged(id, ['--baseline', baseline], { GITHUB_ACTIONS: 'true' });
  expect(annotated.stdout).toMatch(
    /^::error title=Gate of [^:]+%3A worse::The interval of the difference, [^\n]* is below -2 points\. 60 items compared: /m,
  );
  expect(annotated.stdout).toMatch(/^::warning title=Worse%3A main%2C hard::20 items compared/m);
  const quiet = await judged(id, ['--baseline', baseline, '--quiet']);
  expect(quiet).toMatchObject({ exitCode: 10, stdout: '' });
  expect(quiet.stderr).toMatch(/^svc-pkg: worse: The interval .*\n$/);
});

it('plans how many items and repetitions see a drop', async () => {
  const plan = (...argv: string[]): Promise<Outcome> =>
    svcPkg(['plan', datasetId, '--baseline', baseline, '--api-url', service.url, ...argv]);
  const small = (await plan('--detect', '0.02', '--json')).document<Record<string, number>>();
  expect(Object.keys(small)).toEqual(['items', 'repetitions', 'detectable']);
  expect(small['items']).toBe(60);
  expect(small['repetitions']).toBeGreaterThan(1);
  expect(small['detectable']).toBeLessThanOrEqual(0.02);
  const large = (await plan('--detect', '0.5', '--json')).document<Record<string, number>>();
  expect(large).toMatchObject({ repetitions: 1 });
  expect(large['items']).toBeLessThan(60);
  expect((await plan('--detect', '0.02')).stdout).toMatch(
    /^items +60\nrepetitions +\d+\ndetectable +[\d.]+ points\n/,
  );
  for (const drop of ['0', '-0', '-0.02', '1e-999', 'x'])
    expect([drop, (await plan('--detect', drop)).exitCode]).toEqual([drop, 2]);

  const tiny = await plan('--detect', '0.001');
  expect(tiny.exitCode).toBe(12);
  const detectable = /^detectable +([\d.]+) points$/m.exec(tiny.stdout)?.[1];
  expect(tiny.stderr).toContain(
    `A drop of 0.1 points cannot be seen with 60 items and 100 repetitions: they see one of ${detectable} points`,
  );
  const document = await plan('--detect', '0.001', '--json');
  expect(document.document()).toMatchObject({ items: 60, repetitions: 100 });
  expect(JSON.parse(document.stderr)).toMatchObject({ error: { code: 'not_detectable', exit_code: 12 } });
});

it.each([
  ['perfect', right],
  ['hopeless', () => wrong],
])('plans with the Wilson bound of a %s baseline, and says so', async (_, always) => {
  reply = always;
  const equal = await run();
  const argv = ['plan', datasetId, '--baseline', equal, '--api-url', service.url, '--detect', '0.1'];
  // the bound of 60 of 60 is 60 / (60 + 1.96²), so that s² is 0.9398 · 0.0602 = 0.05656: 7.84 · 0.05656 / 0.01 items
  expect((await svcPkg([...argv, '--json'])).document()).toEqual({
    ...{ items: 45, repetitions: 1, variance_assumed: true },
    detectable: expect.closeTo(0.09927, 4),
  });
  expect((await svcPkg(argv)).stdout).toContain(
    `variance assumed: the Wilson bound of ${equal}, whose scores are all equal`,
  );
});
