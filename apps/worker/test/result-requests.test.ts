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
