import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startFakeProvider } from './fake-provider.ts';
import { type Body, runEnded, startTestService, type TestService } from './start-test-service.ts';

let cleanUp: AsyncDisposableStack;
beforeEach(() => {
  cleanUp = new AsyncDisposableStack();
});
afterEach(() => cleanUp.disposeAsync());

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service[Symbol.asyncDispose]());

const items = Array.from({ length: 12 }, (_, index) => ({
  id: `q-${index}`,
  type: 'numeric',
  inputs: { prompt: `What is ${index} + 1?` },
  answer: String(index + 1),
  tags: index % 3 === 0 ? ['third', 'all'] : ['all'],
}));
const numberOf = (prompt: string): number => Number(/is (\d+)/.exec(prompt)?.[1]);

async function push(path: string, lines: readonly object[]): Promise<Body> {
  const response = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/jsonl' },
    body: lines.map((line) => JSON.stringify(line)).join('\n'),
  });
  return { status: response.status, body: await response.json() };
}

/** A run by three scorers: the number, a word in the text, and a judge. */
async function scoredRun(): Promise<Body> {
  // three of four are right, every other one is polite
  const model = cleanUp.use(
    await startFakeProvider((prompt) => {
      const number = numberOf(prompt);
      return { text: `${number % 2 === 0 ? 'Please: ' : ''}${number % 4 === 3 ? 99 : number + 1}` };
    }),
  );
  // what it judges holds the question
  const judge = cleanUp.use(
    await startFakeProvider((prompt) => ({
      text: `{"score": ${numberOf(prompt) < 6 ? 0.75 : 0.25}, "explanation": "so"}`,
    })),
  );
  const { status, body } = await service.post('/runs', {
    dataset_id: await service.importItems(items),
    config: {
      provider: { type: 'openai_compatible', base_url: model.baseUrl, model: 'm' },
      scorers: [
        { name: 'number' },
        { name: 'polite', checker: { type: 'regex', pattern: '^Please' } },
        { name: 'style', judge: { base_url: judge.baseUrl, model: 'j', threshold: 0.5 } },
      ],
    },
  });
  expect(status, JSON.stringify(body)).toBe(202);
  expect(body.plan).toMatchObject({ requests: 24, scorable: 12 });
  return await runEnded(service, body.id);
}

const resultsOf = async (id: string, query = ''): Promise<Body[]> =>
  (await service.get(`/runs/${id}/results?limit=100${query}`)).body.data;

describe('a run with three scorers', () => {
  it('has the scores of each, with each result and for the run', async () => {
    const run = await scoredRun();
    expect(run).toMatchObject({ status: 'completed', scores: { passed: 9, mean: 0.75 } });
    const { body: whole } = await service.get(`/runs/${run.id}`);
    expect(whole.scorers).toMatchObject({
      number: { mean: 0.75, passed: 9, stderr: expect.any(Number), results: 12 },
      polite: { mean: 0.5, passed: 6 },
      style: { mean: 0.5, passed: 6, ok: 12 },
    });
    expect(Object.keys(whole.scorers)).toEqual(['number', 'polite', 'style']);
    const [first, second] = await resultsOf(run.id);
    expect(first).toMatchObject({
      score: 1,
      scored_by: 'checker',
      scores: {
        number: { score: 1, passed: true, scored_by: 'checker' },
        polite: { score: 1, passed: true, scored_by: 'checker' },
        style: { score: 0.75, passed: true, explanation: 'so', scored_by: 'judge' },
      },
    });
    expect(second.scores.polite).toMatchObject({ score: 0, passed: false });
    // lists show the same
    const { data } = (await service.get('/runs')).body;
    expect(data[0].scorers).toEqual(whole.scorers);
  });

  it('lists results as one scorer sees them', async () => {
    const run = await scoredRun();
    expect((await resultsOf(run.id, '&scorer=polite&passed=true')).map(({ item_id }) => item_id)).toEqual([
      ...['q-0', 'q-2', 'q-4', 'q-6', 'q-8', 'q-10'],
    ]);
    expect(await resultsOf(run.id, '&scorer=style&passed=false')).toHaveLength(6);
    expect(await resultsOf(run.id, '&scorer=number&passed=false')).toHaveLength(3);
    expect(await service.get(`/runs/${run.id}/results?scorer=none`)).toMatchObject({
      status: 400,
      body: { code: 'scorer_not_found' },
    });
  });

  it('lists results by the scores of one scorer, page after page', async () => {
    const run = await scoredRun();
    const human = items.slice(0, 8).map((_, index) => ({
      item_id: `q-${index}`,
      scores: { human: { score: ((index * 5) % 4) / 4 } },
    }));
    expect((await push(`/runs/${run.id}/scores`, human)).body.accepted).toBe(8);
    const results = await resultsOf(run.id);
    const list = async (query: string): Promise<Body[]> => {
      const found: Body[] = [];
      for (let cursor = ''; ; ) {
        const { status, body } = await service.get(`/runs/${run.id}/results?limit=3&${query}${cursor}`);
        expect(status, JSON.stringify(body)).toBe(200);
        found.push(...body.data);
        expect(body.meta.total_items).toBeGreaterThanOrEqual(found.length);
        if (body.meta.next_cursor === null) return found;
        cursor = `&cursor=${body.meta.next_cursor}`;
      }
    };
    const at = ({ order_index }: Body): number => order_index;
    for (const name of ['human', 'style', 'polite', 'number', 'main']) {
      const of = (result: Body): number | null =>
        name === 'main' ? result.score : (result.scores[name]?.score ?? null);
      for (const sign of [1, -1]) {
        const sorted = results.toSorted((one, two) => {
          const [a, b] = [of(one), of(two)];
          if ((a === null) !== (b === null)) return a === null ? 1 : -1;
          return sign * ((a ?? 0) - (b ?? 0) || at(one) - at(two));
        });
        const sort = `sort=${sign === 1 ? '' : '-'}scorer:${name}`;
        expect((await list(sort)).map(at), sort).toEqual(sorted.map(at));
        const within = sorted.filter((one) => (of(one) ?? -1) >= 0.5 && (of(one) ?? 2) <= 0.75);
        expect((await list(`${sort}&scorer=${name}&min_score=0.5&max_score=0.75`)).map(at), sort).toEqual(
          within.map(at),
        );
      }
    }
    expect(await service.get(`/runs/${run.id}/results?sort=scorer:none`)).toMatchObject({
      status: 400,
      body: { code: 'scorer_not_found' },
    });
    for (const sort of ['scorer:', 'scorer', 'Score', 'scorer:a b', `scorer:${'a'.repeat(65)}`]) {
      const query = new URLSearchParams({ sort });
      expect((await service.get(`/runs/${run.id}/results?${query}`)).body.code, sort).toBe('invalid_request');
    }
    const { next_cursor: cursor } = (await service.get(`/runs/${run.id}/results?limit=2&sort=scorer:human`))
      .body.meta;
    expect(await service.get(`/runs/${run.id}/results?sort=scorer:style&cursor=${cursor}`)).toMatchObject({
      body: { code: 'invalid_cursor' },
    });
  });

  it('takes scores from outside afterwards, and no other names', async () => {
    const run = await scoredRun();
    const human = (index: number, score: number): object => ({
      item_id: `q-${index}`,
      scores: { human: { score, explanation: 'seen' } },
    });
    const pushed = await push(`/runs/${run.id}/scores`, [
      ...items.map((_, index) => human(index, index < 3 ? 1 : 0)),
      human(0, 0.5),
      { item_id: 'q-77', scores: { human: { score: 1 } } },
      { item_id: 'q-1' },
      { item_id: 'q-1', output: 'x', scores: { human: { score: 1 } } },
    ]);
    expect(pushed).toMatchObject({
      status: 200,
      body: {
        accepted: 13,
        replaced: 1,
        rejected: [{ line: 14 }, { line: 15 }, { line: 16 }],
        rejected_total: 3,
      },
    });
    expect((await service.get(`/runs/${run.id}`)).body.scorers).toMatchObject({
      number: { passed: 9 },
      human: { mean: 2.5 / 12, passed: 2, results: 12 },
    });
    const [first] = await resultsOf(run.id, '&scorer=human&passed=true');
    expect(first.scores.human).toEqual({
      score: 1,
      passed: true,
      explanation: 'seen',
      scored_by: 'client',
    });
    expect(first.scores.number.scored_by).toBe('checker');
    expect(
      await push(`/runs/${run.id}/scores`, [{ item_id: 'q-0', scores: { polite: { score: 1 } } }]),
    ).toMatchObject({
      status: 409,
      body: { code: 'scorer_exists' },
    });
  });

  it('takes no scores from outside for failed requests', async () => {
    const model = cleanUp.use(
      await startFakeProvider((prompt) => (numberOf(prompt) < 4 ? { status: 400 } : { text: 'x' })),
    );
    const provider = { type: 'openai_compatible', base_url: model.baseUrl, model: 'm' };
    const dataset_id = await service.importItems(items);
    const { body } = await service.post('/runs', { dataset_id, config: { provider } });
    await runEnded(service, body.id);
    const lines = items.map(({ id }) => ({ item_id: id, scores: { human: { score: 1 } } }));
    const message = 'The line names no result of the run with an output.';
    expect(await push(`/runs/${body.id}/scores`, lines)).toMatchObject({
      status: 200,
      body: { accepted: 8, rejected: [1, 2, 3, 4].map((line) => ({ line, message })), rejected_total: 4 },
    });
    expect((await service.get(`/runs/${body.id}`)).body.scorers.human).toMatchObject({
      ...{ ok: 8, failed: 4, no_output: 4, pass_rate: 8 / 12 },
    });
  });

  it('travels in packages and tables', async () => {
    const run = await scoredRun();
    await push(`/runs/${run.id}/scores`, [{ item_id: 'q-0', scores: { human: { score: 1 } } }]);
    const before = (await service.get(`/runs/${run.id}`)).body;
    const archive = await fetch(`${service.url}/datasets/${run.dataset_id}/export?run_id=${run.id}`);
    const form = new FormData();
    form.set('file', new File([await archive.bytes()], 'scored.pkg.zip'));
    const uploaded = (await (
      await fetch(`${service.url}/datasets/upload`, { method: 'POST', body: form })
    ).json()) as Body;
    const [imported] = (await service.get(`/runs?dataset_id=${uploaded.id}`)).body.data;
    expect(imported.scorers).toEqual(before.scorers);
    expect((await resultsOf(imported.id)).map(({ scores }) => scores)).toEqual(
      (await resultsOf(run.id)).map(({ scores }) => scores),
    );
    const table = await (
      await fetch(`${service.url}/runs/${run.id}/results.csv?columns=item_id,scored_by,scores`)
    ).text();
    expect(table).toContain('""human"":{');
  });

  it('scores a run of another configuration again, as a new run', async () => {
    const run = await scoredRun();
    const { status, body } = await service.post(`/runs/${run.id}/rescore`, {
      scorers: [{ name: 'short', checker: { type: 'regex', pattern: '^.{1,2}$' } }, { name: 'number' }],
    });
    expect(status, JSON.stringify(body)).toBe(202);
    const ended = await runEnded(service, body.id);
    expect(ended.scorers).toMatchObject({ short: { passed: 6 }, number: { passed: 9 } });
    // compared by each of them
    const compare = async (query: string): Promise<Body> =>
      (await service.get(`/runs/${run.id}/compare/${ended.id}${query}`)).body;
    expect(await compare('?scorer=number')).toMatchObject({
      paired: 12,
      mean: 0.75,
      other_mean: 0.75,
      ties: 12,
    });
    expect(await compare('')).toMatchObject({ paired: 12, mean: 0.75, other_mean: 0.5 });
    expect(await compare('?scorer=style')).toMatchObject({ code: 'scorer_not_found' });
    const slices = (await service.get(`/runs/${run.id}/slices?by=/type&scorer=polite`)).body;
    expect(slices.data).toMatchObject([{ values: ['numeric'], passed: 6 }]);
    // by what is not a value of the item, as the run has them of its main scorer
    const { scores } = (await service.get(`/runs/${run.id}`)).body;
    for (const [by, own] of [
      ['section', scores.by_section],
      ['tag', scores.by_tag],
    ]) {
      const { data } = (await service.get(`/runs/${run.id}/slices?by=${by}&scorer=number`)).body;
      expect(Object.fromEntries(data.map(({ values, ...of }: Body) => [values[0], of]))).toEqual(own);
      expect(data.length).toBeGreaterThan(0);
    }
    const both = (await service.get(`/runs/${run.id}/slices?by=tag&by=section&scorer=polite`)).body;
    expect(both.data).toMatchObject([
      { values: ['all', 'default'], results: 12, passed: 6 },
      { values: ['third', 'default'], results: 4, passed: 2 },
    ]);
  });

  it('counts a scorer that failed as not passed, wherever it stands, and lets it score again', async () => {
    const model = cleanUp.use(await startFakeProvider((prompt) => ({ text: String(numberOf(prompt) + 1) })));
    let isBroken = true;
    const judge = cleanUp.use(
      await startFakeProvider((prompt) => ({
        text: isBroken && numberOf(prompt) > 2 ? 'no verdict' : '{"score": 1, "explanation": "so"}',
      })),
    );
    const style = { name: 'style', judge: { base_url: judge.baseUrl, model: 'j' } };
    const dataset_id = await service.importItems(items);
    const runBy = async (scorers: readonly object[]): Promise<Body> => {
      const provider = { type: 'openai_compatible', base_url: model.baseUrl, model: 'm' };
      const { body } = await service.post('/runs', {
        dataset_id,
        config: { provider, scorers, max_retries: 0 },
      });
      await runEnded(service, body.id);
      return (await service.get(`/runs/${body.id}`)).body;
    };
    const [last, first] = [
      await runBy([{ name: 'number' }, style]),
      await runBy([style, { name: 'number' }]),
    ];
    expect(first.scorers.style).toMatchObject({ passed: 3, ok: 3, failed: 9, unscored: 0, pass_rate: 0.25 });
    expect(last.scorers.style).toEqual(first.scorers.style);
    expect(last.scorers.number).toMatchObject({ ok: 12, pass_rate: 1 });
    expect(await resultsOf(last.id, '&scorer=style&status=failed')).toHaveLength(9);
    expect(await resultsOf(last.id, '&scorer=style&passed=false')).toHaveLength(0);

    isBroken = false;
    const add = { scorers: [style], add: true };
    expect(await service.post(`/runs/${last.id}/rescore`, add)).toMatchObject({ status: 202 });
    await runEnded(service, last.id);
    const { body: again } = await service.get(`/runs/${last.id}`);
    expect(again.scorers.style).toMatchObject({ ok: 12, failed: 0, pass_rate: 1 });
    expect(again.counts).toEqual(last.counts);
    expect(await service.post(`/runs/${last.id}/rescore`, add)).toMatchObject({
      status: 409,
      body: { code: 'scorer_exists' },
    });
  });

  it('is scored again by a checker or a judge alone', async () => {
    const run = await scoredRun();
    const judge = cleanUp.use(await startFakeProvider(() => ({ text: '{"score": 1, "explanation": "so"}' })));
    for (const [scoring, passed] of [
      [{ checker: { type: 'regex', pattern: '^Please' } }, 6],
      [{ checker: { type: 'judge' }, judge: { base_url: judge.baseUrl, model: 'j' } }, 12],
    ] as const) {
      const { status, body } = await service.post(`/runs/${run.id}/rescore`, scoring);
      expect(status, JSON.stringify(body)).toBe(202);
      const again = await runEnded(service, body.id);
      expect(again).toMatchObject({ status: 'completed', scores: { passed, results: 12 } });
      expect(again.config).not.toHaveProperty('scorers');
    }
  });

  it('gets further scorers after its end, and keeps what it has', async () => {
    const run = await scoredRun();
    const judge = cleanUp.use(
      await startFakeProvider((prompt) => ({ text: `{"score": ${numberOf(prompt) < 3 ? 1 : 0}}` })),
    );
    const scorers = [
      { name: 'short', checker: { type: 'regex', pattern: '^.{1,2}$' } },
      { name: 'second', judge: { base_url: judge.baseUrl, model: 'j' } },
    ];
    const add = async (body: object): Promise<Body> =>
      await service.post(`/runs/${run.id}/rescore`, { add: true, ...body });
    const { status, body } = await add({ scorers });
    expect([status, body.id], JSON.stringify(body)).toEqual([202, run.id]);
    const ended = await runEnded(service, run.id);
    const before = (({ finished_at: _, config: __, scorers: ___, usage: ____, run_hash: _____, ...others }) =>
      others)(run);
    expect(ended).toMatchObject({
      ...before,
      scorers: { ...run.scorers, short: { passed: 6, results: 12 }, second: { mean: 0.25, passed: 3 } },
      config: { added_scorers: [{ name: 'short' }, { name: 'second' }] },
    });
    expect(ended.run_hash).toMatch(/^[0-9a-f]{64}$/);
    expect(ended.run_hash).not.toBe(run.run_hash);
    expect(Object.keys(ended.scorers)).toEqual(['number', 'polite', 'style', 'short', 'second']);
    expect([...judge.asked.values()].reduce((sum, count) => sum + count, 0)).toBe(12);
    const [first] = await resultsOf(run.id);
    expect(first).toMatchObject({
      score: 1,
      scores: { number: { score: 1 }, short: { score: 0 }, second: { score: 1, scored_by: 'judge' } },
    });
    expect(await resultsOf(run.id, '&scorer=second&passed=true')).toHaveLength(3);

    const refused: [object, number, string][] = [
      [{ scorers }, 409, 'scorer_exists'],
      [{ scorers: [{ name: 'polite' }] }, 409, 'scorer_exists'],
      [{ scorers: [{ name: 'new' }, { name: 'short', checker: 'includes' }] }, 409, 'scorer_exists'],
      [{ checker: 'includes' }, 400, 'invalid_request'],
      [{ scorers: [{ name: 'new' }], name: 'x' }, 400, 'invalid_request'],
      [{ scorers: [{ name: 'new', checker: { type: 'regex', pattern: '(' } }] }, 400, 'invalid_request'],
      [{ scorers: Array.from({ length: 8 }, (_, index) => ({ name: `s${index}` })) }, 202, ''],
    ];
    for (const [wrong, code, name] of refused) {
      const answer = await add(wrong);
      expect([answer.status, answer.body.code ?? ''], JSON.stringify(wrong)).toEqual([code, name]);
    }
    await runEnded(service, run.id);
    const more = ['a', 'b', 'c', 'd'].map((name) => ({ name }));
    expect(await add({ scorers: more })).toMatchObject({ status: 409, body: { code: 'too_many_scorers' } });
  });
});

describe('a run with results from outside and judges', () => {
  const price = { input_per_million: 0, output_per_million: 1_000_000, currency: 'EUR' };
  const verdict = (score: number): string => `{"score": ${score}, "explanation": "so"}`;
  const startJudge = async () =>
    cleanUp.use(await startFakeProvider((prompt) => ({ text: verdict(numberOf(prompt) < 6 ? 0.75 : 0.25) })));
  type Judge = Awaited<ReturnType<typeof startJudge>>;
  const asked = (judge: Judge): number => [...judge.asked.values()].reduce((sum, count) => sum + count, 0);
  const modelOf = ({ baseUrl }: Judge): object => ({ base_url: baseUrl, model: 'j', price });
  async function start(config: object): Promise<string> {
    const { status, body } = await service.post('/runs', {
      dataset_id: await service.importItems(items),
      config: { provider: { type: 'external', label: 'agent' }, ...config },
    });
    expect([status, body.status], JSON.stringify(body)).toEqual([202, 'waiting']);
    return body.id;
  }
  const outputOf = (index: number): object => ({
    item_id: `q-${index}`,
    output: `It is ${index + 1}, ${index}`,
    usage: { completion_tokens: 2 },
  });
  const finish = async (id: string): Promise<Body> => await service.post(`/runs/${id}/finish`, {});

  it('asks the judges at the end, once for each output that lacks their score', async () => {
    const judge = await startJudge();
    const id = await start({
      scorers: [
        { name: 'polite', checker: { type: 'regex', pattern: '^It' } },
        { name: 'style', judge: modelOf(judge) },
        { name: 'form', judge: modelOf(judge) },
      ],
    });
    const own = { ...outputOf(9), scores: { style: { score: 1 } } };
    const failed = { item_id: 'q-11', error: { code: 'timeout', message: 'too late' } };
    const lines = items.slice(0, 11).map((_, index) => (index === 9 ? own : outputOf(index)));
    expect((await push(`/runs/${id}/results`, [...lines, failed])).body.accepted).toBe(12);
    const before = await resultsOf(id);
    expect(before.map(({ status }) => status)).toEqual([...Array(11).fill('ok'), 'failed']);
    expect(Object.keys(before[0].scores)).toEqual(['polite']);
    expect(asked(judge)).toBe(0);
    const ending = await Promise.all([finish(id), finish(id)]);
    expect(ending.map(({ status }) => status)).toEqual([200, 200]);
    expect(await push(`/runs/${id}/results`, [outputOf(1)])).toMatchObject({
      body: { code: 'run_finished' },
    });
    const ended = await runEnded(service, id);
    expect(ended).toMatchObject({
      status: 'completed',
      counts: { ok: 11, failed: 1 },
      scores: { passed: 11 },
      scorers: { style: { passed: 7, ok: 11 }, form: { passed: 6, ok: 11 } },
      cost: { amount: 21 * verdict(0.75).length, currency: 'EUR' },
    });
    expect(asked(judge)).toBe(10 + 11);
    const after = await resultsOf(id);
    expect(after[0]).toMatchObject({
      ...before[0],
      judge_usage: expect.any(Object),
      judge_cost: 2 * verdict(0.75).length,
      cost: 2 * verdict(0.75).length,
      scores: {},
    });
    expect(after[0].scores).toMatchObject({
      style: { score: 0.75, scored_by: 'judge' },
      form: { score: 0.75 },
    });
    expect(after[9].scores).toMatchObject({
      style: { score: 1, scored_by: 'client' },
      form: { score: 0.25 },
    });
    expect(after[11]).toEqual(before[11]);
    expect((await finish(id)).body.status).toBe('completed');
  });

  it.each<[string, (judge: Judge) => object]>([
    [
      'its main scorer',
      (judge) => ({ scorers: [{ name: 'style', judge: modelOf(judge) }, { name: 'number' }] }),
    ],
    ['its only one', (judge) => ({ judge: modelOf(judge), checker: 'judge', checker_mode: 'override' })],
  ])('gets its score from a judge that is %s, within its budget', async (_, scoring) => {
    const judge = await startJudge();
    const cost = verdict(0.75).length;
    const model = { ...price, output_per_million: 0 };
    const id = await start({
      ...scoring(judge),
      price: model,
      max_cost: { amount: 5 * cost },
      concurrency: 1,
    });
    await push(
      `/runs/${id}/results`,
      items.map((_one, index) => outputOf(index)),
    );
    expect((await service.get(`/runs/${id}`)).body.counts).toMatchObject({ unscored: 12, ok: 0 });
    await finish(id);
    const stopped = await runEnded(service, id);
    expect(stopped).toMatchObject({
      ...{ status: 'stopped', error: { code: 'budget_spent' }, cost: { amount: 5 * cost } },
      ...{ counts: { ok: 5, unscored: 7 }, scores: { passed: 5 } },
    });
    expect(asked(judge)).toBe(5);
    const retry = await service.post(`/runs/${id}/retry`, {
      only: 'missing',
      max_cost: { amount: 100 * cost },
    });
    expect(retry.status, JSON.stringify(retry.body)).toBe(202);
    const ended = await runEnded(service, id);
    expect(ended).toMatchObject({
      ...{ status: 'completed', error: null, cost: { amount: 12 * cost } },
      ...{ counts: { ok: 12, unscored: 0, done: 12 }, scores: { passed: 6, mean: 0.5 } },
    });
    expect(asked(judge)).toBe(12);
    const [first] = await resultsOf(id);
    expect(first).toMatchObject({
      score: 0.75,
      passed: true,
      explanation: 'so',
      scored_by: 'judge',
      status: 'ok',
    });
    expect(Object.keys(first.scores ?? {})).toEqual(
      ended.config.scorers === undefined ? [] : ['number', 'style'],
    );
  });
});

it('refuses scorers that are not clear', async () => {
  const datasetId = await service.importItems(items);
  const config = (scorers: object[], more: object = {}): object => ({ provider: 'echo', scorers, ...more });
  const wrong: [object, string][] = [
    [config([{ name: 'a' }, { name: 'a' }]), '/config/scorers/1/name'],
    [config([{ name: 'a b' }]), '/config/scorers/0/name'],
    [config([{ name: 'a', checker: 'none' }]), '/config/scorers/0/checker'],
    [config([{ name: 'a', checker: 'judge' }]), '/config/scorers/0/checker'],
    [config([{ name: 'a', checker: { type: 'regex', pattern: '(' } }]), '/config/scorers/0/checker/pattern'],
    [config([{ name: 'a' }], { checker: 'numeric' }), '/config/checker'],
    [
      config([{ name: 'a', judge: { base_url: 'http://169.254.169.254', model: 'm' } }]),
      '/config/scorers/0/judge/base_url',
    ],
    [config([]), '/config/scorers'],
    [config(Array.from({ length: 9 }, (_, index) => ({ name: `s${index}` }))), '/config/scorers'],
  ];
  for (const [stated, path] of wrong) {
    const { status, body } = await service.post('/runs', { dataset_id: datasetId, config: stated });
    expect([status, body.errors?.[0]?.path]).toEqual([400, path]);
  }
});
