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
