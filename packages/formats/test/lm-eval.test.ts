import { readdir, readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { convert, lines } from './convert.ts';

const logged = (doc_id: number, members: object = {}): object => ({
  ...{ doc_id, doc: { question: `${doc_id}?` }, target: 'x', filter: 'none', metrics: ['acc'], acc: 1 },
  arguments: { gen_args_0: { arg_0: `Q: ${doc_id}?`, arg_1: {} } },
  ...{ resps: [['answer']], filtered_resps: ['answer'], ...members },
});
const NAME = 'samples_t_2026-01-01T00-00-00.000001.jsonl';

it('puts two filters of many samples together, with memory that does not grow with them', async () => {
  const count = 5_000;
  const both = ['strict', 'loose'].flatMap((filter) =>
    Array.from({ length: count }, (_, id) => logged(id, { filter, filtered_resps: [filter], acc: id % 2 })),
  );
  const { results, report } = await convert({ [NAME]: lines(both) });
  expect({ items: report.itemCount, results: report.resultCount }).toEqual({ items: count, results: count });
  expect(results.map(({ orderIndex }) => orderIndex)).toEqual(Array.from({ length: count }, (_, id) => id));
  expect(results[1]?.scores).toEqual({
    'acc,strict': { score: 1, passed: true, explanation: 'strict', scored_by: 'client' },
    'acc,loose': { score: 1, passed: true, explanation: 'loose', scored_by: 'client' },
  });
});

it('keeps the scores of as many scorers as a run has, and counts the others', async () => {
  const filters = Array.from({ length: 20_000 }, (_, index) => logged(0, { filter: `f${index}` }));
  const { results, lost } = await convert({ [NAME]: lines(filters) });
  expect(Object.keys(results[0]?.scores ?? {})).toHaveLength(16);
  expect(lost).toEqual(['19984 x scores of scorers beyond 16']);
});

it('counts what has no place, and keeps the row where asked', async () => {
  const text = lines([
    logged(0, { metrics: ['acc', 'ppl', 'pair', 'nan'], ppl: 12.5, pair: [1, 2], nan: 'NAN' }),
    logged(1, { resps: [['a', 'b']] }),
  ]).replace('"NAN"', 'NaN');
  const { items, lost } = await convert({ [NAME]: text }, { keepSource: true });
  expect(lost).toEqual([
    '1 x further responses of a sample',
    '1 x scorer ppl: outside 0 to 1',
    '1 x scorer pair: lists',
    '1 x scorer nan: missing values',
  ]);
  expect(items[0]).toMatchObject({ id: 0, meta: { source_row: { question: '0?' } } });
});

it('reads files that begin with a byte order mark', async () => {
  const results = '\ufeff{"results": {}, "model_name": "m"}';
  const { report } = await convert({ [NAME]: `\ufeff${lines([logged(0)])}`, 'results_x.json': results });
  expect(report).toMatchObject({ tool: 'lm-eval', resultCount: 1 });
});

it('reads messages of chats', async () => {
  const messages = JSON.stringify([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: '1 + 1?' },
  ]);
  const { items } = await convert({
    [NAME]: lines([logged(0, { arguments: { gen_args_0: { arg_0: [messages], arg_1: {} } } })]),
  });
  expect(items[0]).toMatchObject({ inputs: { system_prompt: 'Be brief.', prompt: '1 + 1?' } });
});

it('names the file and the line of what it cannot read', async () => {
  const broken = `${lines([logged(0)])}{"doc_id": 1, \n`;
  await expect(convert({ [NAME]: broken })).rejects.toMatchObject({
    code: 'package_invalid_line',
    location: { file: NAME, line: 2 },
  });
  const other = lines([logged(0), { doc_id: 1 }]);
  await expect(convert({ [NAME]: other })).rejects.toMatchObject({ location: { file: NAME, line: 2 } });
  const long = lines([logged(0), logged(1, { target: 'x'.repeat(5_000) })]);
  await expect(convert({ [NAME]: long }, { limits: { maxLineBytes: 2_000 } })).rejects.toMatchObject({
    code: 'package_limit',
    location: { file: NAME, line: 2 },
  });
});

it('finds its own items in what lm-evaluation-harness logged of a task folder', async () => {
  const folder = new URL('../../../conformance/formats/lm-eval-task/', import.meta.url);
  const [name = ''] = await readdir(folder);
  const { items, results } = await convert({ [name]: await readFile(new URL(name, folder)) });
  expect(items).toEqual([
    { id: 'x', inputs: { prompt: '2 + 2?' }, answer: '4' },
    { id: 'y', inputs: { prompt: '1 + 1?' }, answer: '2' },
  ]);
  expect(results.map(({ output }) => output)).toEqual([' The answer is 4', ' two']);
});

it('keeps the columns of the row as meta', async () => {
  const doc = { id: 'q1', question: '1?', subject: 'maths', level: 3 };
  const { items, lost } = await convert({ [NAME]: lines([logged(0, { doc })]) });
  expect(items).toEqual([
    {
      ...{ id: 'q1', inputs: { prompt: 'Q: 0?' }, answer: 'x' },
      meta: { question: '1?', subject: 'maths', level: 3 },
    },
  ]);
  expect(lost).toEqual([]);
});

it('takes two filters without names for two scorers, and repetitions with other responses for none', async () => {
  const old = (doc_id: number, acc: number, response = 'r'): object => {
    const {
      filter: _,
      metrics: __,
      ...members
    } = logged(doc_id, { acc, resps: [[response]] }) as Record<string, unknown>;
    return members;
  };
  const { results, report } = await convert({ [NAME]: lines([old(0, 0), old(1, 1), old(0, 1), old(1, 1)]) });
  expect(report.resultCount).toBe(2);
  const scores = results.map((one) =>
    Object.fromEntries(Object.entries(one.scores as object).map(([name, { score }]) => [name, score])),
  );
  expect(scores).toEqual([
    { acc: 0, 'acc,filter-2': 1 },
    { acc: 1, 'acc,filter-2': 1 },
  ]);
  const repeated = await convert({ [NAME]: lines([old(0, 0), old(0, 1, 'other')]) });
  expect(repeated.results.map(({ repetition, score }) => [repetition, score])).toEqual([
    [1, 0],
    [2, 1],
  ]);
});

it('leaves a metric whose mean is not that of the results, and one of any other scale', async () => {
  const values = [0, 12.5, 25, 62.5];
  const samples = values.map((bleu, id) =>
    logged(id, { metrics: ['acc', 'bleu', 'f1'], acc: id % 2, bleu, f1: 0.5 }),
  );
  const means = { 'acc,none': 0.5, 'acc_stderr,none': 0.2, 'bleu,none': 25, 'f1,none': 0.7 };
  const { results, lost } = await convert({
    [NAME]: lines(samples),
    'results_x.json': JSON.stringify({ results: { t: means } }),
  });
  expect(Object.keys(results[0]?.scores as object)).toEqual(['acc']);
  expect(lost).toEqual(['4 x scorer bleu: outside 0 to 1', '4 x scorer f1: not the mean of its scores']);
});

it('gives texts that were only rated no output', async () => {
  const { items, results, lost } = await convert({
    [NAME]: lines([
      logged(0, {
        ...{ arguments: { gen_args_0: { arg_0: 'a whole page' } }, resps: [['-1000.4']] },
        ...{ filtered_resps: ['-1000.4'], metrics: ['word_perplexity'], word_perplexity: [-1000.4, 3] },
      }),
    ]),
  });
  expect(items).toMatchObject([{ inputs: { prompt: 'a whole page' } }]);
  expect(results).toMatchObject([{ output: null, status: 'unscored' }]);
  expect(lost).toEqual(['1 x log-likelihoods', '1 x scorer word_perplexity: lists']);
});

it('finds the choices of a sample in contexts that differ', async () => {
  const contexts = ['Few shots.\n\nSarah beat Maria, so Sarah', 'Few shots.\n\nSarah beat Maria, so Maria'];
  const end = ' got the prize.';
  const asked = (target: string): object =>
    logged(0, {
      target,
      arguments: Object.fromEntries(
        contexts.map((arg_0, index) => [`gen_args_${index}`, { arg_0, arg_1: end }]),
      ),
      ...{ resps: [[['-3', 'False']], [['-2', 'False']]], filtered_resps: [] },
    });
  const { items, results } = await convert({ [NAME]: lines([asked('1')]) });
  expect(items).toMatchObject([
    {
      inputs: {
        prompt: 'Few shots.\n\nSarah beat Maria, so _ got the prize.',
        choices: ['Sarah', 'Maria'],
      },
      answer: 'Maria',
    },
  ]);
  expect(results).toMatchObject([{ output: 'Maria' }]);
  const unnamed = await convert({ [NAME]: lines([asked(end)]) });
  expect(unnamed.items[0]).not.toHaveProperty('answer');
  expect(unnamed.lost).toContain('1 x targets that name no choice');
});

it('says of results alone that their samples are missing', async () => {
  const text = '{"results": {"t": {"acc,none": NaN}}}';
  await expect(convert({ 'results_2026-01-01.json': text })).rejects.toMatchObject({
    code: 'package_unsupported',
    message: expect.stringContaining('samples_<task>_<time>.jsonl'),
  });
});
