import { afterAll, beforeAll, expect, it } from 'vitest';
import { queryDatabase } from '../../../packages/service/test/store/query-database.ts';
import { until } from '../../../tools/vitest/until.ts';
import { type FakeProvider, type Reply, startFakeProvider } from './fake-provider.ts';
import { startTestService, type TestResponse, type TestService } from './start-test-service.ts';

let cleanUp: AsyncDisposableStack;
let service: TestService;
let provider: FakeProvider;
let dataset: string;
/** What the provider does; tests change it. */
let reply: (prompt: string, attempt: number) => Reply;

const ITEMS = 12;
const items = Array.from({ length: ITEMS }, (_, index) => ({
  ...{ id: `q${index}`, type: 'exact', inputs: { prompt: `Question ${index}` }, answer: 'yes' },
}));

beforeAll(async () => {
  cleanUp = new AsyncDisposableStack();
  service = cleanUp.use(await startTestService());
  provider = cleanUp.use(await startFakeProvider((prompt, attempt) => reply(prompt, attempt)));
  dataset = await service.importItems(items);
});
afterAll(() => cleanUp.disposeAsync());

const tryRun = (query: string, more: object = {}, init: object = {}): Promise<TestResponse> => {
  const model = {
    type: 'openai_compatible',
    base_url: provider.baseUrl,
    model: 'm',
    params: { max_tokens: 9 },
  };
  return service.post(`/runs${query}`, {
    dataset_id: dataset,
    config: { provider: model, ...more },
    ...init,
  });
};
const stored = async (): Promise<unknown> => {
  await service.store.runs.collect();
  const [row] = await queryDatabase(
    service.databaseUrl,
    'SELECT (SELECT count(*)::int FROM runs) AS runs, (SELECT count(*)::int FROM run_results) AS results',
  );
  return row;
};

it('shows requests and outputs of some items, asked together, and stores nothing', async () => {
  let together = 0;
  reply = (prompt) => {
    together = Math.max(together, provider.waiting());
    return { text: prompt === 'Question 1.' ? 'no' : 'yes', delayMs: 100 };
  };
  const { status, body } = await tryRun('?try=3', {
    system_prompt: 'Be short.',
    prompt_template: '{prompt}.',
  });
  expect(status).toBe(200);
  expect(body.data).toHaveLength(3);
  expect(together).toBe(3);
  const asked = [...provider.asked.keys()];
  for (const tried of body.data) {
    const prompt = `Question ${tried.order_index}.`;
    expect(asked).toContain(prompt);
    const passed = tried.order_index !== 1;
    expect(tried).toEqual({
      ...{ section: expect.any(String), order_index: expect.any(Number), item_id: `q${tried.order_index}` },
      request: {
        ...{ model: 'm', max_tokens: 9 },
        messages: [
          { role: 'system', content: 'Be short.' },
          { role: 'user', content: prompt },
        ],
      },
      ...{ output: passed ? 'yes' : 'no', reasoning: null, error: null, finish_reason: 'stop' },
      usage: { prompt_tokens: 7, completion_tokens: passed ? 3 : 2, total_tokens: passed ? 10 : 9 },
      latency_ms: expect.any(Number),
      scores: {
        main: { score: passed ? 1 : 0, passed, explanation: expect.any(String), scored_by: 'checker' },
      },
    });
  }
  expect(await stored()).toEqual({ runs: 0, results: 0 });
  expect((await service.get('/runs')).body.meta.total_items).toBe(0);
  const again = await tryRun('/try', { select: { item_ids: ['q4', 'q5'] } });
  expect(again.body.data.map((tried: { item_id: string }) => tried.item_id)).toEqual(['q4', 'q5']);
});

it('shows the scores of every scorer', async () => {
  reply = () => ({ text: 'yes, it is' });
  const scorers = [
    { name: 'exact', checker: 'exact_match' },
    { name: 'loose', checker: 'includes' },
  ];
  const { body } = await tryRun('?try=1', { scorers });
  expect(body.data[0].scores).toMatchObject({
    exact: { score: 0, passed: false, scored_by: 'checker' },
    loose: { score: 1, passed: true, scored_by: 'checker' },
  });
});

it('shows why there is no output', async () => {
  reply = () => ({ status: 401 });
  const { status, body } = await tryRun('?try=2');
  expect(status).toBe(200);
  expect(body.data).toHaveLength(2);
  for (const tried of body.data) {
    expect(tried).toMatchObject({ output: null, error: { code: 'provider_unauthorized' }, scores: {} });
  }
  expect(await stored()).toEqual({ runs: 0, results: 0 });
});

it('accepts 1 to 20 items, and no run whose results come from clients', async () => {
  for (const query of ['?try=0', '?try=21', '?try=x'])
    expect(await tryRun(query)).toMatchObject({ status: 400 });
  const { status } = await tryRun('?try=1', { provider: { type: 'external', label: 'mine' } });
  expect(status).toBe(400);
});

it('is in no list while it works, and goes when its caller leaves', async () => {
  reply = () => 'hang';
  const caller = new AbortController();
  const body = JSON.stringify({
    dataset_id: dataset,
    config: { provider: { type: 'openai_compatible', base_url: provider.baseUrl, model: 'm' } },
  });
  const trying = fetch(`${service.url}/runs?try=1`, {
    ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body, signal: caller.signal },
  });
  await until(
    async () => provider.waiting(),
    (waiting) => waiting === 1,
  );
  expect((await service.get('/runs')).body.data).toEqual([]);
  caller.abort();
  await expect(trying).rejects.toThrow();
  await until(stored, (now) => JSON.stringify(now) === '{"runs":0,"results":0}');
  await until(
    async () => provider.waiting(),
    (waiting) => waiting === 0,
  );
});

it('deletes what a process has left behind', async () => {
  await queryDatabase(
    service.databaseUrl,
    `INSERT INTO runs (id, dataset_id, dataset_version, dataset_version_hash, config, total, is_trial, status, finished_at, created_at)
     SELECT gen_random_uuid(), dataset_id, version, version_hash, '{}', 1, true, 'completed', now(), now() - age
     FROM versions, (VALUES (interval '1 hour'), (interval '1 minute')) AS ages (age)`,
  );
  await service.store.runs.deleteTrials();
  expect(await stored()).toEqual({ runs: 1, results: 0 });
});
