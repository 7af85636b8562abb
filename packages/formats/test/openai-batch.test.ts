import { expect, it } from 'vitest';
import { convert, lines } from './convert.ts';

const HASH = 'ab'.repeat(32);
const response = (custom_id: string, content: string | null, error: object | null = null): object => ({
  ...{ id: 'batch_req_1', custom_id, error },
  response:
    content === null
      ? null
      : {
          status_code: 200,
          body: {
            model: 'gpt-x',
            choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
            usage: { prompt_tokens: 3, completion_tokens: 2 },
          },
        },
});

it('puts requests and responses together', async () => {
  const request = (custom_id: string, content: string): object => ({
    ...{ custom_id, method: 'POST', url: '/v1/chat/completions' },
    body: { model: 'gpt-x', messages: [{ role: 'user', content }], temperature: 0 },
  });
  const { items, results, lost } = await convert({
    'output.jsonl': lines([response('b', null, { message: 'Expired' }), response('a', '4')]),
    'input.jsonl': lines([request('a', '2 + 2?'), request('b', '3 + 3?')]),
  });
  expect(items).toEqual([
    { id: 'a', inputs: { prompt: '2 + 2?' } },
    { id: 'b', inputs: { prompt: '3 + 3?' } },
  ]);
  expect(results).toMatchObject([
    { itemId: 'a', status: 'unscored', output: '4', traceId: 'a', usage: { prompt_tokens: 3 } },
    { itemId: 'b', status: 'failed', error: { message: 'Expired' } },
  ]);
  expect(lost).toEqual(['2 x parameter temperature']);
});

it.each([
  [{ choices: [{ message: { content: 'half' }, finish_reason: 'error' }] }, 'The request failed.'],
  [{ choices: [{ message: { content: 'half' }, error: { code: 502, message: 'Upstream' } }] }, 'Upstream'],
  [{ choices: [{ message: { content: 'whole' } }], error: { message: 'Beside' } }, 'Beside'],
  [{ choices: [], prompt_filter_results: [{ content_filter_results: {} }] }, 'The request failed.'],
])('reads an error inside a good response as one: %j', async (body, message) => {
  const line = { custom_id: `${HASH}-1`, error: null, response: { status_code: 200, body } };
  const { results } = await convert({ 'output.jsonl': lines([line]) });
  expect(results).toMatchObject([{ status: 'failed', output: null, error: { message } }]);
});

it('reads responses to requests of its own alone', async () => {
  const { items, results } = await convert({
    'output.jsonl': lines([response(`${HASH}-2`, 'second'), response(`${HASH}-1`, 'first')]),
  });
  expect(items).toEqual([{ id: HASH, inputs: {} }]);
  expect(results.map(({ repetition, output }) => [repetition, output])).toEqual([
    [1, 'first'],
    [2, 'second'],
  ]);
  await expect(convert({ 'output.jsonl': lines([response('mine', 'x')]) })).rejects.toMatchObject({
    code: 'package_unsupported',
    location: { file: 'output.jsonl', line: 1 },
  });
});

it('reads refusals, texts of completions and errors that are texts, and counts what has no place', async () => {
  const of = (id: string, body: object | null, error: unknown = null): object => ({
    ...{ custom_id: `${HASH}-${id}`, error },
    response: body === null ? null : { status_code: 200, body },
  });
  const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } };
  const outputs = [
    { type: 'reasoning', summary: [] },
    { type: 'function_call', name: 'f', arguments: '{}' },
    { type: 'message', content: [{ type: 'output_text', text: 'It is 4' }] },
  ];
  const { results, lost } = await convert({
    'output.jsonl': lines([
      of('1', { choices: [{ message: { content: null, refusal: 'I cannot help.' } }] }),
      of('2', { choices: [{ text: 'upon a time' }, { text: 'was a frog' }] }),
      of('3', { choices: [{ message: { content: null, tool_calls: [call, call] } }] }),
      of('4', { output: outputs }),
      of('5', null, 'Expired'),
      of('6', null, { code: 'x' }),
    ]),
  });
  expect(results.map(({ output, error }) => output ?? error?.message ?? null)).toEqual([
    'I cannot help.',
    'upon a time',
    null,
    'It is 4',
    'Expired',
    'The request failed.',
  ]);
  expect(lost).toEqual([
    '6 x items of responses',
    '1 x further choices of the output',
    '3 x tool calls',
    '1 x output that is not text',
  ]);
});

it('reads what the Responses API says of the end of an output', async () => {
  const of = (id: number, body: object): object => ({
    ...{ custom_id: `${HASH}-${id}`, error: null },
    response: { status_code: 200, body },
  });
  const output = [{ type: 'message', content: [{ type: 'output_text', text: 'so far' }] }];
  const { results } = await convert({
    'output.jsonl': lines([
      of(1, { status: 'completed', output }),
      of(2, { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, output }),
      of(3, { status: 'incomplete', incomplete_details: { reason: 'content_filter' }, output }),
      of(4, { status: 'failed', error: { message: 'Overloaded' }, output: [] }),
      of(5, { status: 'cancelled', output }),
      of(6, {
        choices: [{ finish_reason: 'error', message: { content: 'half' }, error: { message: 'Gone' } }],
      }),
    ]),
  });
  expect(
    results.map(({ status, finishReason, error }) => [status, finishReason, error?.message ?? null]),
  ).toEqual([
    ['unscored', 'stop', null],
    ['unscored', 'length', null],
    ['unscored', 'content_filter', null],
    ['failed', 'error', 'Overloaded'],
    ['failed', 'error', 'The request failed.'],
    ['failed', 'error', 'Gone'],
  ]);
});

it('lists responses to requests that are not there', async () => {
  const request = { custom_id: 'a', body: { messages: [{ role: 'user', content: '1?' }] } };
  const { items, results, lost } = await convert({
    'in.jsonl': lines([request]),
    'out.jsonl': lines([response('a', 'one'), response('unknown', 'two')]),
  });
  expect([items.length, results.length, lost]).toEqual([1, 1, ['1 x results of unknown items']]);
});

it('tells equal items apart by the number in their custom_id', async () => {
  const { items, results } = await convert({
    'output.jsonl': lines([response(`${HASH}-1`, 'first'), response(`${HASH}-1-2`, 'second')]),
  });
  expect(items).toEqual([
    { id: HASH, inputs: {} },
    { id: HASH, inputs: {} },
  ]);
  expect(results.map(({ orderIndex, repetition, output }) => [orderIndex, repetition, output])).toEqual([
    [0, 1, 'first'],
    [1, 1, 'second'],
  ]);
});
