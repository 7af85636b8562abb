import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '../../../tools/vitest/until.ts';
import { type FakeProvider, type Reply, startFakeProvider } from './fake-provider.ts';
import { close, computeScores, hasPython, resultsOf } from './independent-scores.ts';
import { type Body, runEnded, startTestService, type TestService } from './start-test-service.ts';

let cleanUp: AsyncDisposableStack;
let service: TestService;
let provider: FakeProvider;
let datasetId: string;
/** What the provider does; tests change it. */
let reply: (prompt: string, attempt: number) => Reply;

const COUNT = 120;
const PRICE = { input_per_million: 2.5, output_per_million: 10, currency: 'EUR' };
/** Questions whose answer is a number; every tenth one has no answer, and two are equal. */
const items = Array.from({ length: COUNT }, (_, index) => ({
  id: `q${index}`,
  type: index % 2 === 0 ? 'numeric' : 'exact',
  inputs: { prompt: `Item ${index === 5 ? 3 : index}` },
  ...(index % 10 === 9 ? {} : { answer: String(index === 5 ? 3 : index) }),
  tags: index % 3 === 0 ? ['third', 'all'] : ['all'],
}));
items[5] = { ...items[5], id: 'q3' } as (typeof items)[number];

const numberOf = (prompt: string): number => Number(/Item (\d+)/.exec(prompt)?.[1]);

/** Right, wrong, right at the second attempt, cut at the limit, refused, rate limited, broken, slow. */
function moody(prompt: string, attempt: number): Reply {
  const number = numberOf(prompt);
  switch (number % 8) {
    case 1:
      return { text: String(number + 1000) };
    case 2:
      return { text: attempt > 1 ? String(number) : 'no idea' };
    case 3:
      return { text: String(number), finishReason: 'length' };
    case 4:
      return { text: '', message: { content: null, refusal: 'I will not.' }, finishReason: 'content_filter' };
    case 5:
      return attempt % 2 === 1
        ? { status: 429, headers: { 'retry-after-ms': '1' } }
        : { text: String(number) };
    case 6:
      return number % 16 === 6 ? { body: '{"choices":' } : { text: String(number), delayMs: 20 };
    default:
      return { text: String(number) };
  }
}

beforeAll(async () => {
  cleanUp = new AsyncDisposableStack();
  service = cleanUp.use(await startTestService());
  provider = cleanUp.use(await startFakeProvider((prompt, attempt) => reply(prompt, attempt)));
  datasetId = await service.importItems(items);
});
afterAll(() => cleanUp.disposeAsync());

const config = (more: object = {}): object => ({
  provider: { type: 'openai_compatible', base_url: provider.baseUrl, model: 'm' },
  ...{ concurrency: 16, price: PRICE },
  ...more,
});

async function run(more: object = {}): Promise<Body> {
  const { status, body } = await service.post('/runs', { dataset_id: datasetId, config: config(more) });
  expect(body).toMatchObject({ status: 'queued' });
  expect(status).toBe(202);
  await runEnded(service, body.id);
  return (await service.get(`/runs/${body.id}`)).body;
}

it.skipIf(!hasPython)(
  'gives the scores that another program computes from results.jsonl',
  async () => {
    reply = moody;
    const repetitions = 3;
    const ended = await run({ repetitions });
    const results = await resultsOf(service, ended.id);
    expect(results).toHaveLength(COUNT * repetitions);
    const { truncated, ...expected } = await computeScores({ results, repetitions, price: PRICE });
    expect(ended).toMatchObject(close(expected) as object);
    expect(ended.counts).toMatchObject({ truncated, total: COUNT * repetitions, done: COUNT * repetitions });
    expect(truncated).toBeGreaterThan(0);
    expect(Object.keys(ended.scores.pass_at_k)).toEqual(['1', '2', '3']);
    expect(ended.scores.pass_hat_k[1]).toBeCloseTo(ended.scores.pass_at_k[1], 12);
    expect(ended.scores.pass_hat_k[3]).toBeLessThan(ended.scores.pass_hat_k[1]);
    expect(ended.finish_reasons).toMatchObject({
      stop: expect.any(Number),
      content_filter: expect.any(Number),
    });
    // types and tags are not in the file: the parts are those of the whole
    const sum = (groups: Body, member: string): number =>
      Object.values<Body>(groups).reduce((total, group) => total + group[member], 0);
    for (const member of ['ok', 'failed', 'unscored', 'passed', 'results']) {
      expect(sum(ended.scores.by_type, member)).toBe(ended.scores[member]);
      expect(ended.scores.by_tag.all[member]).toBe(ended.scores[member]);
    }
    for (const { attempts, item_hash, latency_ms } of results) {
      expect(attempts).toBeGreaterThan(0);
      expect(item_hash).toMatch(/^[0-9a-f]{64}$/);
      if (latency_ms !== null) expect(Math.round(latency_ms * 10) / 10).toBe(latency_ms);
    }

    // filters and the list agree with the file
    const total = async (query: string): Promise<number> =>
      (await service.get(`/runs/${ended.id}/results?${query}`)).body.meta.total_items;
    const count = (test: (result: Body) => boolean): number => results.filter(test).length;
    expect(await total('finish_reason=length')).toBe(truncated);
    expect(await total('passed=true')).toBe(count(({ passed }) => passed === true));
    expect(await total('type=exact&status=ok')).toBe(ended.scores.by_type.exact.ok);
    expect(await total('tag=third')).toBe(ended.scores.by_tag.third.results);
    expect(await total('section=none')).toBe(0);
    expect(await total('q=WILL+not')).toBe(count(({ output }) => output === 'I will not.'));
    const { body: page } = await service.get(`/runs/${ended.id}/results?passed=false&include=item&limit=2`);
    for (const result of page.data) expect(result.item.id).toBe(result.item_id);

    // a second run that is better in some items and worse in others
    reply = (prompt) => ({ text: String(numberOf(prompt) + (numberOf(prompt) % 7 === 0 ? 1 : 0)) });
    const better = await run();
    const other = await resultsOf(service, better.id);
    const { comparison } = await computeScores({ results, other, repetitions });
    const compare = async (query = ''): Promise<Body> =>
      (await service.get(`/runs/${ended.id}/compare/${better.id}${query}`)).body;
    const compared = await compare('?limit=3');
    expect(compared).toMatchObject(close(comparison) as object);
    expect(compared.data).toHaveLength(3);
    expect(compared.meta.total_items).toBe(comparison.wins + comparison.losses);
    expect((await compare('?only=improvements')).meta.total_items).toBe(comparison.wins);
    const worse = await compare('?only=regressions&limit=100');
    expect(worse.data).toHaveLength(comparison.losses);
    for (const item of worse.data) expect(item.difference).toBeLessThan(0);
    expect(await service.get(`/runs/${ended.id}/compare/${datasetId}`)).toMatchObject({ status: 404 });
  },
  60_000,
);

it('selects the same items every time, in the order of its members', async () => {
  reply = (prompt) => ({ text: String(numberOf(prompt)) });
  const plan = async (select: object, more: object = {}): Promise<Body> => {
    const body = { dataset_id: datasetId, config: config({ select, ...more }) };
    return (await service.post('/runs?dry_run=true', body)).body;
  };
  expect(await plan({ limit: 30, types: ['exact'] })).toEqual({
    plan: {
      ...{ items: 15, requests: 15, reused: 0, scorable: 12, unscorable: 3 },
      estimate: { input_tokens: 195, output_tokens: 31, cost: { amount: 0.0007975, currency: 'EUR' } },
      unscorable_reasons: { no_answer: 3 },
    },
    warnings: [{ code: 'unscorable_items', message: expect.stringContaining('3 of 15') }],
  });
  expect((await plan({ tags: ['third'] })).plan.items).toBe(40);
  expect((await plan({ item_ids: ['q3', 'q7'] }, { repetitions: 2 })).plan).toMatchObject({
    items: 3,
    requests: 6,
  });
  expect(await plan({ sections: ['none'] })).toMatchObject({ code: 'nothing_to_score' });
  expect(await plan({ item_ids: ['q9'] })).toMatchObject({ code: 'nothing_to_score', status: 400 });
  expect((await plan({ item_ids: ['q9'] }, { allow_unscored: true })).plan.scorable).toBe(0);
  const override = { checker: { type: 'regex', pattern: '^\\d+$' }, checker_mode: 'override' };
  expect((await plan({}, override)).plan).toMatchObject({ scorable: COUNT, unscorable: 0 });
  // patterns are tried before a run starts: its own, and those of its items
  const backReference = { checker: { type: 'regex', pattern: '(a)\\1' } };
  expect(await plan({}, backReference)).toMatchObject({
    ...{ status: 400, code: 'invalid_request' },
    errors: [{ path: '/config/checker/pattern', message: expect.stringContaining('(a)') }],
  });
  const patterns = ['^4', '(?<=a)b', 'x'.repeat(30_000), null, '('].map((pattern, index) => ({
    ...{ inputs: { prompt: 'p' }, answer: index === 3 ? '[' : 'a' },
    checker: { type: 'regex', pattern, flags: 'i' },
  }));
  const checked = await service.importItems([...patterns, { ...patterns[0], checker: 'regex' }]);
  const { body: tried } = await service.post('/runs?dry_run=true', { dataset_id: checked, config: config() });
  expect(tried).toMatchObject({
    plan: { items: 6, scorable: 2, unscorable_reasons: { invalid_pattern: 4 } },
    warnings: [{ code: 'unscorable_items' }],
  });

  // answers are tried where their checker cannot use each
  const colours = ['red', 'green', 'blue'];
  const labelled = colours.map((text, index) => ({ label: `${index + 1}`, text }));
  const ofType = (type: string, answer: unknown, choices?: unknown): object => ({
    ...{ type, answer, inputs: { prompt: 'p', ...(choices === undefined ? {} : { choices }) } },
  });
  const usable = [
    ...['red', 'RED ', 'B', 'c', 2, '0', ['A', 'blue']].map((one) => ofType('multiple_choice', one, colours)),
    ...['1', '3', 'green', { label: '2' }].map((one) => ofType('multiple_choice', one, labelled)),
    ...[5, '1e3 m', ['x', '7'], '$ 7'].map((one) => ofType('numeric', one)),
    ...['été', '日本', ['', 'x']].map((answer) => ({ inputs: { prompt: 'p' }, checker: 'includes', answer })),
    { inputs: { prompt: 'p' }, checker: 'json_equal', answer: [] },
  ];
  const useless = {
    unknown_answer: [
      ...['purple', 'D', 3, ['A', 'purple'], { label: 'Z' }].map((one) =>
        ofType('multiple_choice', one, colours),
      ),
      ...['A', '4'].map((one) => ofType('multiple_choice', one, labelled)),
    ],
    no_answer: [
      ...['none', [[1]], { value: 5 }, '\u0001', '1e999999999', '12:30'].map((one) => ofType('numeric', one)),
      ...['  ', ['', ' ']].map((answer) => ({ inputs: { prompt: 'p' }, checker: 'includes', answer })),
      ofType('multiple_choice', [], colours),
    ],
    no_choices: [ofType('multiple_choice', 'A', [])],
  };
  const answered = await service.importItems([...usable, ...Object.values(useless).flat()]);
  const { body: known } = await service.post('/runs?dry_run=true', {
    dataset_id: answered,
    config: config(),
  });
  const reasons = { unknown_answer: 7, no_answer: 9, no_choices: 1 };
  expect(known.plan).toMatchObject({ scorable: usable.length, unscorable_reasons: reasons });
  expect(known.warnings[0].message).toContain('7 have an answer that is none of their choices');
  // which is what the checkers say afterwards
  const started = await service.post('/runs', { dataset_id: answered, config: config() });
  const { counts } = await runEnded(service, started.body.id);
  expect(counts).toMatchObject({ ok: usable.length, unscored: 17, failed: 0 });

  const select = { types: ['numeric'], sample: { n: 5, seed: 'a' } };
  const [first, second] = [await run({ select }), await run({ select })];
  expect(first.counts).toMatchObject({ total: 5, done: 5, ok: 5 });
  const idsOf = async (id: string): Promise<string[]> =>
    (await resultsOf(service, id)).map(({ item_id }) => item_id as string);
  expect(await idsOf(second.id)).toEqual(await idsOf(first.id));
  const digest = async (index: number): Promise<string> =>
    Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(`a:0:${index}`))).toString(
      'hex',
    );
  const even = Array.from({ length: COUNT / 2 }, (_, half) => 2 * half);
  const ranked = await Promise.all(even.map(async (index) => [await digest(index), index] as const));
  const smallest = ranked.toSorted(([one], [two]) => (one < two ? -1 : 1)).slice(0, 5);
  const indexes = smallest.map(([, index]) => index).toSorted((one, two) => one - two);
  expect(await idsOf(first.id)).toEqual(indexes.map((index) => items[index]?.id));
});

it('asks with the prompts of the run', async () => {
  const asked: string[] = [];
  reply = (prompt) => {
    asked.push(prompt);
    return { text: '1' };
  };
  const ended = await run({
    select: { item_ids: ['q1'] },
    prompt_template: '{id}: {prompt} {{as a number}}',
    checker: { type: 'numeric' },
  });
  expect(asked).toEqual(['q1: Item 1 {as a number}']);
  expect(ended.scores).toMatchObject({ passed: 1 });
});

it('ends after too many items in a row without a response, and continues with a retry', async () => {
  let isUp = false;
  const doneBefore = new Set<number>();
  reply = (prompt) => {
    const number = numberOf(prompt);
    if (isUp || number < 10) return { text: String(number) };
    return { status: 400 };
  };
  const more = { max_consecutive_failures: 4, max_retries: 0, concurrency: 1, price: undefined };
  const failed = await run(more);
  expect(failed).toMatchObject({
    status: 'failed',
    error: { code: 'provider_rejected', message: expect.stringContaining('4 items in a row') },
    counts: { done: 14, failed: 4, ok: 9, unscored: 1 },
    cost: null,
  });
  for (const { order_index, status } of await resultsOf(service, failed.id))
    if (status === 'ok') doneBefore.add(order_index);
  expect((await service.post(`/runs/${failed.id}/retry`, { only: 'truncated' })).status).toBe(202);
  expect(await runEnded(service, failed.id)).toMatchObject({
    status: 'failed',
    counts: { done: 18, failed: 8 },
  });

  isUp = true;
  const before = provider.asked.get('Item 1');
  const retried = await service.post(`/runs/${failed.id}/retry`, { only: 'failed' });
  expect(retried.body).toMatchObject({ status: 'queued', error: null, finished_at: null, retries: 2 });
  await runEnded(service, failed.id);
  const { body: ended } = await service.get(`/runs/${failed.id}`);
  expect(ended).toMatchObject({ status: 'completed', counts: { total: COUNT, done: COUNT, failed: 0 } });
  const results = await resultsOf(service, failed.id);
  expect(results.map(({ order_index }) => order_index)).toEqual(items.map((_, index) => index));
  expect(ended.counts).toMatchObject({
    ok: results.filter(({ status }) => status === 'ok').length,
    unscored: results.filter(({ status }) => status === 'unscored').length,
  });
  expect(ended.usage.output_tokens).toBe(
    results.reduce((sum, { usage }) => sum + (usage?.completion_tokens ?? 0), 0),
  );
  // what was done is not done again
  expect(doneBefore.size).toBe(9);
  expect(provider.asked.get('Item 1')).toBe(before);
  expect(await service.post(`/runs/${failed.id}/retry`, { only: 'failed' })).toMatchObject({
    status: 409,
    body: { code: 'nothing_to_retry' },
  });
});

it('scores stored outputs again without asking, renames and deletes', async () => {
  reply = (prompt) => ({ text: `The answer is ${numberOf(prompt)}`, finishReason: 'length' });
  const select = { limit: 20, types: ['numeric'] };
  const source = await run({ select, system_prompt: 'Be brief.' });
  expect(source.scores).toMatchObject({ mean: 1, passed: 10 });
  const requests = [...provider.asked.values()].reduce((sum, times) => sum + times, 0);
  const rescored = await service.post(`/runs/${source.id}/rescore`, {
    checker: 'exact_match',
    name: 'strict',
  });
  expect(rescored.status).toBe(202);
  await runEnded(service, rescored.body.id);
  const { body: again } = await service.get(`/runs/${rescored.body.id}`);
  expect(again).toMatchObject({
    name: 'strict',
    source_run_id: source.id,
    plan: { items: 10, requests: 0 },
    counts: { total: 10, ok: 10, truncated: 10 },
    scores: { mean: 0, passed: 0 },
    usage: { input_tokens: 0, output_tokens: 0 },
  });
  expect([...provider.asked.values()].reduce((sum, times) => sum + times, 0)).toBe(requests);
  expect(again.cost).toEqual({ amount: 0, currency: 'EUR' });
  const judgePrice = { input_per_million: 1, output_per_million: 4, currency: 'EUR' };
  reply = () => ({ text: '{"score": 0.5, "passed": true}' });
  const judge = { base_url: provider.baseUrl, model: 'j', price: judgePrice };
  const judged = await service.post(`/runs/${source.id}/rescore`, {
    checker: { type: 'judge', judge_prompt: 'Is {{output}} right?' },
    judge,
  });
  expect(judged.body).toMatchObject({ plan: { requests: 10, scorable: 10 }, warnings: [] });
  await runEnded(service, judged.body.id);
  const { truncated: _, ...computed } = await computeScores({
    ...{ results: await resultsOf(service, judged.body.id), repetitions: 1 },
    ...{ price: PRICE, judge_price: judgePrice },
  });
  expect((await service.get(`/runs/${judged.body.id}`)).body).toMatchObject(close(computed) as object);
  expect(computed.usage.judge_output_tokens).toBe(10 * '{"score": 0.5, "passed": true}'.length);
  expect(computed.cost.amount).toBeGreaterThan(0);
  const dollars = { ...judge, price: { ...judgePrice, currency: 'USD' } };
  expect(await service.post(`/runs/${source.id}/rescore`, { judge: dollars })).toMatchObject({
    status: 400,
    body: { errors: [{ path: '/judge/price/currency' }] },
  });
  const texts = async (id: string): Promise<unknown[]> =>
    (await resultsOf(service, id)).map(({ output }) => output);
  expect(await texts(again.id)).toEqual(await texts(source.id));
  expect(await service.post(`/runs/${source.id}/rescore`, { checker: 'script' })).toMatchObject({
    status: 400,
    body: { code: 'invalid_request', errors: [{ path: '/checker' }] },
  });

  const renamed = await service.patch(`/runs/${source.id}`, { name: 'lenient' });
  expect(renamed).toMatchObject({ status: 200, body: { name: 'lenient' } });
  expect(await service.delete(`/runs/${source.id}`)).toMatchObject({ status: 204 });
  expect(await service.get(`/runs/${source.id}`)).toMatchObject({ status: 404 });

  reply = () => 'hang';
  const { body: working } = await service.post('/runs', { dataset_id: datasetId, config: config() });
  expect(await service.delete(`/runs/${working.id}`)).toMatchObject({
    status: 409,
    body: { code: 'run_active' },
  });
  expect(await service.post(`/runs/${working.id}/retry`, { only: 'failed' })).toMatchObject({ status: 409 });
  expect(await service.post(`/runs/${working.id}/rescore`, {})).toMatchObject({ status: 409 });
  await service.post(`/runs/${working.id}/cancel`, {});
  await runEnded(service, working.id);
});

it('works on sixteen runs concurrently, whatever the number of cores', async () => {
  reply = () => 'hang';
  const runs = await Promise.all(
    Array.from({ length: 16 }, async () => {
      const body = { dataset_id: datasetId, config: config({ select: { limit: 8 }, concurrency: 8 }) };
      return (await service.post('/runs', body)).body;
    }),
  );
  await until(provider.waiting, (waiting) => waiting === 16 * 8);
  expect((await service.get('/healthz')).status).toBe(200);
  const [first, ...others] = runs;
  await service.post(`/runs/${first?.id}/cancel`, {});
  expect(await runEnded(service, first?.id)).toMatchObject({ status: 'cancelled', counts: { done: 0 } });
  await until(provider.waiting, (waiting) => waiting === 15 * 8);
  provider.release();
  for (const { id } of others) {
    expect(await runEnded(service, id)).toMatchObject({ status: 'completed', counts: { done: 8 } });
  }
});

it('ends immediately when the provider refuses the key', async () => {
  for (const [status, code] of [
    [401, 'provider_unauthorized'],
    [403, 'provider_unauthorized'],
    [404, 'provider_not_found'],
  ] as const) {
    reply = () => ({ status });
    expect(await run({ concurrency: 1 })).toMatchObject({
      status: 'failed',
      error: { code, provider_message: 'not now' },
      counts: { done: 1, failed: 1 },
    });
  }
});
