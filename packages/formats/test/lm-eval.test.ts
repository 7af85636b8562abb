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
    '1 x score outside 0 to 1 of ppl',
    '1 x list as score of pair',
    '1 x missing score of nan',
    '1 x further responses of a sample',
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
