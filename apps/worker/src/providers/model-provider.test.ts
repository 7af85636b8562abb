import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { type JsonObject, type JsonValue, parseJson } from '@svc/jsonl-v23/json';
import { createMetrics } from '@svc/service';
import {
  type ChatMessage,
  type CheckRunner,
  conversationOf,
  createCheckRunner,
  JsonText,
  type ProviderRequest,
  RunError,
} from '@svc/service/evaluation';
import { createTurns } from '@svc/service/flows';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createModelProvider, type ModelProviderOptions } from './model-provider.ts';
import { createProviderDispatcher, type ProviderDispatcher } from './provider-dispatcher.ts';

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

const key = 'sk-0123456789abcdef';
const messages: ChatMessage[] = [{ role: 'user', content: 'Q' }];
const completion = (message: JsonValue, more: JsonObject = {}): string =>
  JSON.stringify({ choices: [{ message }], ...more });

const checks = createCheckRunner({ threads: 0 });
let dispatcher: ProviderDispatcher;
let server: ReturnType<typeof createServer>;
let handlers: Handler[];
let seen: {
  method: string | undefined;
  url: string | undefined;
  headers: IncomingMessage['headers'];
  body: string;
}[];
let logged: [string, Record<string, unknown>][];
let waits: number[];

beforeEach(async () => {
  dispatcher = createProviderDispatcher({ allowedHosts: null });
  handlers = [];
  seen = [];
  logged = [];
  waits = [];
  server = createServer(async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    seen.push({ method: request.method, url: request.url, headers: request.headers, body });
    const handler = handlers.length > 1 ? handlers.shift() : handlers[0];
    handler?.(request, response, body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  await dispatcher.destroy();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const reply =
  (statusCode: number, body: string, headers: Record<string, string> = {}): Handler =>
  (_request, response) =>
    response.writeHead(statusCode, { 'content-type': 'application/json', ...headers }).end(body);

function ask(
  options: Partial<ModelProviderOptions> = {},
  signal = new AbortController().signal,
  request: Partial<ProviderRequest> = {},
) {
  const { wireFormat = 'chat_completions' } = options;
  const provider = createModelProvider({
    wireFormat,
    pacer: { turn: async () => 0 },
    turns: createTurns(),
    metrics: createMetrics({ version: 'test', collectProcessMetrics: false }),
    base_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    model: 'm',
    params: {},
    apiKey: key,
    keys: [key],
    maxRetries: 3,
    timeoutMs: 20_000,
    dispatcher,
    checks,
    logger: { log: (event, ...[fields]) => void logged.push([event, fields as Record<string, unknown>]) },
    wait: async (delayMs) => void waits.push(delayMs),
    random: () => 1,
    ...options,
  });
  return provider.complete({ ...conversationOf(messages, wireFormat), ...request }, signal);
}

describe('a request', () => {
  it('is a chat completion with the key as a bearer token', async () => {
    handlers = [reply(200, completion({ role: 'assistant', content: 'A' }, { usage: { total_tokens: 3 } }))];
    const params = parseJson('{"temperature":0,"seed":12345678901234567890,"stop":null}') as JsonObject;
    expect(await ask({ params })).toEqual({
      output: 'A',
      reasoning: null,
      usage: { total_tokens: 3 },
      finishReason: null,
      attempts: 1,
      pacedMs: 0,
      answers: [{ input: null, output: null }],
    });
    expect(seen).toMatchObject([
      {
        method: 'POST',
        url: '/v1/chat/completions',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: '{"messages":[{"content":"Q","role":"user"}],"model":"m","seed":12345678901234567890,"stop":null,"temperature":0}',
      },
    ]);
  });

  it('contains the conversation unchanged', async () => {
    handlers = [reply(200, completion({ content: 'A' }))];
    const conversationJson = new TextEncoder().encode('{"messages":[{"content":"é","role":"user"}]}');
    await ask({ params: { seed: 1, messages: [] } }, undefined, { conversationJson });
    expect(seen.map(({ body }) => body)).toEqual([
      '{"messages":[{"content":"é","role":"user"}],"model":"m","seed":1}',
    ]);
  });

  it('returns what the model said, to the letter: it is scored before keys are replaced in it', async () => {
    for (const padding of ['', 'x'.repeat(100_000)]) {
      const message = { content: `Your key is ${key}.`, reasoning: key };
      handlers = [reply(200, JSON.stringify({ choices: [{ message }], padding }))];
      expect(await ask()).toMatchObject({ output: `Your key is ${key}.`, reasoning: key });
    }
  });

  it('has no authorization without a key', async () => {
    handlers = [reply(200, completion({ content: 'A' }))];
    await ask({ apiKey: null });
    expect(seen[0]?.headers).not.toHaveProperty('authorization');
  });

  it('is not sent when the key is missing', async () => {
    const missing = new RunError('provider_key_missing', 'no key', { endsRun: true });
    await expect(ask({ apiKey: missing })).rejects.toBe(missing);
    expect(seen).toEqual([]);
  });
});

// Shapes of requests and responses as the providers' API references print them.
describe('the wire formats', () => {
  const chat: ChatMessage[] = [
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is in this image?' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
        { type: 'image_url', image_url: { url: 'https://example.com/a.jpg' } },
      ],
    },
    { role: 'assistant', content: 'A cat.' },
    { role: 'user', content: 'Sure?' },
  ];

  it('are those of OpenAI: chat completions, with Azure headers and query on request', async () => {
    const body = {
      id: 'chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT',
      object: 'chat.completion',
      created: 1_741_569_952,
      model: 'gpt-4.1-2025-04-14',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello!', refusal: null, annotations: [] },
          logprobs: null,
          finish_reason: 'length',
        },
      ],
      usage: { prompt_tokens: 19, completion_tokens: 10, total_tokens: 29 },
      service_tier: 'default',
    };
    handlers = [reply(200, JSON.stringify(body))];
    const extra_headers = { 'OpenAI-Organization': 'org-1' };
    const query = { 'api-version': '2024-10-21' };
    const azure = { auth: 'api-key', extra_headers, query } as const;
    expect(await ask(azure, undefined, conversationOf(chat, 'chat_completions'))).toEqual({
      output: 'Hello!',
      reasoning: null,
      usage: body.usage,
      ...{ finishReason: 'length', attempts: 1, pacedMs: 0, answers: [expect.any(Object)] },
    });
    expect(seen).toMatchObject([
      {
        url: '/v1/chat/completions?api-version=2024-10-21',
        headers: { 'api-key': key, 'openai-organization': 'org-1' },
      },
    ]);
    expect(seen[0]?.headers).not.toHaveProperty('authorization');
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual({ model: 'm', messages: chat });
  });

  it('are those of the Anthropic Messages API', async () => {
    const body = {
      id: 'msg_013Zva2CMHLNnjNjJJKqJ2EF',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'x' },
        { type: 'text', text: 'Hi! My name is Claude.' },
      ],
      stop_reason: 'max_tokens',
      stop_sequence: null,
      usage: { input_tokens: 2_095, output_tokens: 503, cache_read_input_tokens: 5 },
    };
    handlers = [reply(200, JSON.stringify(body))];
    const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const anthropic = { wireFormat: 'anthropic_messages', base_url } as const;
    expect(await ask(anthropic, undefined, conversationOf(chat, 'anthropic_messages'))).toEqual({
      output: 'Hi! My name is Claude.',
      reasoning: 'Hm.',
      usage: body.usage,
      ...{ finishReason: 'length', attempts: 1, pacedMs: 0, answers: [expect.any(Object)] },
    });
    expect(seen).toMatchObject([
      { url: '/v1/messages', headers: { 'x-api-key': key, 'anthropic-version': '2023-06-01' } },
    ]);
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual({
      model: 'm',
      max_tokens: 4096,
      system: 'Be brief.',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is in this image?' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
            { type: 'image', source: { type: 'url', url: 'https://example.com/a.jpg' } },
          ],
        },
        { role: 'assistant', content: 'A cat.' },
        { role: 'user', content: 'Sure?' },
      ],
    });

    handlers = [
      reply(529, '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'),
      reply(200, JSON.stringify({ ...body, content: [], stop_reason: 'refusal' })),
    ];
    const again = { ...anthropic, params: { max_tokens: 9 }, apiKey: null };
    expect(await ask(again)).toMatchObject({ output: '', finishReason: 'content_filter', attempts: 2 });
    expect(JSON.parse(seen.at(-1)?.body ?? '')).toMatchObject({ max_tokens: 9 });
  });
});

describe('a response', () => {
  it.each<[string, JsonValue, JsonValue]>([
    ['text', { content: 'A' }, 'A'],
    [
      'parts',
      { content: [{ type: 'text', text: 'A' }, { type: 'other' }, { type: 'text', text: 'B' }] },
      'AB',
    ],
    ['a refusal', { content: null, refusal: 'No' }, 'No'],
    ['tool calls', { content: null, tool_calls: [{ id: 1 }] }, { tool_calls: [{ id: 1 }] }],
    [
      'a text and tool calls',
      { content: 'A', tool_calls: [{ id: 1 }] },
      { content: 'A', tool_calls: [{ id: 1 }] },
    ],
    ['nothing', { content: null }, ''],
    ['an empty text', { content: '' }, ''],
    ['no content', {}, ''],
  ])('may be %s', async (_name, message, output) => {
    handlers = [reply(200, completion(message))];
    expect(await ask()).toMatchObject({ output, usage: null });
  });

  it('has the calls of the Messages API as chat completions have them', async () => {
    const call = { type: 'tool_use', id: 'c', name: 'get', input: { b: 1, a: 'x' } };
    const message = {
      type: 'message',
      content: [{ type: 'text', text: 'A' }, call],
      stop_reason: 'tool_use',
    };
    handlers = [reply(200, JSON.stringify(message))];
    expect(await ask({ wireFormat: 'anthropic_messages' })).toMatchObject({
      output: {
        content: 'A',
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'get', arguments: '{"a":"x","b":1}' } }],
      },
      finishReason: 'tool_calls',
    });
  });

  it.each<[string, JsonObject, string | null, string]>([
    ['`reasoning_content`', { reasoning_content: 'Hm.' }, 'Hm.', 'A'],
    ['`reasoning`', { reasoning: 'Hm.', reasoning_content: null }, 'Hm.', 'A'],
    ['both', { reasoning: 'Hm.', reasoning_content: 'Hm.' }, 'Hm.', 'A'],
    ['an empty one', { reasoning_content: '', reasoning: '' }, null, 'A'],
    [
      'another value',
      { reasoning_content: 1, reasoning: { effort: 'high' }, reasoning_details: 'x' },
      null,
      'A',
    ],
    [
      '`reasoning_details`',
      {
        reasoning_details: [
          { type: 'reasoning.text', text: 'Hm.', signature: 'x' },
          { type: 'reasoning.encrypted', data: 'x' },
          { type: 'reasoning.summary', summary: 'So.' },
        ],
      },
      'Hm.\n\nSo.',
      'A',
    ],
    [
      'parts',
      {
        content: [
          {
            type: 'thinking',
            thinking: [
              { type: 'text', text: 'H' },
              { type: 'text', text: 'm.' },
            ],
          },
          { type: 'text', text: 'A' },
          { type: 'reasoning', text: 'So.' },
        ],
      },
      'Hm.\n\nSo.',
      'A',
    ],
    ['no answer', { content: null, reasoning_content: 'A' }, 'A', ''],
  ])('may have reasoning with its text: %s', async (_name, message, reasoning, output) => {
    // Small responses are read on this thread, large ones on another.
    for (const padding of ['', 'x'.repeat(100_000)]) {
      handlers = [reply(200, completion({ content: 'A', ...message }, { padding }))];
      expect(await ask()).toMatchObject({ output, reasoning });
    }
  });

  it('may repeat a key, of which the last member counts', async () => {
    const usage = '"usage":{"prompt_tokens":1,"prompt_tokens":2,"details":{"a":1,"a":null}}';
    handlers = [reply(200, `{"choices":[{"message":{"content":"A"}}],"id":1,"id":2,${usage}}`)];
    expect(await ask()).toMatchObject({ output: 'A', usage: { prompt_tokens: 2, details: { a: null } } });
  });

  it.each([
    ['no JSON', 'hello'],
    ['half of it, after a repeated key', '{"id":1,"id":2,"choices":['],
    ['too deep, after a repeated key', `{"id":1,"id":${'['.repeat(5000)}${']'.repeat(5000)}}`],
    ['half of it', '{"choices":['],
    ['another object', '{"id":1}'],
    ['no choices', '{"choices":[]}'],
    ['a choice without a message', '{"choices":[{"text":"old"}]}'],
    ['an empty body', ''],
    ['a list', '[]'],
  ])('that is %s fails the item', async (_name, body) => {
    handlers = [reply(200, body)];
    await expect(ask()).rejects.toMatchObject({
      code: 'provider_bad_response',
      endsRun: false,
      message: `The provider's response is not a completion: status 200, application/json, ${body.length} bytes.`,
    });
    expect(seen).toHaveLength(1);
    expect(logged).toMatchObject([['provider.request', { status_code: 200 }]]);
  });

  it.each<[string, string, JsonObject]>([
    [
      'log probabilities',
      '{"choices":[{"message":{"content":"NaN is \\"NaN\\""},"logprobs":{"p":[NaN,-Infinity]}}],"time":Infinity}',
      { output: 'NaN is "NaN"', usage: null },
    ],
    [
      'usage',
      '{"choices":[{"message":{"content":"A"}}],"usage":{"prompt_tokens":NaN,"completion_tokens":2}}',
      { output: 'A', usage: { prompt_tokens: null, completion_tokens: 2 } },
    ],
    ['a repeated key', '{"choices":[{"message":{"content":"A"}}],"a":1,"a":NaN}', { output: 'A' }],
  ])('may have NaN and Infinity where nothing uses them: %s', async (_, body, expected) => {
    handlers = [reply(200, body)];
    expect(await ask()).toMatchObject(expected);
  });

  it.each([
    '{"choices":[{"message":{"content":NaN}}]}',
    '{"choices":[{"message":{"content":[{"type":"text","text":Infinity}]}}]}',
    '{"choices":[{"message":{"content":null,"tool_calls":[{"id":NaN}]}}]}',
    '{"choices":[{"message":{"content":"A"}}],"half":NaN,',
  ])('with NaN in what is scored is none: %s', async (body) => {
    handlers = [reply(200, body)];
    await expect(ask()).rejects.toMatchObject({ code: 'provider_bad_response' });
  });

  it('is not read beyond its limit', async () => {
    handlers = [
      (_request, response) => {
        response.writeHead(200);
        const chunk = Buffer.alloc(1024 * 1024, ' ');
        const more = (): void => {
          while (!response.destroyed && response.write(chunk));
        };
        response.on('drain', more);
        more();
      },
    ];
    await expect(ask()).rejects.toMatchObject({
      code: 'provider_bad_response',
      message: expect.stringContaining('must have at most'),
    });
  });
});

describe('a large response', () => {
  /** Turns of the event loop while a thread reads a response. */
  async function askWithThread(
    body: string,
    request: Partial<ProviderRequest> = {},
    statusCode = 200,
  ): Promise<{ result: Promise<unknown>; turns: number; tasks: string[] }> {
    await using threads = createCheckRunner();
    const tasks: string[] = [];
    let turns = 0;
    const counting: Pick<CheckRunner, 'run'> = {
      run: async (task, signal) => {
        tasks.push(task.kind);
        let isReading = true;
        const count = (): void => {
          turns += 1;
          if (isReading) setImmediate(count);
        };
        setImmediate(count);
        try {
          return await threads.run(task, signal);
        } finally {
          isReading = false;
        }
      },
    };
    handlers = [reply(statusCode, body)];
    const result = ask({ checks: counting as CheckRunner, maxRetries: 0 }, undefined, request);
    await result.catch(() => undefined);
    return { result, turns, tasks };
  }

  it('is read on a thread and does not block the event loop', async () => {
    const noise = `[${'[],'.repeat(500_000)}0]`;
    const body = `{"noise":${noise},"choices":[{"message":{"content":"A"}}],"usage":{"total_tokens":1}}`;
    const { result, turns, tasks } = await askWithThread(body);
    expect(await result).toMatchObject({ output: 'A', usage: { total_tokens: 1 } });
    expect(tasks).toEqual(['response']);
    expect(turns).toBeGreaterThan(10);
  });

  it('keeps a long output and long usage as JSON text', async () => {
    const long = 'x\n'.repeat(100_000);
    const { result } = await askWithThread(completion({ content: long }, { usage: { details: long } }));
    expect(await result).toMatchObject({
      output: new JsonText(JSON.stringify(long)),
      usage: new JsonText(JSON.stringify({ details: long })),
    });
  });

  it('returns only the end of the output to a caller that needs no more', async () => {
    const { result } = await askWithThread(completion({ content: `${'x'.repeat(100_000)}PASS` }), {
      maxOutputChars: 10,
    });
    expect(await result).toMatchObject({ output: 'xxxxxxPASS', usage: null });
  });

  it.each([
    [200, `{"choices":[${' '.repeat(100_000)}`, 'provider_bad_response', false],
    [
      429,
      `{"error":{"code":"insufficient_quota","message":"${'x'.repeat(100_000)}"}}`,
      'provider_rejected',
      true,
    ],
  ])('fails like a small one: status %i', async (statusCode, body, code, endsRun) => {
    const { result, tasks } = await askWithThread(body, {}, statusCode);
    await expect(result).rejects.toMatchObject({ code, endsRun });
    expect(tasks).toEqual(['response']);
  });
});

describe('errors', () => {
  it.each([
    [400, 'provider_rejected', false],
    [401, 'provider_unauthorized', true],
    [402, 'provider_rejected', true],
    [403, 'provider_unauthorized', true],
    [404, 'provider_not_found', true],
    [413, 'provider_rejected', false],
    [422, 'provider_rejected', false],
  ])('%i is %s (ends the run: %j), without a retry', async (statusCode, code, endsRun) => {
    handlers = [reply(statusCode, '{"error":{"message":"because"}}')];
    await expect(ask()).rejects.toMatchObject({
      code,
      endsRun,
      message: `The provider returned an error: status ${statusCode}, application/json, 31 bytes.`,
    });
    expect(seen).toHaveLength(1);
  });

  it.each([
    [408, 'provider_unavailable'],
    [429, 'provider_rate_limited'],
    [500, 'provider_unavailable'],
    [503, 'provider_unavailable'],
    [529, 'provider_unavailable'],
  ])('%i is retried and then becomes %s', async (statusCode, code) => {
    handlers = [reply(statusCode, 'busy')];
    await expect(ask()).rejects.toMatchObject({ code, endsRun: false });
    expect(seen).toHaveLength(4);
    expect(waits).toEqual([500, 1000, 2000]);
  });

  const text = { message: { role: 'assistant', content: 'half an ans' } };
  const good = { choices: [{ ...text, finish_reason: 'stop' }] };
  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
  const asAnthropic = { wireFormat: 'anthropic_messages' } as const;

  it.each<[string, JsonValue, string, Partial<ModelProviderOptions>?]>([
    ['a finish reason', { choices: [{ ...text, finish_reason: 'error' }] }, 'provider_unavailable'],
    ['an error of a choice', { choices: [{ ...text, error: { code: 429 } }] }, 'provider_rate_limited'],
    ['an error beside choices', { ...good, error: { code: 502, message: 'x' } }, 'provider_unavailable'],
    ['an error in place of choices', { error: { message: 'x' } }, 'provider_unavailable'],
    ['an empty error in place of choices', { error: {} }, 'provider_unavailable'],
    ['an error that is a text', { error: 'upstream' }, 'provider_unavailable'],
    ['an error in a list', [{ error: { code: 503, status: 'UNAVAILABLE' } }], 'provider_unavailable'],
    ['a status as text', { error: { code: '429' } }, 'provider_rate_limited'],
    ['a status beside the code', { error: { code: 'x', status: 529 } }, 'provider_unavailable'],
    ['a name', { error: { type: 'rate_limit_error' } }, 'provider_rate_limited'],
    ['an error object', { object: 'error', message: 'x', code: 500 }, 'provider_unavailable'],
    ['a failed response', { object: 'response', status: 'failed', output: [] }, 'provider_unavailable'],
    ['Anthropic', overloaded, 'provider_unavailable', asAnthropic],
    ['a bare type', { type: 'overloaded_error' }, 'provider_unavailable', asAnthropic],
    [
      'a stop reason',
      { type: 'message', content: [], stop_reason: 'error' },
      'provider_unavailable',
      asAnthropic,
    ],
  ])('inside a good response are retried: %s', async (_, body, code, options = {}) => {
    handlers = [reply(200, JSON.stringify(body))];
    await expect(ask(options)).rejects.toMatchObject({ code, endsRun: false });
    expect(seen).toHaveLength(4);
    handlers = [reply(200, JSON.stringify(body)), reply(200, JSON.stringify(good))];
    if (options.wireFormat === undefined)
      expect(await ask()).toMatchObject({ output: 'half an ans', attempts: 2 });
  });

  it.each<[string, JsonObject, string, boolean]>([
    ['400', { error: { code: 400, message: 'x' } }, 'provider_rejected', false],
    ['400 beside an answer', { ...good, error: { code: '400' } }, 'provider_rejected', false],
    ['an invalid request', { error: { type: 'invalid_request_error' } }, 'provider_rejected', false],
    ['403', { error: { code: 403 } }, 'provider_unauthorized', false],
    ['401', { error: { code: 401 } }, 'provider_unauthorized', true],
    ['no credit', { error: { code: 'insufficient_quota' } }, 'provider_rejected', true],
    [
      'a filter',
      { choices: [], prompt_filter_results: [{ content_filter_results: {} }] },
      'provider_rejected',
      false,
    ],
    [
      'a filter as the reason',
      { choices: [{ finish_reason: 'content_filter' }] },
      'provider_rejected',
      false,
    ],
    ['a filter as the code', { choices: [], error: { code: 'content_filter' } }, 'provider_rejected', false],
  ])('inside a good response are final if they say so: %s', async (_, body, code, endsRun) => {
    handlers = [reply(200, JSON.stringify(body))];
    await expect(ask()).rejects.toMatchObject({ code, endsRun });
    expect(seen).toHaveLength(1);
  });

  it('inside a good response have the words of the provider', async () => {
    handlers = [reply(200, JSON.stringify({ choices: [{ ...text, error: { code: 400, message: 'Why' } }] }))];
    await expect(ask()).rejects.toMatchObject({ code: 'provider_rejected', providerMessage: 'Why' });
  });

  it.each([null, '', false, {}, []])(
    'are no errors where the member is %j beside an answer',
    async (error) => {
      handlers = [reply(200, JSON.stringify({ ...good, error }))];
      expect(await ask()).toMatchObject({ output: 'half an ans', attempts: 1 });
    },
  );

  it('say that they are overloaded whatever the status is', async () => {
    handlers = [reply(400, JSON.stringify(overloaded))];
    await expect(ask()).rejects.toMatchObject({ code: 'provider_unavailable' });
    expect(seen).toHaveLength(4);
  });

  const usage = { prompt_tokens: 3, completion_tokens: 4 };
  const tokens = { input: 3, output: 4 };
  const unknown = { input: null, output: null };

  it.each<[string, number, JsonObject | string, JsonValue]>([
    ['no choices', 200, { choices: [], usage }, [tokens]],
    ['an error beside usage', 200, { error: { code: 400 }, usage }, [tokens]],
    ['a status with usage', 400, { error: { code: 'content_filter' }, usage }, [tokens]],
    ['half an answer', 200, { choices: [{ ...text, finish_reason: 'error' }] }, [unknown, unknown]],
    ['usage as text', 400, { usage: { prompt_tokens: '3', completion_tokens: 2 ** 31 } }, [unknown]],
    ['what cannot be read', 200, 'hello', [unknown]],
    ['an error alone', 200, { error: { code: 400 } }, []],
    ['a status alone', 400, { error: { message: 'x' } }, []],
  ])('are paid for as far as there was an answer: %s', async (_, status, body, answers) => {
    handlers = [reply(status, typeof body === 'string' ? body : JSON.stringify(body))];
    await expect(ask({ maxRetries: 1 })).rejects.toMatchObject({ answers });
  });

  it('have the usage that was reported with them', async () => {
    handlers = [reply(200, JSON.stringify({ choices: [], usage }))];
    await expect(ask()).rejects.toMatchObject({ code: 'provider_bad_response', usage });
  });

  it('are paid for together with the answer that came after them', async () => {
    handlers = [
      reply(200, JSON.stringify({ choices: [{ ...text, finish_reason: 'error' }], usage })),
      reply(200, JSON.stringify({ ...good, usage: { prompt_tokens: 1, completion_tokens: 1 } })),
    ];
    expect(await ask()).toMatchObject({
      usage: { input_tokens: 4, output_tokens: 5 },
      answers: [tokens, { input: 1, output: 1 }],
    });
  });

  it('do not matter if a later attempt succeeds', async () => {
    handlers = [
      reply(429, '', { 'retry-after': '2' }),
      reply(503, ''),
      reply(200, completion({ content: 'A' })),
    ];
    expect(await ask()).toMatchObject({ output: 'A' });
    expect(waits).toEqual([2200, 1000]);
    expect(
      logged.map(([event, fields]) => [event, fields['status_code'], fields['attempt'], fields['delay_ms']]),
    ).toEqual([
      ['provider.request', 429, 1, undefined],
      ['provider.retry', 429, 1, 2200],
      ['provider.request', 503, 2, undefined],
      ['provider.retry', 503, 2, 1000],
      ['provider.request', 200, 3, undefined],
    ]);
  });

  it('are final without retries, and if the provider asks for too long a delay', async () => {
    handlers = [reply(503, '')];
    await expect(ask({ maxRetries: 0 })).rejects.toMatchObject({ code: 'provider_unavailable' });
    handlers = [reply(429, '', { 'retry-after': '86400' })];
    await expect(ask()).rejects.toMatchObject({ code: 'provider_rate_limited' });
    expect([seen.length, waits]).toEqual([2, []]);
  });

  it('are final when the delays of the request have taken five minutes', async () => {
    handlers = [reply(429, '', { 'retry-after': '299' })];
    const limited = { code: 'provider_rate_limited', attempts: 2 };
    await expect(ask({ maxRetries: 20 })).rejects.toMatchObject(limited);
    expect(waits).toEqual([300_000]);
    waits = [];
    handlers = [reply(503, '')];
    const unavailable = { code: 'provider_unavailable', attempts: 15 };
    await expect(ask({ maxRetries: 20 })).rejects.toMatchObject(unavailable);
    expect(waits.reduce((sum, delayMs) => sum + delayMs, 0)).toBe(271_500);
  });

  it('of an account without credit end the run', async () => {
    handlers = [reply(429, '{"error":{"message":"quota","code":"insufficient_quota"}}')];
    await expect(ask()).rejects.toMatchObject({ code: 'provider_rejected', endsRun: true });
    expect(seen).toHaveLength(1);
  });

  it('do not include following a redirect', async () => {
    handlers = [reply(307, '', { location: 'http://127.0.0.1:9/v1' })];
    await expect(ask()).rejects.toMatchObject({ code: 'provider_rejected', endsRun: true });
    expect(seen).toHaveLength(1);
  });

  it('of a broken connection are retried', async () => {
    handlers = [
      (request) => request.socket.destroy(),
      (request, response) => {
        response.writeHead(200, { 'content-length': '100' }).write('{"choices"');
        setImmediate(() => request.socket.destroy());
      },
      reply(200, completion({ content: 'A' })),
    ];
    expect(await ask()).toMatchObject({ output: 'A' });
    expect(waits).toHaveLength(2);
  });

  it('of a refused connection are retried and then become unavailable', async () => {
    await expect(ask({ base_url: 'http://127.0.0.1:1', maxRetries: 1 })).rejects.toMatchObject({
      code: 'provider_unavailable',
    });
    expect(waits).toHaveLength(1);
  });

  it('of a late response are retried and then become a timeout', async () => {
    handlers = [() => undefined];
    await expect(ask({ timeoutMs: 200, maxRetries: 1 })).rejects.toMatchObject({
      code: 'provider_timeout',
      message: 'Timed out waiting for the provider.',
    });
    await expect.poll(() => seen).toHaveLength(2);
  });

  it('of an endless response become a timeout', async () => {
    handlers = [(_request, response) => void response.writeHead(200).write('{')];
    await expect(ask({ timeoutMs: 30, maxRetries: 0 })).rejects.toMatchObject({ code: 'provider_timeout' });
  });

  it.each([
    ['text/plain; charset=utf-8', 'text/plain'],
    ['TEXT/HTML', 'text/html'],
    ['text/planted-type', 'another type'],
    ['', 'another type'],
  ])('name the status, type %j and length, but never the text', async (type, shown) => {
    const text = `planted ${'x'.repeat(10_000)}`;
    for (const statusCode of [200, 400, 401, 404, 422, 500]) {
      handlers = [reply(statusCode, text, { 'content-type': type })];
      const error = await ask({ maxRetries: 0 }).catch((caught: unknown) => caught as Error);
      expect((error as Error).message).toContain(`: status ${statusCode}, ${shown}, 10008 bytes`);
      expect((error as Error).message).not.toMatch(/planted|x{9}/);
    }
  });

  it.each([
    ['{"error":{"code":"context_length_exceeded","message":"planted"}}', ', context_length_exceeded'],
    ['{"error":{"type":"invalid_request_error","code":"planted"}}', ', invalid_request_error'],
    ['{"error":{"code":"planted"}}', ''],
    ['{"error":"planted"}', ''],
    ['{"code":"model_not_found"}', ', model_not_found'],
  ])('name the documented code in %s', async (body, shown) => {
    handlers = [reply(400, body)];
    await expect(ask()).rejects.toMatchObject({
      message: `The provider returned an error: status 400, application/json, ${body.length} bytes${shown}.`,
    });
  });

  it('never contain the key, even if the provider repeats it', async () => {
    for (const statusCode of [400, 401, 500, 200]) {
      handlers = [
        (request, response) =>
          void response
            .writeHead(statusCode, { 'content-type': String(request.headers.authorization) })
            .end(`bad key: ${request.headers.authorization}`),
      ];
      const error = await ask({ maxRetries: 1 }).catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(RunError);
      expect((error as Error).message).not.toContain(key);
    }
    expect(JSON.stringify(logged)).not.toContain(key);
  });

  it('do not distinguish a closed port from one with another protocol', async () => {
    const other = createTcpServer(
      (socket) =>
        void socket
          .resume()
          .on('error', () => undefined)
          .end('SSH-2.0-x\r\n'),
    );
    const silent = createTcpServer((socket) => void socket.on('error', () => undefined).destroy());
    const found: string[] = [];
    for (const one of [other, silent]) {
      await new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve));
      const { port } = one.address() as AddressInfo;
      for (const path of ['', '/v1']) {
        const error = await ask({ base_url: `http://127.0.0.1:${port}${path}`, maxRetries: 0 }).catch(
          (caught: unknown) => caught as RunError,
        );
        found.push(`${(error as RunError).code}: ${(error as RunError).message}`);
      }
      one.close();
    }
    const closed = await ask({ base_url: 'http://127.0.0.1:1', maxRetries: 0 }).catch(
      (caught: unknown) => caught as RunError,
    );
    found.push(`${(closed as RunError).code}: ${(closed as RunError).message}`);
    expect(new Set(found)).toEqual(
      new Set(['provider_unavailable: Cannot connect to the provider, or the connection broke.']),
    );
  });

  it('of TLS have their own message', async () => {
    handlers = [reply(200, '')];
    const { port } = server.address() as AddressInfo;
    await expect(ask({ base_url: `https://127.0.0.1:${port}`, maxRetries: 0 })).rejects.toMatchObject({
      code: 'provider_unavailable',
      message: 'Cannot connect to the provider: the TLS handshake failed.',
    });
  });

  it('of a forbidden destination end the run', async () => {
    await expect(ask({ base_url: 'http://169.254.1.1/v1' })).rejects.toMatchObject({
      code: 'provider_forbidden',
      endsRun: true,
    });
    expect(waits).toEqual([]);
  });
});

describe('an abort', () => {
  it('ends a running request with its reason and closes the connection', async () => {
    const controller = new AbortController();
    const closed = new Promise<void>((resolve) => {
      handlers = [
        (request) => {
          request.socket.on('close', () => resolve());
          controller.abort(new Error('enough'));
        },
      ];
    });
    await expect(ask({}, controller.signal)).rejects.toThrow('enough');
    await closed;
    expect(logged).toEqual([]);
  });

  it('ends a delay', async () => {
    const controller = new AbortController();
    handlers = [
      (_request, response) => {
        response.writeHead(503).end();
        setTimeout(() => controller.abort(new Error('enough')), 20);
      },
    ];
    await expect(ask({ wait: undefined }, controller.signal)).rejects.toThrow('enough');
    expect(seen).toHaveLength(1);
  });

  it('before the request prevents sending', async () => {
    await expect(ask({}, AbortSignal.abort(new Error('before')))).rejects.toThrow('before');
    expect(seen).toEqual([]);
  });
});
