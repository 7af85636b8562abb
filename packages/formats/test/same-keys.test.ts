import { expect, it } from 'vitest';
import { convert, lines } from './convert.ts';

const RENAMED = '1 x ids that another item has';

it('keeps all rows of files of OpenAI’s evals that have one name', async () => {
  const file = (input: string): readonly [string, string] => ['e.jsonl', lines([{ input, ideal: 'x' }])];
  const { items, lost } = await convert([file('a?'), file('b?'), file('b?')]);
  expect(items.map(({ inputs }) => inputs)).toEqual([{ prompt: 'a?' }, { prompt: 'b?' }, { prompt: 'b?' }]);
  expect(lost).toEqual([]);
});

it('keeps all tests of promptfoo in files of one name', async () => {
  const yaml = (question: string): readonly [string, string] => [
    't.yaml',
    `- vars: {question: '${question}'}\n`,
  ];
  const csv: readonly [string, string] = ['t.csv', 'question,__expected\nc?,x\n'];
  const { items, lost } = await convert([yaml('a?'), yaml('b?'), csv]);
  expect(items.map(({ inputs }) => inputs)).toEqual([{ prompt: 'a?' }, { prompt: 'b?' }, { prompt: 'c?' }]);
  expect(lost).toEqual([]);
});

const LM_EVAL = 'samples_t_2026-01-01T00-00-00.000001.jsonl';
const logged = (doc_id: number, prompt: string, output: string, filter = 'none'): object => ({
  ...{ doc_id, doc: {}, target: 'x', filter, metrics: ['acc'], acc: 1, filtered_resps: [output] },
  ...{ arguments: { gen_args_0: { arg_0: prompt, arg_1: {} } }, resps: [[output]] },
});

it('keeps samples of two runs of a task with different prompts of lm-evaluation-harness', async () => {
  const run = (prompt: string): readonly [string, string] => [
    LM_EVAL,
    lines([logged(0, `${prompt} 0`, '0'), logged(1, `${prompt} 1`, '1')]),
  ];
  const { items, results, lost } = await convert([run('a'), run('b')]);
  expect(items).toEqual([
    { id: 0, inputs: { prompt: 'a 0' }, answer: 'x' },
    { id: 1, inputs: { prompt: 'a 1' }, answer: 'x' },
    { id: '0-2', inputs: { prompt: 'b 0' }, answer: 'x' },
    { id: '1-2', inputs: { prompt: 'b 1' }, answer: 'x' },
  ]);
  const shown = results.map(({ itemId, orderIndex, repetition }) => [itemId, orderIndex, repetition]);
  expect(shown).toEqual([
    [0, 0, 1],
    [1, 1, 1],
    ['0-2', 2, 1],
    ['1-2', 3, 1],
  ]);
  expect(lost).toEqual(['2 x ids that another item has']);
});

it('reads two runs of equal items of lm-evaluation-harness as repetitions, each with its filters', async () => {
  const run = (output: string, filters: readonly string[]): readonly [string, string] => [
    LM_EVAL,
    lines(filters.map((filter) => logged(0, 'a', output, filter))),
  ];
  const { report, items, results, lost } = await convert([
    run('first', ['strict', 'loose']),
    run('second', ['loose', 'strict']),
    run('third', ['other', 'other']),
  ]);
  expect({ count: items.length, results: report.resultCount, lost }).toEqual({
    count: 1,
    results: 4,
    lost: [],
  });
  const shown = results.map(({ repetition, output, scores }) => [
    repetition,
    output,
    Object.keys(scores as object).sort(),
  ]);
  expect(shown).toEqual([
    [1, 'first', ['acc,loose', 'acc,strict']],
    [2, 'second', ['acc,loose', 'acc,strict']],
    [3, 'third', ['acc,other']],
    [4, 'third', ['acc,other']],
  ]);
});

it('refuses more repetitions of lm-evaluation-harness than an item may have', async () => {
  const samples = Array.from({ length: 101 }, () => logged(0, 'a', 'x'));
  await expect(convert({ [LM_EVAL]: lines(samples) })).rejects.toMatchObject({
    code: 'package_invalid_line',
    message: expect.stringContaining('1 to 100 repetitions, got repetition 101'),
  });
});

const request = (custom_id: string, content: string): object => ({
  ...{ custom_id, method: 'POST', url: '/v1/chat/completions' },
  body: { model: 'm', messages: [{ role: 'user', content }] },
});
const response = (custom_id: string, content: string): object => ({
  ...{ id: 'r', custom_id, error: null },
  response: { status_code: 200, body: { model: 'm', choices: [{ message: { content } }] } },
});

it('keeps requests with one custom_id and different prompts, and lists responses that fit both', async () => {
  const { items, results, lost } = await convert([
    ['in.jsonl', lines([request('a', '1?'), request('b', '2?')])],
    ['in.jsonl', lines([request('a', '3?'), request('a', '1?')])],
    ['out.jsonl', lines([response('a', 'one'), response('b', 'two'), response('b', 'again')])],
  ]);
  expect(items).toEqual([
    { id: 'a', inputs: { prompt: '1?' } },
    { id: 'b', inputs: { prompt: '2?' } },
    { id: 'a-2', inputs: { prompt: '3?' } },
  ]);
  expect(results.map(({ itemId, repetition, output }) => [itemId, repetition, output])).toEqual([
    ['b', 1, 'two'],
    ['b', 2, 'again'],
  ]);
  expect(lost).toEqual([RENAMED, '1 x results that fit several items']);
});

const logOf = (samples: readonly (readonly [epoch: number, input: string, output: string])[]): string =>
  JSON.stringify({
    ...{ version: 2, status: 'success', eval: { task: 't', model: 'm' } },
    samples: samples.map(([epoch, input, content]) => ({
      ...{ id: 'x', epoch, input, target: '2' },
      output: { choices: [{ message: { role: 'assistant', content }, stop_reason: 'stop' }] },
    })),
  });

it('gives a repeated epoch of Inspect the next free repetition', async () => {
  const samples = [
    [1, '1?', 'first'],
    [1, '1?', 'second'],
    [2, '1?', 'third'],
  ] as const;
  const { report, items, results, lost } = await convert({ 'log.json': logOf(samples) });
  expect({ count: items.length, results: report.resultCount, lost }).toEqual({
    count: 1,
    results: 3,
    lost: [],
  });
  expect(results.map(({ repetition, output }) => [repetition, output])).toEqual([
    [1, 'first'],
    [2, 'third'],
    [3, 'second'],
  ]);
});

it('keeps two epochs of one id of Inspect with different inputs', async () => {
  const samples = [
    [1, '1?', 'first'],
    [2, '2?', 'second'],
    [3, '2?', 'third'],
  ] as const;
  const { items, results, lost } = await convert({ 'log.json': logOf(samples) });
  expect(items.map(({ id, inputs }) => [id, inputs])).toEqual([
    ['x', { prompt: '1?' }],
    ['x-2', { prompt: '2?' }],
  ]);
  expect(results.map(({ itemId, repetition, output }) => [itemId, repetition, output])).toEqual([
    ['x', 1, 'first'],
    ['x-2', 2, 'second'],
    ['x-2', 3, 'third'],
  ]);
  expect(lost).toEqual([RENAMED]);
});
