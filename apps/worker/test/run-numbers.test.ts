import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FakeProvider, type Reply, startFakeProvider } from './fake-provider.ts';
import { type Body, runEnded, startTestService, type TestService } from './start-test-service.ts';

const PROGRAM = fileURLToPath(new URL('../../../conformance/runs/scores.py', import.meta.url));
const hasPython = spawnSync('python3', ['--version']).status === 0;

let cleanUp: AsyncDisposableStack;
let service: TestService;
let provider: FakeProvider;
let datasetId: string;
/** What the provider does; tests change it. */
let reply: (prompt: string, attempt: number) => Reply;

const COUNT = 60;
/** Questions about twelve passages at three levels; some have no passage, one a long one, another two a number and a text. */
const items = Array.from({ length: COUNT }, (_, index) => ({
  id: `q${index}`,
  type: index % 2 === 0 ? 'numeric' : 'exact',
  inputs: { prompt: `Item ${index}` },
  answer: String(index),
  meta: {
    level: index % 3,
    ...(index % 10 === 9 ? {} : { passage: passageOf(index) }),
  },
  tags: index % 3 === 0 ? ['third', 'all'] : ['all'],
}));

function passageOf(index: number): unknown {
  const number = index % 12;
  if (number === 3) return 'A long passage. '.repeat(40);
  return number === 4 ? 5 : number === 5 ? '5' : number === 6 ? { text: 'NUL \0' } : `p${number}`;
}

const numberOf = (prompt: string): number => Number(/Item (\d+)/.exec(prompt)?.[1]);

/** Passages are easy or hard; some requests fail. */
function byPassage(prompt: string, attempt: number): Reply {
  const number = numberOf(prompt);
  if (number % 17 === 8) return { status: 400 };
  return { text: String(number + ((number % 12) + attempt > 9 ? 1 : 0)) };
}

beforeAll(async () => {
  cleanUp = new AsyncDisposableStack();
  service = cleanUp.use(await startTestService());
  provider = cleanUp.use(await startFakeProvider((prompt, attempt) => reply(prompt, attempt)));
  datasetId = await service.importItems(items);
});
afterAll(() => cleanUp.disposeAsync());

async function run(more: object = {}): Promise<Body> {
  const config = { provider: { type: 'openai_compatible', base_url: provider.baseUrl, model: 'm' }, ...more };
  const { status, body } = await service.post('/runs', { dataset_id: datasetId, config });
  expect(status, JSON.stringify(body)).toBe(202);
  await runEnded(service, body.id);
  return (await service.get(`/runs/${body.id}`)).body;
}

async function resultsOf(id: string): Promise<Body[]> {
  const { body } = await service.get(`/runs/${id}/results.jsonl`);
  return String(body)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** The independent computation. */
function compute(request: object): Body {
  const input = JSON.stringify(request);
  const { stdout, stderr } = spawnSync('python3', [PROGRAM], { input, encoding: 'utf8' });
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

/** Numbers but for the last digits, which depend on the order of additions. */
function close(value: unknown): unknown {
  if (typeof value === 'number' && !Number.isInteger(value)) return expect.closeTo(value, 9);
  if (Array.isArray(value)) return value.map(close);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, close(member)]));
}

/** The cluster of each item by its passage; an item without one is on its own. */
const clusters = (results: readonly Body[]): unknown[] =>
  results.map(({ section, order_index }) => {
    const passage = items[order_index]?.meta.passage;
    const cluster = passage === undefined ? `alone ${order_index}` : JSON.stringify(passage);
    return [section, order_index, cluster];
  });

it.skipIf(!hasPython)('clusters items by their passage, as another program does', async () => {
  reply = byPassage;
  for (const repetitions of [1, 3]) {
    const ended = await run({ repetitions, cluster_by: '/meta/passage' });
    const results = await resultsOf(ended.id);
    const computed = compute({ results, repetitions, clusters: clusters(results) });
    expect(ended.scores).toMatchObject(close(computed.scores) as object);
    expect(ended.scores.no_output).toBeGreaterThan(0);
    expect(ended.scores.wrong).toBeGreaterThan(0);
    const alone = compute({ results, repetitions });
    expect(ended.scores.stderr).toBeGreaterThan(1.3 * alone.scores.stderr);
    const { scores } = await run({ repetitions });
    expect(scores.stderr).toBeLessThan(ended.scores.stderr);
  }
});

it('shows the same numbers in lists, also of a run that came with a package', async () => {
  reply = byPassage;
  const ended = await run({ repetitions: 2, cluster_by: '/meta/passage' });
  const archive = await fetch(`${service.url}/datasets/${datasetId}/export?run_id=${ended.id}`);
  const form = new FormData();
  form.set('file', new Blob([await archive.arrayBuffer()]), 'numbers.pkg.zip');
  const { body: imported } = await service.post('/datasets/upload', form);
  for (const id of [datasetId, imported.id as string]) {
    const { body } = await service.get(`/runs?dataset_id=${id}&limit=1`);
    const [listed] = body.data;
    const { body: one } = await service.get(`/runs/${listed.id}`);
    const { by_section: _, by_type: __, by_tag: ___, ...scores } = one.scores;
    expect(listed.scores).toEqual(scores);
    expect(listed.imported).toBe(id !== datasetId);
    expect(scores).toMatchObject({
      ...{
        results: 2 * COUNT,
        pass_rate_ci95: [expect.any(Number), expect.any(Number)],
        warnings: expect.any(Array),
      },
      stderr: ended.scores.stderr,
    });
  }
});

it('refuses a pointer to nothing in particular', async () => {
  for (const cluster_by of ['', 'meta/passage', '/a~2', 5]) {
    const config = { provider: 'echo', cluster_by };
    expect(await service.post('/runs', { dataset_id: datasetId, config })).toMatchObject({
      status: 400,
      body: { errors: [{ path: '/config/cluster_by' }] },
    });
  }
});
