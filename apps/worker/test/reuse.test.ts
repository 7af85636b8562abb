import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FakeProvider, type Reply, startFakeProvider } from './fake-provider.ts';
import { type Body, runEnded, startTestService, type TestService } from './start-test-service.ts';

let cleanUp: AsyncDisposableStack;
let service: TestService;
let provider: FakeProvider;
/** What the provider does; tests change it. */
let reply: (prompt: string, attempt: number) => Reply;

const itemsOf = (prompts: readonly string[]): object[] =>
  prompts.map((prompt) => ({ type: 'exact', inputs: { prompt }, answer: 'yes' }));
const PROMPTS = Array.from({ length: 10 }, (_, index) => `Question ${index}`);

beforeAll(async () => {
  cleanUp = new AsyncDisposableStack();
  service = cleanUp.use(await startTestService());
  provider = cleanUp.use(await startFakeProvider((prompt, attempt) => reply(prompt, attempt)));
});
afterAll(() => cleanUp.disposeAsync());

const model = (more: object = {}): object => ({
  type: 'openai_compatible',
  ...{ base_url: provider.baseUrl, model: 'm', params: { max_tokens: 50 } },
  ...more,
});
const PRICE = { input_per_million: 1_000_000, output_per_million: 1_000_000 };

function requests(): number {
  return [...provider.asked.values()].reduce((sum, count) => sum + count, 0);
}

/** Runs a dataset to its end. @returns the run, and how many requests it took */
async function run(datasetId: string, config: object): Promise<{ ended: Body; sent: number }> {
  const before = requests();
  const { status, body } = await service.post('/runs', { dataset_id: datasetId, config });
  expect(body).toMatchObject({ status: 'queued' });
  expect(status).toBe(202);
  await runEnded(service, body.id);
  return { ended: (await service.get(`/runs/${body.id}`)).body, sent: requests() - before };
}

async function resultsOf(id: string): Promise<Body[]> {
  const { body } = await service.get(`/runs/${id}/results?limit=100`);
  return body.data;
}

it('asks nothing when a run is repeated, and says so in the plan', async () => {
  reply = () => ({ text: 'yes' });
  const dataset = await service.importItems(itemsOf(PROMPTS));
  const config = { provider: model(), price: PRICE, repetitions: 2 };
  const first = await run(dataset, config);
  expect(first.sent).toBe(20);
  const planned = await service.post('/runs/plan', {
    dataset_id: dataset,
    config: { ...config, reuse: { run_id: 'latest' } },
  });
  expect(planned.body).toMatchObject({ plan: { requests: 0, reused: 20 }, warnings: [] });
  const again = await run(dataset, { ...config, reuse: { run_id: first.ended.id } });
  expect(again.sent).toBe(0);
  expect(again.ended).toMatchObject({
    status: 'completed',
    plan: { requests: 0, reused: 20, estimate: { input_tokens: 0, output_tokens: 0 } },
    counts: { ok: 20, reused: 20 },
    scores: first.ended.scores,
    reused_run_id: first.ended.id,
    usage: { input_tokens: 0, output_tokens: 0 },
    cost: { amount: 0 },
  });
  expect(first.ended).toMatchObject({ reused_run_id: null, counts: { reused: 0 }, cost: { amount: 200 } });
  const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };
  for (const result of await resultsOf(again.ended.id)) {
    expect(result).toMatchObject({ output: 'yes', passed: true, finish_reason: 'stop', attempts: null });
    expect(result).toMatchObject({ reused: true, usage: null, usage_reused: usage });
  }
  expect((await resultsOf(first.ended.id))[0]).toMatchObject({ reused: false, usage, usage_reused: null });
  // the third time, from the second
  const third = await run(dataset, { ...config, reuse: { run_id: 'latest' } });
  expect(third).toMatchObject({ sent: 0, ended: { reused_run_id: again.ended.id } });
  expect((await resultsOf(third.ended.id))[0]).toMatchObject({ reused: true, usage_reused: usage });
});

it('asks only a changed prompt again, whatever else changes in the items', async () => {
  reply = () => ({ text: 'yes' });
  const { ended: first } = await run(await service.importItems(itemsOf(PROMPTS)), { provider: model() });
  const changed = itemsOf(['Another question', ...PROMPTS.slice(1)]).map((item, index) => ({
    ...item,
    ...(index === 3 ? { answer: 'no' } : {}),
    meta: { note: index },
  }));
  const config = { provider: model(), reuse: { run_id: first.id } };
  const { ended, sent } = await run(await service.importItems(changed.toReversed()), config);
  expect(sent).toBe(1);
  expect(ended).toMatchObject({
    plan: { requests: 1, reused: 9 },
    counts: { reused: 9 },
    scores: { passed: 9 },
  });
  const asked = (await resultsOf(ended.id)).filter(({ reused }) => !reused);
  expect(asked).toMatchObject([{ order_index: 9, attempts: 1 }]);
});

it.each<[string, (config: Body) => object]>([
  ['a parameter', (config) => ({ ...config, provider: model({ params: { max_tokens: 51 } }) })],
  ['the model', (config) => ({ ...config, provider: model({ model: 'n' }) })],
  ['the system prompt', (config) => ({ ...config, system_prompt: 'Be short.' })],
  ['the template', (config) => ({ ...config, prompt_template: '{prompt}!' })],
])('asks everything when %s changes', async (_, change) => {
  reply = () => ({ text: 'yes' });
  const dataset = await service.importItems(itemsOf(PROMPTS));
  const config = { provider: model(), price: PRICE };
  const { ended: first } = await run(dataset, config);
  const { ended, sent } = await run(dataset, change({ ...config, reuse: { run_id: first.id } }));
  expect(sent).toBe(10);
  expect(ended).toMatchObject({ plan: { requests: 10, reused: 0 }, counts: { reused: 0 } });
  expect(ended.warnings).toMatchObject([{ code: 'nothing_to_reuse' }]);
});

it('asks failed and truncated ones again, and other repetitions', async () => {
  reply = (prompt) =>
    prompt.endsWith('1')
      ? { status: 400 }
      : prompt.endsWith('2')
        ? { text: 'y', finishReason: 'length' }
        : { text: 'yes' };
  const dataset = await service.importItems(itemsOf(PROMPTS));
  const { ended: first } = await run(dataset, { provider: model() });
  expect(first.counts).toMatchObject({ failed: 1, truncated: 1 });
  reply = () => ({ text: 'yes' });
  const config = { provider: model(), repetitions: 2, reuse: { run_id: first.id } };
  const { ended, sent } = await run(dataset, config);
  expect({ sent, planned: ended.plan.reused }).toEqual({ sent: 12, planned: 8 });
  expect(ended.counts).toMatchObject({ ok: 20, reused: 8 });
});

it('takes nothing from imported runs, nor results from outside', async () => {
  reply = () => ({ text: 'yes' });
  const dataset = await service.importItems(itemsOf(PROMPTS));
  const { ended: first } = await run(dataset, { provider: model() });
  const archive = await fetch(`${service.url}/datasets/${dataset}/export?run_id=${first.id}`);
  const form = new FormData();
  form.set('file', new Blob([await archive.arrayBuffer()]), 'run.pkg.zip');
  const { body: copy } = await service.post('/datasets/upload', form);
  const [imported] = (await service.get(`/runs?dataset_id=${copy.id}`)).body.data;
  expect(imported).toMatchObject({ imported: true, counts: { ok: 10 } });

  const { body: outside } = await service.post('/runs', {
    dataset_id: copy.id,
    config: { provider: { type: 'external', label: 'agent' } },
  });
  const section = copy.sections[0].name;
  const lines = PROMPTS.map((_, index) => JSON.stringify({ section, order_index: index, output: 'yes' }));
  const pushed = await fetch(`${service.url}/runs/${outside.id}/results`, {
    method: 'POST',
    headers: { 'content-type': 'application/jsonl' },
    body: lines.join('\n'),
  });
  expect(await pushed.json()).toMatchObject({ accepted: 10 });
  expect((await service.post(`/runs/${outside.id}/finish`, {})).body.status).toBe('completed');

  for (const id of [imported.id, outside.id, 'latest']) {
    const { ended, sent } = await run(copy.id, {
      provider: model(),
      reuse: { run_id: id },
      select: { limit: 4 },
    });
    expect([sent, ended.counts.reused, ended.plan.reused], id).toEqual([4, 0, 0]);
    await service.delete(`/runs/${ended.id}`);
  }
});

it('judges reused outputs anew', async () => {
  reply = (prompt) => ({
    text: prompt.includes('END OF') || prompt.includes('score') ? '{"score": 1}' : 'yes',
  });
  const items = PROMPTS.map((prompt) => ({
    inputs: { prompt },
    checker: 'judge',
    meta: { judge_prompt: 'score it' },
  }));
  const dataset = await service.importItems(items);
  const config = { provider: model(), judge: { base_url: provider.baseUrl, model: 'j' } };
  const first = await run(dataset, config);
  expect(first.sent).toBe(20);
  const again = await run(dataset, { ...config, reuse: { run_id: first.ended.id } });
  expect(again.sent).toBe(10);
  expect(again.ended).toMatchObject({ plan: { requests: 10, reused: 10 }, counts: { ok: 10, reused: 10 } });
  expect(again.ended.usage.judge_output_tokens).toBeGreaterThan(0);
});

it('takes long outputs, and those of equal items', async () => {
  const long = 'yes'.repeat(100_000);
  reply = () => ({ text: long });
  const dataset = await service.importItems(itemsOf(['Same', 'Same', 'Other']));
  const { ended: first } = await run(dataset, { provider: model() });
  const { ended, sent } = await run(dataset, { provider: model(), reuse: { run_id: first.id } });
  expect({ sent, reused: ended.counts.reused, planned: ended.plan.reused }).toEqual({
    ...{ sent: 0, reused: 3, planned: 3 },
  });
  expect((await resultsOf(ended.id)).every(({ output }) => output === long)).toBe(true);
});

it('chooses the newest run that asked the same model at the same origin', async () => {
  reply = () => ({ text: 'yes' });
  const dataset = await service.importItems(itemsOf(PROMPTS.slice(0, 2)));
  const reuse = { run_id: 'latest' };
  const none = await run(dataset, { provider: model(), reuse });
  expect(none).toMatchObject({ sent: 2, ended: { reused_run_id: null } });
  const other = provider.baseUrl.replace('127.0.0.1', 'localhost');
  await run(dataset, { provider: model({ model: 'other' }) });
  await run(dataset, { provider: model({ base_url: other }) });
  await run(dataset, { provider: 'echo' });
  const { body: scored } = await service.post(`/runs/${none.ended.id}/rescore`, { checker: 'includes' });
  await runEnded(service, scored.id);
  const latest = await run(dataset, { provider: model(), reuse });
  expect(latest).toMatchObject({ sent: 0, ended: { reused_run_id: none.ended.id } });
  const odd = { provider: model({ model: 'm\0' }), reuse };
  const unasked = await run(dataset, odd);
  expect(unasked).toMatchObject({ sent: 2 });
  expect(await run(dataset, odd)).toMatchObject({ sent: 0, ended: { reused_run_id: unasked.ended.id } });
});

it('refuses a run that it does not know, or that has not ended, and keeps one while another takes its outputs', async () => {
  reply = () => 'hang';
  const dataset = await service.importItems(itemsOf(PROMPTS));
  const post = (run_id: unknown) =>
    service.post('/runs', { dataset_id: dataset, config: { provider: model(), reuse: { run_id } } });
  expect(await post('00000000-0000-4000-8000-000000000000')).toMatchObject({ status: 404 });
  expect(await post('newest')).toMatchObject({
    status: 400,
    body: { errors: [{ path: '/config/reuse/run_id' }] },
  });
  const { body: first } = await service.post('/runs', { dataset_id: dataset, config: { provider: model() } });
  expect(await post(first.id)).toMatchObject({ status: 409, body: { code: 'run_active' } });
  await service.post(`/runs/${first.id}/cancel`);
  await runEnded(service, first.id);
  const { item_hash } = (await service.get(`/datasets/${dataset}/items?limit=1`)).body.data[0];
  await service.patch(`/datasets/${dataset}/items`, { edits: [{ item_hash, remove: true }] });
  const { body: second } = await post(first.id);
  expect(second.dataset_version).toBe(2);
  expect(await service.delete(`/runs/${first.id}`)).toMatchObject({ status: 409 });
  expect(await service.delete(`/datasets/${dataset}/versions/1?runs=delete`)).toMatchObject({
    status: 409,
    body: { code: 'run_active' },
  });
  await service.post(`/runs/${second.id}/cancel`);
  await runEnded(service, second.id);
  expect(await service.delete(`/datasets/${dataset}/versions/1?runs=delete`)).toMatchObject({ status: 204 });
  expect(await service.get(`/runs/${first.id}`)).toMatchObject({ status: 404 });
});
