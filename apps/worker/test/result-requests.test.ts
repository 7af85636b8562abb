import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Body, runEnded, startTestService, type TestService } from './start-test-service.ts';

const KEY = 'correct-horse-battery-staple';

let cleanUp: AsyncDisposableStack;
let service: TestService;
let origin: string;
/** What the provider received, by a word of the prompt. */
const received = new Map<
  string,
  { readonly url: string; readonly headers: IncomingHttpHeaders; readonly body: Buffer }
>();

beforeAll(async () => {
  cleanUp = new AsyncDisposableStack();
  const server = createServer(async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const word = /word\d+/.exec(body.toString())?.[0] ?? '';
    received.set(word, { url: request.url ?? '', headers: request.headers, body });
    response.setHeader('content-type', 'application/json');
    const choices = [{ message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }];
    const message = { type: 'message', content: [{ type: 'text', text: 'x' }], stop_reason: 'end_turn' };
    response.end(JSON.stringify(request.url?.includes('/v1/messages') ? message : { choices }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUp.defer(() => void server.close());
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = { SVC_PROVIDER_TEST: KEY, SVC_PROVIDER_TEST_ORIGINS: origin };
  service = cleanUp.use(await startTestService({ env }));
});
afterAll(() => cleanUp.disposeAsync());

const image = Buffer.from(Array.from({ length: 5_000 }, (_, index) => (index * 7) % 256));
const entry = (mime_type: string, bytes: Buffer): object => ({
  mime_type,
  encoding: 'base64',
  data: bytes.toString('base64'),
});
const items = [
  { id: 1, inputs: { prompt: 'word0 € “quoted” \u0000 😀' }, answer: 'x', meta: { level: 'hard' } },
  { inputs: { system_prompt: 'Be kind.', messages: [{ role: 'user', content: 'word1' }] } },
  {
    inputs: { prompt: 'word2' },
    assets: { picture: entry('image/png', image), other: entry('image/gif', image) },
  },
  {
    inputs: { prompt: `word3 ${'long '.repeat(20_000)}`, choices: ['a', 'b'] },
    assets: [entry('image/png', image)],
  },
  { inputs: { prompt: 'word4', choices: ['red', 'green'] }, meta: { level: 1.5 } },
];

async function run(config: object): Promise<Body> {
  received.clear();
  const dataset_id = await service.importItems(items);
  const { status, body } = await service.post('/runs', {
    dataset_id,
    config: { allow_unscored: true, ...config },
  });
  expect(status, JSON.stringify(body)).toBe(202);
  return await runEnded(service, body.id);
}

it.each([
  [
    'chat completions',
    { type: 'openai_compatible', api_key_env: 'SVC_PROVIDER_TEST', extra_headers: { 'X-Project': 'zebra' } },
    {},
  ],
  [
    'Azure, with a template',
    {
      type: 'openai_compatible',
      api_key_env: 'SVC_PROVIDER_TEST',
      auth: 'api-key',
      query: { 'api-version': '2024-10-21' },
    },
    { system_prompt: 'Be “brief”.', prompt_template: '{meta.level}: {prompt} {choices}' },
  ],
  ['messages', { type: 'anthropic', api_key_env: 'SVC_PROVIDER_TEST', params: { temperature: 0.5 } }, {}],
] as const)('makes requests again as the provider received them: %s', async (_, provider, more) => {
  const ended = await run({ provider: { ...provider, base_url: `${origin}/base`, model: 'm' }, ...more });
  const { data } = (await service.get(`/runs/${ended.id}/results`)).body;
  expect(data).toHaveLength(items.length);
  for (const { section, order_index, error } of data) {
    const path = `/runs/${ended.id}/results/${encodeURIComponent(section)}/${order_index}/1/request`;
    const sent = received.get(`word${order_index}`);
    if (sent === undefined) {
      // the template has no value for this item
      expect(error.code).toBe('field_missing');
      expect(await service.get(path)).toMatchObject({ status: 404, body: { code: 'not_found' } });
      continue;
    }
    const response = await fetch(`${service.url}${path}?assets=embed`);
    const bytes = Buffer.from(await response.arrayBuffer());
    const start = bytes.indexOf('"body":') + '"body":'.length;
    expect(bytes.subarray(start, -2).equals(sent.body)).toBe(true);
    const { method, url, headers } = JSON.parse(bytes.toString());
    expect([method, new URL(url).pathname + new URL(url).search]).toEqual(['POST', sent.url]);
    expect(bytes.includes(KEY)).toBe(false);
    // every header but the key and those of the connection
    const { host, connection, authorization, 'api-key': azure, 'x-api-key': key, ...others } = sent.headers;
    expect([authorization, azure, key].filter((value) => value?.includes(KEY))).toHaveLength(1);
    const { 'content-length': length, ...known } = others;
    expect(length).toBe(String(sent.body.byteLength));
    expect(headers).toEqual(known);

    const { body: linked } = (await service.get(path)).body;
    const text = JSON.stringify(linked);
    expect(text).not.toContain(image.toString('base64').slice(0, 100));
    if ('assets' in (items[order_index] ?? {})) {
      const [link] = /\/datasets\/[^"?]+\/assets\/[0-9a-f]{64}\?version=1/.exec(text) ?? [];
      expect(text).not.toContain('data:image');
      const file = await fetch(`${service.url}${link}`);
      expect(Buffer.from(await file.arrayBuffer()).equals(image)).toBe(true);
    } else expect(linked).toEqual(JSON.parse(sent.body.toString()));
  }
  for (const path of [
    'none/0/1',
    `${data[0].section}/99/1`,
    `${data[0].section}/0/2`,
    `${data[0].section}/x/1`,
  ]) {
    const { status } = await service.get(`/runs/${ended.id}/results/${path}/request`);
    expect(status, path).toBe(404);
  }
});

it('has no requests of providers that send none, and lists those that a run can name', async () => {
  const ended = await run({ provider: 'echo' });
  const [{ section }] = (await service.get(`/runs/${ended.id}/results`)).body.data;
  const { status, body } = await service.get(`/runs/${ended.id}/results/${section}/0/1/request`);
  expect([status, JSON.stringify(body)]).toEqual([404, expect.stringContaining('sends no requests')]);

  const local = { type: 'openai_compatible', base_url: `${origin}/local`, model: 'tiny' };
  await run({ provider: local });
  await run({ provider: { ...local, api_key_env: 'SVC_PROVIDER_TEST', model: 'newest' } });
  const { data } = (await service.get('/providers')).body;
  expect(data).toEqual([
    { name: 'SVC_PROVIDER_TEST', origins: [origin], models: expect.arrayContaining(['newest', 'm']) },
    { name: null, origins: [origin], models: ['tiny'] },
  ]);
  expect(data[0].models[0]).toBe('newest');
});

it('lists datasets with the last run that has a score', async () => {
  const scored = { provider: 'echo', checker: 'includes' };
  const [first, last] = [await run(scored), await run({ ...scored, select: { limit: 1 } })];
  await run({ provider: { type: 'item_field', pointer: '/none' } });
  const { data } = (await service.get('/datasets?limit=3')).body;
  const [without, newest, oldest] = data;
  expect(without.last_run).toBeNull();
  for (const [listed, { id, scores, finished_at }] of [
    [newest, last],
    [oldest, first],
  ])
    expect(listed.last_run).toEqual({ id, score: scores.mean, pass_rate: scores.pass_rate, finished_at });
  expect(newest.last_run.score).toBeGreaterThanOrEqual(0);
});

it('shows workers, sizes, and the requests to providers by minute', async () => {
  const provider = { type: 'openai_compatible', base_url: origin, model: 'm' };
  await run({ provider, select: { limit: 2 } });
  await run({
    provider: { ...provider, base_url: 'http://127.0.0.1:9' },
    select: { limit: 1 },
    max_retries: 0,
  });
  const sumOf = (of: 'requests' | 'errors', minutes: readonly Body[]): number =>
    minutes.reduce((sum, minute) => sum + minute[of], 0);
  const seen = async (): Promise<Body> => (await service.get('/status')).body;
  await expect
    .poll(async () => sumOf('errors', (await seen()).provider_requests), { timeout: 30_000 })
    .toBeGreaterThan(0);
  const status = await seen();
  expect(sumOf('requests', status.provider_requests)).toBeGreaterThanOrEqual(3);
  for (const { minute } of status.provider_requests)
    expect(Math.abs(Date.now() - Date.parse(minute))).toBeLessThan(3_600_000);
  expect(status.workers).toEqual([
    {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      version: '0.0.0-test',
      started_at: expect.any(String),
      concurrency: { runs: 16, jobs: expect.any(Number) },
      running: { runs: expect.any(Number), jobs: 0 },
    },
  ]);
  expect(status.database.bytes).toBeGreaterThan(1_000_000);
  expect(status.disk.bytes).toBeGreaterThan(status.disk.free_bytes);
  expect(status.datasets).toBeGreaterThan(0);
  expect(status.asset_store).toMatchObject({ kind: 'database', files: expect.any(Number) });
  expect(status.queue).toMatchObject({ queued: 0, failed: 0 });
  expect(status.imports.running).toBe(0);
  expect(status.limits).toMatchObject({ run_concurrency: 16, max_rows: expect.any(Number) });
});
