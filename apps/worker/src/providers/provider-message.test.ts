import { type CheckRunner, readProviderResponse } from '@svc/service/evaluation';
import { expect, it } from 'vitest';
import { hiddenTexts, shownMessage } from './model-provider.ts';

const KEY = 'correct-horse-battery-staple';
const HEADERS = { 'x-project': 'projekt-zebra', 'x-greedy': 'key: correct-horse' };
const hidden = hiddenTexts({ keys: [KEY, 'short'], extra_headers: HEADERS });
const noThreads: CheckRunner = {
  run: () => Promise.reject(new Error('A thread was asked.')),
} as unknown as CheckRunner;

/** What a result shows of the body of an error. */
async function shown(body: unknown): Promise<string | null> {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const task = { kind: 'response', body: bytes, format: 'chat_completions', maxOutputChars: null } as const;
  const { errorText } = await readProviderResponse(task, noThreads, new AbortController().signal);
  return errorText === null ? null : shownMessage(errorText, hidden);
}

const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U';

it.each<[string, unknown, string | null]>([
  // OpenAI and Azure OpenAI
  [
    'OpenAI: context',
    {
      error: {
        message: "This model's maximum context length is 8192 tokens.",
        type: 'invalid_request_error',
        param: 'messages',
        code: 'context_length_exceeded',
      },
    },
    "This model's maximum context length is 8192 tokens.",
  ],
  [
    'OpenAI: rate',
    {
      error: {
        message: 'Rate limit reached for gpt-4o in organization org-1 on tokens per min.',
        code: 'rate_limit_exceeded',
      },
    },
    'Rate limit reached for gpt-4o in organization org-1 on tokens per min.',
  ],
  [
    'OpenAI: masked key',
    {
      error: {
        message: 'Incorrect API key provided: sk-abcd********wxyz. You can find your API key online.',
      },
    },
    'Incorrect API key provided: [redacted] You can find your API key online.',
  ],
  [
    'OpenAI: quota',
    { error: { message: 'You exceeded your current quota.', code: 'insufficient_quota' } },
    'You exceeded your current quota.',
  ],
  [
    'Azure: deployment',
    {
      error: { code: 'DeploymentNotFound', message: 'The API deployment for this resource does not exist.' },
    },
    'The API deployment for this resource does not exist.',
  ],
  [
    'Azure: gateway',
    { statusCode: 401, message: 'Access denied due to invalid subscription key or wrong API endpoint.' },
    'Access denied due to invalid subscription key or wrong API endpoint.',
  ],
  [
    'Azure: filter',
    {
      error: {
        message: 'The response was filtered.',
        code: 'content_filter',
        innererror: { code: 'ResponsibleAIPolicyViolation' },
      },
    },
    'The response was filtered.',
  ],
  // Anthropic
  [
    'Anthropic: overloaded',
    { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' }, request_id: 'req_1' },
    'Overloaded',
  ],
  [
    'Anthropic: key',
    { type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key' } },
    'invalid x-api-key',
  ],
  // vLLM, Ollama, LiteLLM, TGI, llama.cpp, Triton
  [
    'vLLM: flat',
    {
      object: 'error',
      message: 'The model `m` does not exist.',
      type: 'NotFoundError',
      param: null,
      code: 404,
    },
    'The model `m` does not exist.',
  ],
  [
    'vLLM: nested',
    { error: { message: 'max_tokens must be at least 1', type: 'BadRequestError', code: 400 } },
    'max_tokens must be at least 1',
  ],
  [
    'Ollama: model',
    { error: "model 'llama' not found, try pulling it first" },
    "model 'llama' not found, try pulling it first",
  ],
  ['Ollama: null', { error: null }, null],
  [
    'LiteLLM',
    {
      error: {
        message: 'litellm.RateLimitError: AzureException RateLimitError - retry after 6 seconds',
        type: 'throttling_error',
        code: '429',
      },
    },
    'litellm.RateLimitError: AzureException RateLimitError - retry after 6 seconds',
  ],
  [
    'LiteLLM: key in the proxy',
    { error: { message: 'Authentication Error, Invalid proxy server token passed. key=sk-1234', code: 401 } },
    'Authentication Error, Invalid proxy server token passed. key=[redacted]',
  ],
  [
    'TGI',
    { error: 'Input validation error: `inputs` must have less than 1024 tokens.', error_type: 'validation' },
    'Input validation error: `inputs` must have less than 1024 tokens.',
  ],
  [
    'llama.cpp',
    { error: { code: 503, message: 'Loading model', type: 'unavailable_error' } },
    'Loading model',
  ],
  ['Triton', { error: 'Request for unknown model' }, 'Request for unknown model'],
  // Gemini, FastAPI, OAuth, Spring, OpenRouter, Mistral, Cohere
  [
    'Gemini: array',
    [{ error: { code: 400, message: 'API key not valid.', status: 'INVALID_ARGUMENT' } }],
    'API key not valid.',
  ],
  [
    'Gemini: object',
    { error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } },
    'The model is overloaded.',
  ],
  ['FastAPI: text', { detail: 'Not Found' }, 'Not Found'],
  [
    'FastAPI: problems',
    {
      detail: [
        { loc: ['body', 'messages', 0, 'content'], msg: 'field required', type: 'value_error.missing' },
        { loc: ['body', 'model'], msg: 'str type expected', type: 'type_error.str' },
      ],
    },
    'body.messages.0.content: field required; body.model: str type expected',
  ],
  ['FastAPI: other objects', { detail: { reason: 'x' } }, null],
  [
    'OAuth',
    { error: 'invalid_client', error_description: 'Client authentication failed.' },
    'Client authentication failed.',
  ],
  [
    'Spring',
    { timestamp: 1, status: 404, error: 'Not Found', message: 'No handler', path: '/v1' },
    'No handler',
  ],
  [
    'RFC 9457',
    { type: 'about:blank', title: 'Bad Gateway', status: 502, detail: 'The upstream is down.' },
    'The upstream is down.',
  ],
  [
    'OpenRouter',
    { error: { message: 'Provider returned error', code: 502, metadata: { raw: 'secret words' } } },
    'Provider returned error',
  ],
  ['Cohere', { message: 'invalid api token' }, 'invalid api token'],
  // not JSON, or nothing in it
  ['a page of a proxy', '<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>', null],
  ['plain text', 'upstream connect error', null],
  ['an empty body', '', null],
  ['a JSON text', '"Internal error"', null],
  ['an empty message', { error: { message: '   ' } }, null],
  ['numbers', { error: { message: 5 }, message: false }, null],
  // secrets that come back
  ['a shorter key', { error: { message: 'Invalid key short!' } }, 'Invalid key [redacted]!'],
  ['the key', { error: { message: `Invalid key ${KEY}!` } }, 'Invalid key [redacted]!'],
  [
    'the key in Base64',
    { message: `Basic ${Buffer.from(`user:${KEY}`).toString('base64')} refused` },
    expect.not.stringContaining('Y29ycmVjdC1ob3JzZS') as never,
  ],
  [
    'the key, quoted as JSON in JSON',
    { message: JSON.stringify({ authorization: `Bearer ${KEY}` }) },
    expect.not.stringContaining(KEY) as never,
  ],
  [
    'the key with unseen characters',
    { message: `Invalid key ${[...KEY].join('\u200b')} and ${[...KEY].join('\0')}` },
    'Invalid key [redacted] and [redacted]',
  ],
  ['the key behind the beginning of a header', { message: `Bad key: ${KEY}` }, 'Bad key: [redacted]'],
  ['a header', { error: 'Project projekt-zebra is unknown' }, 'Project [redacted] is unknown'],
  ['a token of the web', { error: { message: `Token ${JWT} has expired` } }, 'Token [redacted] has expired'],
  [
    'a bearer',
    { error: { message: 'Got "Authorization: Bearer abcdefgh"' } },
    expect.not.stringContaining('abcdefgh') as never,
  ],
  [
    'keys of others',
    { error: { message: 'hf_abcdefgh1234567890 ghp_0123456789abcdefghij AKIAABCDEFGHIJKLMNOP' } },
    '[redacted] [redacted] [redacted]',
  ],
  [
    'a password in a URL',
    { error: { message: 'cannot reach https://user:hunter2@db.example/x' } },
    expect.not.stringContaining('hunter2') as never,
  ],
  [
    'lines and control characters',
    { message: 'one\r\n\ttwo \u001b[31mred\u0007 \u202eltr' },
    'one two [31mred ltr',
  ],
  ['half a surrogate pair', '{"message":"a\\ud83d"}', 'a\ufffd'],
])('shows of %s what may be shown', async (_, body, expected) => {
  expect(await shown(body)).toEqual(expected);
});

it('cuts to 500 code points, after secrets are gone', async () => {
  const long = await shown({ message: '😀'.repeat(600) });
  expect(Array.from(long ?? '')).toHaveLength(500);
  expect(long?.endsWith('😀…')).toBe(true);
  expect(await shown({ message: '😀'.repeat(500) })).toBe('😀'.repeat(500));
  // no part of the key stays where the cut goes through it
  const cut = await shown({ message: `${'x '.repeat(245)}${KEY}` });
  expect(cut).toMatch(/\[redacted\]$/);
  // nor where reading ends, far behind what is shown, also if everything before it goes
  const many = await shown({
    message: `${`${KEY} `.repeat(680)}${'y'.repeat(300)}${KEY}${'z'.repeat(30_000)}`,
  });
  expect(many).not.toContain('correct');
});

it('takes time that grows with the message alone', async () => {
  for (const text of ['sk-', 'eyJ-', 'Bearer ', 'a="', '://', '{"password":"', 'sk_a.']) {
    const startMs = performance.now();
    await shown({ message: text.repeat(30_000 / text.length) });
    expect(performance.now() - startMs).toBeLessThan(30_000);
  }
});
