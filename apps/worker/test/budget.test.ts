import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase } from '../../../packages/service/test/store/template-db.ts';
import { IS_LONG } from '../../../tools/vitest/long.ts';
import { until } from '../../../tools/vitest/until.ts';
import { runService } from '../../standalone/test/faults/run-service.ts';
import { expireLeases } from './expire-leases.ts';
import { type FakeProvider, type Reply, startFakeProvider } from './fake-provider.ts';
import { type Body, runEnded, startTestService, type TestService } from './start-test-service.ts';

let cleanUp: AsyncDisposableStack;
let service: TestService;
let provider: FakeProvider;
/** What the provider does; tests change it. */
let reply: (prompt: string, attempt: number) => Reply;

/** One for each token. An answer `yes` costs 10: 7 for the prompt, as the provider counts, and 3. */
const PRICE = { input_per_million: 1_000_000, output_per_million: 1_000_000, currency: 'EUR' };
const itemsOf = (count: number, more: object = {}): object[] =>
  Array.from({ length: count }, (_, index) => ({
    ...{ type: 'exact', inputs: { prompt: `Question ${index}` }, answer: 'yes' },
    ...more,
  }));

beforeAll(async () => {
  cleanUp = new AsyncDisposableStack();
  service = cleanUp.use(await startTestService());
  provider = cleanUp.use(await startFakeProvider((prompt, attempt) => reply(prompt, attempt)));
});
afterAll(() => cleanUp.disposeAsync());

const config = (more: object = {}): object => ({
  provider: { type: 'openai_compatible', base_url: provider.baseUrl, model: 'm' },
  price: PRICE,
  ...more,
});
const requests = (): number => [...provider.asked.values()].reduce((sum, count) => sum + count, 0);

async function run(datasetId: string, given: object, on = service): Promise<{ ended: Body; sent: number }> {
  const before = requests();
  const { status, body } = await on.post('/runs', { dataset_id: datasetId, config: given });
  expect(body).toMatchObject({ status: 'queued' });
  expect(status).toBe(202);
  await runEnded(on, body.id);
  return { ended: (await on.get(`/runs/${body.id}`)).body, sent: requests() - before };
}

it('stops before the limit, and continues with a new one', async () => {
  reply = () => ({ text: 'yes' });
  const dataset = await service.importItems(itemsOf(30));
  const { ended, sent } = await run(dataset, config({ concurrency: 1, max_cost: { amount: 100 } }));
  expect(ended).toMatchObject({
    status: 'stopped',
    error: { code: 'budget_spent', message: 'The next request could take the run beyond max_cost.' },
    counts: { done: sent, failed: 0, total: 30 },
    cost: { amount: 10 * sent, currency: 'EUR' },
  });
  expect(ended.finished_at).not.toBeNull();
  expect(sent).toBe(9);
  expect((await service.get('/runs?status=stopped')).body.data).toMatchObject([{ id: ended.id }]);
  expect(await service.sample('svc_runs_total{status="stopped"}')).toBe(1);

  const retry = async (body: object): Promise<{ again: Body; asked: number }> => {
    const before = requests();
    const response = await service.post(`/runs/${ended.id}/retry`, { only: 'missing', ...body });
    expect(response.status).toBe(202);
    await runEnded(service, ended.id);
    return { again: (await service.get(`/runs/${ended.id}`)).body, asked: requests() - before };
  };
  expect(await retry({})).toMatchObject({ again: { status: 'stopped', counts: { done: 9 } }, asked: 0 });
  const more = await retry({ max_cost: { amount: 205 } });
  expect(more).toMatchObject({ again: { status: 'stopped', counts: { done: 20 } }, asked: 11 });
  expect(more.again.config.max_cost).toEqual({ amount: 205 });
  const whole = await retry({ max_cost: null });
  expect(whole).toMatchObject({ again: { status: 'completed', error: null, counts: { ok: 30 } }, asked: 10 });
  expect(whole.again).toMatchObject({ cost: { amount: 300 } });
  expect(await service.post(`/runs/${ended.id}/retry`, { only: 'missing' })).toMatchObject({ status: 409 });
});

it('expects of a request what the results that are kept have cost, also after retries', async () => {
  reply = () => ({ text: 'yes', finishReason: 'length' });
  const dataset = await service.importItems(itemsOf(1));
  for (const [limit, most] of [
    [50, 4],
    [75, 7],
  ] as const) {
    const { ended, sent } = await run(dataset, config({ max_cost: { amount: limit } }));
    let asked = sent;
    for (let again = ended; again.status !== 'stopped'; ) {
      const before = requests();
      const { status } = await service.post(`/runs/${ended.id}/retry`, { only: 'truncated' });
      expect(status).toBe(202);
      await runEnded(service, ended.id);
      again = (await service.get(`/runs/${ended.id}`)).body;
      asked += requests() - before;
    }
    expect(asked).toBe(most);
  }
});

it('expects the same after a retry where judges scored outputs of an earlier run', async () => {
  const isJudge = (prompt: string): boolean => !/^Question \d+$/.test(prompt);
  reply = (prompt) => ({ text: isJudge(prompt) ? `${' '.repeat(970)}{"score": 1, "passed": true}` : 'yes' });
  const judged = { checker: 'judge', type: 'freeform', meta: { judge_prompt: 'Is it right?' } };
  const dataset = await service.importItems(itemsOf(20, judged));
  const given = config({ judge: { base_url: provider.baseUrl, model: 'j', price: PRICE }, concurrency: 1 });
  const { ended: first } = await run(dataset, { ...given, select: { limit: 10 } });
  // 1,005 for each judgement, and 10 for each new output
  const limited = { ...given, reuse: { run_id: first.id }, max_cost: { amount: 11_300 } };
  const { ended } = await run(dataset, limited);
  expect(ended).toMatchObject({
    status: 'stopped',
    counts: { reused: 10, done: 11 },
    cost: { amount: 11_065 },
  });
  const more = { only: 'missing', max_cost: { amount: 14_300 } };
  expect((await service.post(`/runs/${ended.id}/retry`, more)).status).toBe(202);
  await runEnded(service, ended.id);
  expect((await service.get(`/runs/${ended.id}`)).body).toMatchObject({
    status: 'stopped',
    counts: { done: 14 },
  });
});

it('exceeds the limit by what was in flight at most', async () => {
  reply = () => ({ text: 'y'.repeat(93), delayMs: 20 });
  const dataset = await service.importItems(itemsOf(40));
  const { ended, sent } = await run(dataset, config({ concurrency: 8, max_cost: { amount: 300 } }));
  // Nothing says yet how long outputs are: the first eight are expected to cost their prompts.
  expect({ status: ended.status, sent, cost: ended.cost.amount }).toEqual({
    ...{ status: 'stopped', sent: 8, cost: 800 },
  });
});

it('uses what requests in flight have not cost', async () => {
  reply = () => ({ text: 'yes', delayMs: 5 });
  const dataset = await service.importItems(itemsOf(30));
  const { ended, sent } = await run(dataset, config({ concurrency: 16, max_cost: { amount: 100 } }));
  // A prompt is expected to cost 14, so that 7 start together; each ends cheaper.
  expect({ status: ended.status, sent, cost: ended.cost.amount }).toEqual({
    ...{ status: 'stopped', sent: 9, cost: 90 },
  });
});

it('counts the requests of the judge, and judges each output that was paid for', async () => {
  const isJudge = (prompt: string): boolean => !/^Question \d+$/.test(prompt);
  reply = (prompt) => ({ text: isJudge(prompt) ? '{"score": 1, "passed": true}' : 'yes' });
  const judged = { checker: 'judge', type: 'freeform', meta: { judge_prompt: 'Is it right?' } };
  const dataset = await service.importItems(itemsOf(30, judged));
  const judge = { base_url: provider.baseUrl, model: 'j', price: PRICE };
  const given = config({ judge, concurrency: 2, max_cost: { amount: 1_000 } });
  const { ended, sent } = await run(dataset, given);
  const { done, ok } = ended.counts;
  expect(ended.status).toBe('stopped');
  expect(ok).toBe(done);
  expect(sent).toBe(2 * done);
  expect(ended.cost.amount).toBe(done * 45);
  expect(ended.cost.amount).toBeLessThanOrEqual(1_000);
  expect(ended.cost.amount).toBeGreaterThan(800);
});

it('counts the requests of several judges, each at its own price', async () => {
  const isJudge = (prompt: string): boolean => !/^Question \d+$/.test(prompt);
  reply = (prompt) => ({ text: isJudge(prompt) ? '{"score": 1, "passed": true}' : 'yes' });
  const judged = { type: 'freeform', meta: { judge_prompt: 'Is it right?' } };
  const dataset = await service.importItems(itemsOf(30, judged));
  const judge = (price: object): object => ({ base_url: provider.baseUrl, model: 'j', price });
  const scorers = [
    { name: 'right', checker: 'exact_match' },
    { name: 'style', judge: judge(PRICE) },
    { name: 'form', judge: judge({ ...PRICE, input_per_million: 0, output_per_million: 2_000_000 }) },
  ];
  const { ended } = await run(dataset, config({ scorers, concurrency: 2, max_cost: { amount: 1_000 } }));
  expect(ended.status).toBe('stopped');
  const { data } = (await service.get(`/runs/${ended.id}/results?limit=100`)).body;
  for (const { judge_usage: usage, judge_cost: charged, cost } of data) {
    expect(charged).toBe(usage.input_tokens / 2 + usage.output_tokens * 1.5);
    expect(cost).toBe(10 + charged);
  }
  const amount = data.reduce((sum: number, { cost }: Body) => sum + cost, 0);
  expect(ended.cost).toEqual({ amount, currency: 'EUR' });
  expect(amount).toBeLessThanOrEqual(1_000);
  expect(amount).toBeGreaterThan(800);
  // a further judge is asked within what is left, and its cost comes on top
  const add = await service.post(`/runs/${ended.id}/rescore`, {
    scorers: [{ name: 'tone', judge: judge({ ...PRICE, input_per_million: 0 }) }],
    add: true,
  });
  expect(add.status, JSON.stringify(add.body)).toBe(202);
  await runEnded(service, ended.id);
  const after = (await service.get(`/runs/${ended.id}`)).body;
  expect(after.cost.amount).toBeGreaterThan(amount);
  expect(after.cost.amount).toBeLessThanOrEqual(1_000);
});

it('needs prices', async () => {
  const dataset = await service.importItems(itemsOf(1));
  const post = (given: object) => service.post('/runs', { dataset_id: dataset, config: given });
  const { price: _, ...unpriced } = config({ max_cost: { amount: 1 } }) as Body;
  expect(await post(unpriced)).toMatchObject({
    status: 400,
    body: { errors: [{ path: '/config/max_cost' }] },
  });
  const judge = { base_url: provider.baseUrl, model: 'j' };
  expect(await post(config({ judge, max_cost: { amount: 1 } }))).toMatchObject({
    ...{ status: 400, body: { errors: [{ path: '/config/judge/price' }] } },
  });
  const { ended } = await run(dataset, { provider: unpriced.provider });
  expect(
    await service.post(`/runs/${ended.id}/retry`, { only: 'failed', max_cost: { amount: 1 } }),
  ).toMatchObject({ status: 400, body: { errors: [{ path: '/max_cost' }] } });
});

it.runIf(IS_LONG)(
  'keeps both promises when a worker is killed',
  async ({ skip }) => {
    const isCitus = (process.env['TEST_CITUS_URL'] ?? '') !== '';
    skip(
      isCitus,
      'all tests of a cluster share one database, where the other worker of this file takes the run',
    );
    await using stack = new AsyncDisposableStack();
    const database = await createTestDatabase();
    stack.defer(() => database.drop());
    const api = stack.use(await startTestService({ databaseUrl: database.url, worker: false }));
    const worker = { app: 'worker', dataDir: '/tmp', env: { DATABASE_URL: database.url } } as const;
    const dataset = await api.importItems(itemsOf(60));
    reply = () => ({ text: 'yes' });
    const first = stack.use(await runService(worker));
    const paid = await run(dataset, config({ select: { limit: 20 } }), api);
    expect(paid.sent).toBe(20);

    const before = requests();
    let hung = 0;
    reply = () => {
      if (requests() - before <= 15 || hung === 2) return { text: 'yes', delayMs: 10 };
      hung += 1;
      return 'hang';
    };
    const given = config({ concurrency: 2, reuse: { run_id: 'latest' }, max_cost: { amount: 300 } });
    const { body } = await api.post('/runs', { dataset_id: dataset, config: given });
    await until(
      async () => (await api.get(`/runs/${body.id}`)).body.counts.done,
      (done) => hung === 2 && done === 20 + requests() - before - hung,
    );
    await first.end('SIGKILL');
    await expireLeases(database.url);
    reply = () => ({ text: 'yes' });
    stack.use(await runService(worker));
    await runEnded(api, body.id, 60_000);
    const { body: ended } = await api.get(`/runs/${body.id}`);
    const asked = ended.counts.done - 20;
    expect(ended).toMatchObject({ status: 'stopped', counts: { reused: 20 }, cost: { amount: asked * 10 } });
    expect(asked).toBe(29);
    // Only the two in flight were asked twice.
    expect(requests() - before).toBe(asked + 2);
  },
  120_000,
);

it('holds for a run that scores outputs again, which may state another one', async () => {
  reply = () => ({ text: 'yes' });
  const dataset = await service.importItems(itemsOf(3));
  const { ended } = await run(dataset, config({ max_cost: { amount: 100 } }));
  const limitOf = async (body: object): Promise<Body> => {
    const { status, body: again } = await service.post(`/runs/${ended.id}/rescore`, body);
    expect([status, again]).toMatchObject([202, { source_run_id: ended.id }]);
    await runEnded(service, again.id);
    return again.config.max_cost;
  };
  expect(await limitOf({ checker: 'includes' })).toEqual({ amount: 100 });
  expect(await limitOf({ max_cost: { amount: 5 } })).toEqual({ amount: 5 });
  expect(await limitOf({ max_cost: null })).toBeUndefined();
  const judge = { base_url: provider.baseUrl, model: 'j', price: PRICE };
  reply = () => ({ text: '{"score": 1}' });
  const before = requests();
  const { body } = await service.post(`/runs/${ended.id}/rescore`, {
    judge,
    checker: 'judge',
    max_cost: { amount: 1 },
  });
  expect(await runEnded(service, body.id)).toMatchObject({ status: 'stopped' });
  expect(requests()).toBe(before);
});

it('counts answers that hold no message, and those of failed requests', async () => {
  const usage = { prompt_tokens: 1, completion_tokens: 9 };
  const dataset = await service.importItems(itemsOf(30));
  const limited = config({ concurrency: 1, max_cost: { amount: 100 }, max_consecutive_failures: 1_000 });
  for (const answer of [
    { body: JSON.stringify({ choices: [], usage }) },
    { status: 400, body: JSON.stringify({ error: { code: 'content_filter' }, usage }) },
  ]) {
    reply = () => answer;
    const { ended, sent } = await run(dataset, limited);
    expect(ended).toMatchObject({ status: 'stopped', counts: { failed: sent } });
    expect(ended.cost.amount).toBe(10 * sent);
    // An estimated prompt may be longer than what the answer says.
    expect(sent).toBeLessThanOrEqual(10);
    expect(sent).toBeGreaterThan(5);
  }
});
