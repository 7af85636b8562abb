import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../../tools/vitest/until.ts';
import { type FakeProvider, type Reply, startFakeProvider } from './fake-provider.ts';
import {
  type Body,
  type LogLine,
  runEnded,
  startTestService,
  type TestService,
  type TestServiceOptions,
} from './start-test-service.ts';

let cleanUp: AsyncDisposableStack;
beforeEach(() => {
  cleanUp = new AsyncDisposableStack();
});
afterEach(() => cleanUp.disposeAsync());

async function serve(options?: TestServiceOptions): Promise<TestService> {
  return cleanUp.use(await startTestService(options));
}
async function provide(reply: (prompt: string, attempt: number) => Reply): Promise<FakeProvider> {
  return cleanUp.use(await startFakeProvider(reply));
}

/** Questions whose answer is a number; more than a page of results, and than the connections of a run. */
const items = Array.from({ length: 520 }, (_, index) => ({
  id: `test-${index}`,
  type: 'numeric',
  inputs: { prompt: `Ann has ${index} pears and buys ${index % 7} more. How many are there?` },
  answer: String(index + (index % 7)),
}));

const numberOf = (prompt: string): number => Number(/has (\d+)/.exec(prompt)?.[1]);
const right = (prompt: string): string =>
  `Let me add them up.\n#### ${numberOf(prompt) + (numberOf(prompt) % 7)}`;

const chat = (provider: FakeProvider, more: object = {}): object => ({
  provider: { type: 'openai_compatible', base_url: provider.baseUrl, model: 'm' },
  ...more,
});

async function startRun(service: TestService, datasetId: string, config: object): Promise<Body> {
  const { status, body } = await service.post('/runs', { dataset_id: datasetId, config });
  expect(status).toBe(202);
  return body;
}

async function allResults(service: TestService, id: string, query = ''): Promise<Body[]> {
  const found: Body[] = [];
  let cursor: string | null = null;
  do {
    const at: string = cursor === null ? '' : `&cursor=${cursor}`;
    const { body } = await service.get(`/runs/${id}/results?limit=100${query}${at}`);
    found.push(...body.data);
    cursor = body.meta.next_cursor;
  } while (cursor !== null);
  return found;
}

describe('a run against a provider of every mood', () => {
  it('counts and scores each item once', async () => {
    // of ten items: six right, one after 429, one after 500, one slow, one wrong; every hundredth broken
    const provider = await provide((prompt, attempt) => {
      const number = numberOf(prompt);
      if (number % 100 === 50) return { body: '{"choices": [' };
      if (number % 10 === 6) return { text: `It is ${number + 1000}.` };
      if (number % 10 === 7 && attempt === 1) return { status: 429, headers: { 'retry-after-ms': '5' } };
      if (number % 10 === 8 && attempt === 1) return { status: 503, headers: { 'retry-after': '0' } };
      if (number % 10 === 9) return { text: right(prompt), delayMs: 30 };
      return { text: right(prompt) };
    });
    const service = await serve();
    const run = await startRun(
      service,
      await service.importItems(items),
      chat(provider, { concurrency: 32 }),
    );
    const ended = await runEnded(service, run.id);

    const broken = items.filter((_, index) => index % 100 === 50).length;
    const wrong = items.filter((_, index) => index % 10 === 6).length;
    const ok = items.length - broken;
    expect(ended).toMatchObject({
      status: 'completed',
      counts: { total: items.length, done: items.length, ok, failed: broken, unscored: 0 },
      scores: { passed: ok - wrong },
      error: null,
    });
    expect(ended.scores.mean).toBeCloseTo((ok - wrong) / ok, 12);
    expect(ended.scores.pass_rate).toBeCloseTo((ok - wrong) / items.length, 12);
    expect(ended.scores.pass_rate_scored).toBeCloseTo((ok - wrong) / ok, 12);

    const results = await allResults(service, run.id);
    expect(results.map((result) => result.item_id)).toEqual(items.map((item) => item.id));
    for (const [index, result] of results.entries()) {
      const isBroken = index % 100 === 50;
      expect(result).toMatchObject({ section: 'default', order_index: index, repetition: 1 });
      expect(result.status).toBe(isBroken ? 'failed' : 'ok');
      expect(result.passed).toBe(isBroken ? null : index % 10 !== 6);
      expect(result.error?.code).toBe(isBroken ? 'provider_bad_response' : undefined);
    }
    expect(provider.asked.get(items[7]?.inputs.prompt ?? '')).toBe(2);
    expect(provider.asked.get(items[8]?.inputs.prompt ?? '')).toBe(2);
    expect(provider.asked.get(items[0]?.inputs.prompt ?? '')).toBe(1);

    const failed = await service.get(`/runs/${run.id}/results?status=failed&limit=100`);
    expect(failed.body.meta.total_items).toBe(broken);
    expect(failed.body.data).toHaveLength(broken);
    await expect.poll(() => service.sample('svc_run_items_total{status="ok"}')).toBe(ok);
    await expect.poll(() => service.sample('svc_run_items_total{status="failed"}')).toBe(broken);
    await expect.poll(() => service.sample('svc_runs_total{status="completed"}')).toBe(1);
  });

  it('gives up an item whose provider never has time, and continues with the others', async () => {
    const provider = await provide((prompt) =>
      numberOf(prompt) === 1
        ? { status: 429, headers: { 'retry-after-ms': '1' } }
        : numberOf(prompt) === 2
          ? 'break'
          : { text: right(prompt) },
    );
    const service = await serve();
    const config = chat(provider, { max_retries: 1 });
    const run = await startRun(service, await service.importItems(items.slice(0, 4)), config);
    const ended = await runEnded(service, run.id);
    expect(ended.counts).toEqual({
      total: 4,
      done: 4,
      ok: 2,
      failed: 2,
      unscored: 0,
      truncated: 0,
      reused: 0,
    });
    const codes = (await allResults(service, run.id)).map((result) => result.error?.code);
    expect(codes).toEqual([undefined, 'provider_rate_limited', 'provider_unavailable', undefined]);
  });

  it('ends as failed when the provider refuses the key, which no response shows', async () => {
    const provider = await provide(() => ({ status: 401 }));
    const service = await serve({
      env: {
        SVC_PROVIDER_TEST: 'sk-planted-key-of-the-service',
        SVC_PROVIDER_TEST_ORIGINS: new URL(provider.baseUrl).origin,
      },
    });
    const config = chat(provider);
    Object.assign((config as Body).provider, { api_key_env: 'SVC_PROVIDER_TEST' });
    const run = await startRun(service, await service.importItems(items.slice(0, 3)), config);
    const ended = await runEnded(service, run.id);
    expect(ended).toMatchObject({ status: 'failed', error: { code: 'provider_unauthorized' } });
    expect(ended.config.provider.api_key_env).toBe('SVC_PROVIDER_TEST');
    expect(JSON.stringify([ended, service.workerLog(), service.apiLog()])).not.toContain('planted');
    const lines = await until(service.workerLog, (log) => log.some(({ event }) => event === 'job.fail'));
    expect(lines.find(({ event }) => event === 'job.fail')).toMatchObject({ code: 'provider_unauthorized' });
  });

  it('stores no key that a model repeats', async () => {
    const keys = { provider: 'sk-planted-of-provider', judge: 'sk-planted-of-judge' };
    const all = [keys.provider, keys.judge, btoa(`Bearer ${keys.provider}`)].join(' ');
    const provider = await provide(() => ({ text: all, finishReason: keys.provider }));
    const judge = await provide(() => ({
      body: JSON.stringify({
        choices: [
          {
            message: {
              content: JSON.stringify({ score: 1, explanation: all }).replaceAll('sk-', '\\u0073k-'),
            },
          },
        ],
        usage: { prompt_tokens: 1, note: all },
      }),
    }));
    const service = await serve({
      env: {
        SVC_PROVIDER_A: keys.provider,
        SVC_PROVIDER_A_ORIGINS: new URL(provider.baseUrl).origin,
        SVC_PROVIDER_B: keys.judge,
        SVC_PROVIDER_B_ORIGINS: new URL(judge.baseUrl).origin,
      },
    });
    const datasetId = await service.importItems([
      { id: 1, inputs: { prompt: 'p' }, checker: 'judge', criteria: ['c'] },
    ]);
    const run = await startRun(service, datasetId, {
      provider: {
        type: 'openai_compatible',
        base_url: provider.baseUrl,
        model: 'm',
        api_key_env: 'SVC_PROVIDER_A',
      },
      judge: { base_url: judge.baseUrl, model: 'j', api_key_env: 'SVC_PROVIDER_B' },
    });
    await runEnded(service, run.id);
    const [result] = await allResults(service, run.id);
    expect(result).toMatchObject({
      status: 'ok',
      output: expect.stringMatching(/^\[redacted\] \[redacted\] \w+\[redacted\]/),
      explanation: expect.stringContaining('[redacted]'),
      judge_usage: { note: expect.stringContaining('[redacted]') },
    });
    const stored = await (await fetch(`${service.url}/runs/${run.id}/results.jsonl`)).text();
    expect(`${JSON.stringify(result)}${stored}`).not.toMatch(/planted|QmVhcmVyIHNrL/);
  });

  it.each([
    ['echo', { provider: 'echo', allow_unscored: true }, { ok: 0, unscored: 1 }],
    ['item_field', { provider: 'item_field', pointer: '/meta/output' }, { ok: 1, unscored: 0 }],
  ])('needs no server for %s', async (_name, config, counts) => {
    const service = await serve();
    const item = { inputs: { prompt: 'p' }, meta: { output: 'x' } };
    const scored = 'pointer' in config ? { ...item, type: 'exact', answer: 'x' } : item;
    const run = await startRun(service, await service.importItems([scored]), config);
    expect((await runEnded(service, run.id)).counts).toMatchObject({ total: 1, done: 1, ...counts });
  });

  it('does each repetition once', async () => {
    const provider = await provide((prompt) => ({ text: right(prompt) }));
    const service = await serve();
    const config = chat(provider, { repetitions: 3 });
    const run = await startRun(service, await service.importItems(items.slice(0, 5)), config);
    expect((await runEnded(service, run.id)).counts).toMatchObject({ total: 15, done: 15, ok: 15 });
    const results = await allResults(service, run.id);
    expect(results.map(({ order_index, repetition }) => `${order_index}/${repetition}`)).toEqual(
      [0, 1, 2, 3, 4].flatMap((index) => [1, 2, 3].map((repetition) => `${index}/${repetition}`)),
    );
  });

  it('takes the judge prompts of the package where the run has a judge', async () => {
    const provider = await provide((prompt) =>
      prompt.includes('Be kind')
        ? { text: '{"score": 0.75, "passed": true, "explanation": "kind"}' }
        : { text: 'an essay' },
    );
    const service = await serve();
    const { importItems } = await import('../../../packages/service/test/store/import-items.ts');
    const schema = JSON.stringify({
      package: { manifest: null, meta: { default_judge_prompts: 'Be kind to {{output}}' } },
      source: 'pkg_zip',
    });
    const texts = ['{"inputs":{"prompt":"write"},"checker":{"type":"judge"}}'];
    const { id } = await importItems(service.store.datasets, { default: texts }, { schema });
    const judge = { base_url: provider.baseUrl, model: 'judge' };
    const run = await startRun(service, id, chat(provider, { judge }));
    expect(await runEnded(service, run.id)).toMatchObject({ status: 'completed', scores: { mean: 0.75 } });
  });
});

describe('the log of a run', () => {
  const requestId = 'the request that began it';

  it('carries run and request from worker.run.start to its end, and no further', async () => {
    const provider = await provide((prompt, attempt) =>
      attempt === 1 ? { status: 500, headers: { 'retry-after': '0' } } : { text: right(prompt) },
    );
    const service = await serve({ env: { SVC_LOG_LEVEL: 'debug' } });
    const dataset_id = await service.importItems(items.slice(0, 20));
    const answer = await service.post(
      '/runs',
      { dataset_id, config: chat(provider) },
      { 'x-request-id': requestId },
    );
    const { id } = answer.body;
    await runEnded(service, id);
    await until(service.workerLog, (lines) => lines.some(({ event }) => event === 'job.finish'));
    await service.worker.stop(AbortSignal.timeout(5000));

    const lines = service.workerLog();
    const first = lines.findIndex(({ event }) => event === 'worker.run.start');
    const last = lines.findIndex(({ event }) => event === 'worker.run.finish');
    const between = lines.slice(first, last + 1);
    expect(between.length).toBeGreaterThan(40);
    for (const line of between) expect(line).toMatchObject({ run_id: id, request_id: requestId });
    for (const line of [...lines.slice(0, first), ...lines.slice(last + 1)]) {
      expect(line).not.toHaveProperty('run_id');
    }
    expect(between[0]).toMatchObject({ item_count: 20, items_done: 0, attempt: 1 });
    expect(between.at(-1)).toMatchObject({ status: 'completed', ok: 20, failed: 0, item_count: 20 });
    expect(Object.keys(between[0] as LogLine).slice(0, 7)).toEqual([
      'timestamp',
      'level',
      'service',
      'event',
      'request_id',
      'run_id',
      'job_id',
    ]);
    expect(service.apiLog().find(({ event }) => event === 'run.create')).toMatchObject({
      run_id: id,
      request_id: requestId,
      provider: 'openai_compatible',
    });
  });

  it('holds neither prompts nor answers, and lets go of the run after an error too', async () => {
    const provider = await provide(() => ({ status: 404 }));
    const service = await serve({ env: { SVC_LOG_LEVEL: 'debug' } });
    const run = await startRun(service, await service.importItems(items.slice(0, 3)), chat(provider));
    await runEnded(service, run.id);
    await service.worker.stop(AbortSignal.timeout(5000));
    const lines = service.workerLog();
    const last = lines.findIndex(({ event }) => event === 'worker.run.finish');
    expect(lines[last]).toMatchObject({ status: 'failed', code: 'provider_not_found', run_id: run.id });
    for (const line of lines.slice(last + 1)) expect(line).not.toHaveProperty('run_id');
    expect(JSON.stringify(lines)).not.toContain('pears');
  });
});

describe('the endpoints of runs', () => {
  it('list runs by dataset and status, newest first', async () => {
    const service = await serve();
    const [one, two] = await Promise.all([
      service.importItems(items.slice(0, 1)),
      service.importItems(items.slice(0, 2)),
    ]);
    const first = await startRun(service, one, { provider: 'echo', allow_unscored: true });
    const second = await startRun(service, two, { provider: 'echo', allow_unscored: true });
    await runEnded(service, first.id);
    await runEnded(service, second.id);
    const ids = async (query: string): Promise<string[]> =>
      (await service.get(`/runs${query}`)).body.data.map(({ id }: Body) => id);
    expect(await ids('')).toEqual([second.id, first.id]);
    expect(await ids(`?dataset_id=${one}`)).toEqual([first.id]);
    expect(await ids('?status=completed&limit=1')).toEqual([second.id]);
    expect(await ids('?status=failed')).toEqual([]);
    expect((await service.get('/runs?status=done')).body.code).toBe('invalid_request');
    expect((await service.get('/runs?cursor=x')).body.code).toBe('invalid_cursor');
  });

  it('show the run as it was accepted, with every default', async () => {
    const service = await serve();
    const dataset_id = await service.importItems(items.slice(0, 2));
    const config = { provider: 'echo', allow_unscored: true, repetitions: null };
    const { status, headers, body } = await service.post('/runs', { dataset_id, name: 'first', config });
    expect(status).toBe(202);
    expect(headers.get('location')).toBe(`/runs/${body.id}`);
    expect(body).toMatchObject({
      dataset_id,
      dataset_version_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      name: 'first',
      status: 'queued',
      config: {
        provider: { type: 'echo' },
        repetitions: 1,
        concurrency: 8,
        max_retries: 5,
        timeout_ms: 120_000,
      },
      counts: { total: 2, done: 0, ok: 0, failed: 0, unscored: 0 },
      scores: { mean: null, passed: 0, pass_rate: null },
      error: null,
      started_at: null,
      finished_at: null,
    });
  });

  it('stream the progress until the end', async () => {
    const provider = await provide((prompt) => (numberOf(prompt) < 2 ? { text: right(prompt) } : 'hang'));
    const service = await serve();
    const run = await startRun(service, await service.importItems(items.slice(0, 4)), chat(provider));
    const response = await fetch(`${service.url}/runs/${run.id}/events`);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    let text = '';
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += Buffer.from(chunk).toString();
      if (text.includes('"done":2,')) provider.release();
    }
    const events = text
      .trim()
      .split('\n\n')
      .map((event) => Object.fromEntries(event.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2))));
    expect(events.at(-1)).toMatchObject({ event: 'end' });
    expect(events.slice(0, -1).every(({ event }) => event === 'progress')).toBe(true);
    expect(events.map(({ id }) => Number(id))).toEqual(events.map((_, index) => index + 1));
    const states = events.map(({ data }) => JSON.parse(data as string));
    const done = states.map((state) => state.counts.done);
    expect(done).toEqual(done.toSorted((a, b) => a - b));
    const { progress: _, scores, ...end } = states.at(-1);
    const { body } = await service.get(`/runs/${run.id}`);
    expect(body).toMatchObject(end);
    expect(body.scores).toMatchObject({
      mean: scores.mean,
      passed: scores.passed,
      pass_rate: scores.pass_rate,
    });
  });
});

describe('the endpoints of runs, where there is none,', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({
      env: {
        SVC_PROVIDER_TEST: 'sk-planted-key-of-the-service',
        SVC_PROVIDER_TEST_ORIGINS: 'http://127.0.0.1:9',
      },
    });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  it.each([
    [
      'no dataset of that id',
      { dataset_id: '3f0c1c61-6c44-4a3c-9f0f-0d9a7c5d1111' },
      404,
      'dataset_not_found',
    ],
    ['no dataset of that handle', { dataset_id: 'x' }, 404, 'dataset_not_found'],
    ['an unknown member', { more: 1 }, 400, 'invalid_request'],
    ['a blank name', { name: ' ' }, 400, 'invalid_request'],
    ['no provider', { config: {} }, 400, 'invalid_request'],
    [
      'a key in the body',
      { config: { provider: { type: 'echo' }, api_key: 'sk-planted' } },
      400,
      'invalid_request',
    ],
    [
      'a secret of the service in a parameter',
      {
        config: {
          provider: {
            type: 'openai_compatible',
            base_url: 'http://127.0.0.1:9/v1',
            model: 'm',
            params: { user: 'sk-planted-key-of-the-service' },
          },
        },
      },
      400,
      'invalid_request',
    ],
  ])('refuse %s', async (_name, changes, status, code) => {
    const dataset_id = await service.importItems(items.slice(0, 1));
    const answer = await service.post('/runs', {
      dataset_id,
      config: { provider: 'echo', allow_unscored: true },
      ...changes,
    });
    expect(answer).toMatchObject({ status, body: { code } });
    if (code === 'invalid_request') expect(answer.body.errors[0].path).toBeTypeOf('string');
    expect(JSON.stringify(answer.body)).not.toContain('planted');
    expect((await service.get('/runs')).body.data).toEqual([]);
  });

  it.each(['', '/results', '/events'])('answer 404 for /runs/<unknown>%s', async (path) => {
    for (const id of ['x', '3f0c1c61-6c44-4a3c-9f0f-0d9a7c5d1111']) {
      expect(await service.get(`/runs/${id}${path}`)).toMatchObject({
        status: 404,
        body: { code: 'run_not_found' },
      });
    }
  });
});
