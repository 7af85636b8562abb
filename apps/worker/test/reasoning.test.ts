import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { queryDatabase } from '../../../packages/service/test/store/query-database.ts';
import { type FakeProvider, startFakeProvider } from './fake-provider.ts';
import { type Body, runEnded, startTestService, type TestService } from './start-test-service.ts';

let cleanUp: AsyncDisposableStack;
let service: TestService;
let provider: FakeProvider;

/** Longer than what is read on the main thread, and than what is written with others. */
const LONG = `The answer is 4. ${'x'.repeat(100_000)}`;
const ANSWERS: Readonly<Record<string, { readonly text: string; readonly message: object }>> = {
  beside: { text: '5', message: { reasoning_content: 'The answer is 4.' } },
  long: { text: '5', message: { reasoning: LONG } },
  none: { text: '5', message: {} },
};
const REASONING = ['The answer is 4.', LONG, null];
const items = Object.keys(ANSWERS).map((prompt) => ({
  ...{ id: prompt, type: 'numeric', inputs: { prompt }, answer: '4' },
}));

beforeAll(async () => {
  cleanUp = new AsyncDisposableStack();
  service = cleanUp.use(await startTestService());
  provider = cleanUp.use(await startFakeProvider((prompt) => ANSWERS[prompt] ?? 'break'));
});
afterAll(() => cleanUp.disposeAsync());

async function run(dataset_id: string, config: object): Promise<Body> {
  const { status, body } = await service.post('/runs', { dataset_id, config });
  expect(status, JSON.stringify(body)).toBe(202);
  await runEnded(service, body.id);
  return (await service.get(`/runs/${body.id}`)).body;
}

const rescored = async (id: string, body: object = {}): Promise<Body> => {
  const started = await service.post(`/runs/${id}/rescore`, body);
  expect(started.status, JSON.stringify(started.body)).toBe(202);
  return await runEnded(service, started.body.id);
};

const resultsOf = async (id: string): Promise<Body[]> =>
  (await service.get(`/runs/${id}/results?limit=100`)).body.data;
const reasoningOf = async (id: string): Promise<Body[]> =>
  (await resultsOf(id)).map(({ reasoning }) => reasoning);

async function push(id: string, lines: readonly object[]): Promise<Body> {
  const response = await fetch(`${service.url}/runs/${id}/results`, {
    method: 'POST',
    headers: { 'content-type': 'application/jsonl' },
    body: lines.map((line) => JSON.stringify(line)).join('\n'),
  });
  return await response.json();
}

describe('reasoning that a provider sends with an output', () => {
  it('is stored and never scored, and stays with the output wherever that goes', async () => {
    const dataset = await service.importItems(items);
    const config = { provider: { type: 'openai_compatible', base_url: provider.baseUrl, model: 'm' } };
    const first = await run(dataset, config);
    expect(first.scores).toMatchObject({ passed: 0, results: 3 });
    expect(await reasoningOf(first.id)).toEqual(REASONING);

    const again = await run(dataset, { ...config, reuse: { run_id: first.id } });
    expect(again.counts).toMatchObject({ reused: 3 });
    expect(await reasoningOf(again.id)).toEqual(REASONING);
    expect(await reasoningOf((await rescored(first.id)).id)).toEqual(REASONING);

    const lines = await (await fetch(`${service.url}/runs/${first.id}/results.jsonl`)).text();
    const rows = lines
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(rows.map(({ reasoning }) => reasoning)).toEqual(REASONING);
    const csv = await fetch(`${service.url}/runs/${first.id}/results.csv?columns=item_id,reasoning`);
    expect(await csv.text()).toBe(`item_id,reasoning\nbeside,The answer is 4.\nlong,"${LONG}"\nnone,\n`);

    const archive = await fetch(`${service.url}/datasets/${dataset}/export?run_id=${first.id}`);
    const form = new FormData();
    form.set('file', new File([await archive.bytes()], 'reasoning.pkg.zip'));
    const uploaded = await fetch(`${service.url}/datasets/upload`, { method: 'POST', body: form });
    const { id } = (await uploaded.json()) as Body;
    const [imported] = (await service.get(`/runs?dataset_id=${id}`)).body.data;
    expect(await reasoningOf(imported.id)).toEqual(REASONING);
  });

  it('comes with results from outside', async () => {
    const dataset_id = await service.importItems(items);
    const { body } = await service.post('/runs', { dataset_id, config: { provider: { type: 'external' } } });
    const lines = REASONING.map((reasoning, order_index) => {
      return { section: 'default', order_index, output: '5', reasoning };
    });
    expect(await push(body.id, [...lines, { ...lines[0], reasoning: 4 }])).toMatchObject({
      accepted: 3,
      rejected: [{ line: 4, message: 'reasoning must be a text.' }],
    });
    expect(await reasoningOf(body.id)).toEqual(REASONING);
    await service.post(`/runs/${body.id}/finish`, {});
    expect((await service.get(`/runs/${body.id}`)).body.scores).toMatchObject({ passed: 0, results: 3 });
  });
});

describe('a run whose outputs begin with reasoning', () => {
  const outputs = [
    '<think>Is it A? The answer is A. Hmm.</think>B',
    '<think>\nThe answer is B\n</think>\n\nA',
    '<think>The answer is B',
  ];
  const questions = outputs.map((out, index) => ({
    ...{ id: `q-${index}`, type: 'multiple_choice', answer: 'green', out },
    inputs: { prompt: 'Which?', choices: ['red', 'green', 'blue'] },
  }));

  /** A finished run with these outputs. */
  const sources: Readonly<Record<string, (dataset: string) => Promise<Body>>> = {
    item_field: (dataset) => run(dataset, { provider: { type: 'item_field', pointer: '/out' } }),
    external: async (dataset_id) => {
      const { body } = await service.post('/runs', {
        dataset_id,
        config: { provider: { type: 'external' } },
      });
      await push(
        body.id,
        outputs.map((output, index) => ({ item_id: `q-${index}`, output })),
      );
      return (await service.post(`/runs/${body.id}/finish`, {})).body;
    },
  };

  it.each(Object.keys(sources))(
    'is read by the rules of today when it is scored again: %s',
    async (source) => {
      const old = await (sources[source] as (dataset: string) => Promise<Body>)(
        await service.importItems(questions),
      );
      // as an older release has scored it
      await queryDatabase(
        service.databaseUrl,
        `UPDATE run_results SET status = 'ok', score = (order_index > 0)::int, passed = order_index > 0,
        explanation = CASE order_index WHEN 0 THEN '"Picked A"' ELSE '"Picked B"' END WHERE run_id = $1`,
        [old.id],
      );
      const before = await resultsOf(old.id);
      const { id, source_run_id, plan } = await rescored(old.id);
      expect({ source_run_id, plan }).toMatchObject({ source_run_id: old.id, plan: { requests: 0 } });
      const after = await resultsOf(id);
      expect(after.map(({ output }) => output)).toEqual(outputs);
      expect(after.map(({ passed, score }) => [passed, score])).toEqual([
        [true, 1],
        [false, 0],
        [false, 0],
      ]);
      expect(after.map(({ explanation }) => explanation)).toEqual([
        expect.stringMatching(/^Picked (?:B|green)/),
        expect.stringMatching(/^Picked (?:A|red)/),
        expect.stringMatching(/^Only reasoning, no answer/),
      ]);
      expect(await resultsOf(old.id)).toEqual(before);
    },
  );
});
