import { expect, it } from 'vitest';
import { convert, lines } from './convert.ts';

/** A file in the form of promptfoo 0.120, made by hand after its types. */
const result = (testIdx: number, members: object = {}): object => ({
  ...{
    id: `r${testIdx}`,
    promptIdx: 0,
    testIdx,
    promptId: 'p',
    success: true,
    score: 1,
    latencyMs: 12,
    cost: 0,
  },
  provider: { id: 'echo', label: '' },
  prompt: { raw: `Q: ${testIdx} + 1?`, label: 'Q: {{q}}' },
  ...{ vars: { q: `${testIdx} + 1?` }, failureReason: 0, namedScores: {}, error: null },
  testCase: { vars: { q: `${testIdx} + 1?` }, assert: [{ type: 'contains', value: String(testIdx + 1) }] },
  response: { output: `It is ${testIdx + 1}`, tokenUsage: { total: 5, prompt: 3, completion: 2 } },
  gradingResult: {
    pass: true,
    score: 1,
    reason: 'All assertions passed',
    componentResults: [{ pass: true }],
  },
  ...members,
});
const results = (list: readonly object[]): string =>
  JSON.stringify({
    evalId: 'eval-x',
    results: { version: 3, timestamp: '2026-01-02T03:04:05.000Z', prompts: [], results: list, stats: {} },
    config: { description: 'My sums', prompts: ['Q: {{q}}'] },
    metadata: { promptfooVersion: '0.120.0' },
  });

it('reads results, and lists those of other providers', async () => {
  const {
    report,
    items,
    results: found,
    lost,
  } = await convert({
    'results.json': results([
      result(0),
      result(1, { score: 0.5, namedScores: { tone: 0.25, 'a b': 2 } }),
      result(2, { failureReason: 2, error: 'Timed out', response: undefined, gradingResult: null, score: 0 }),
      result(0, { testIdx: 3, response: { output: 'again' } }),
      result(0, { promptIdx: 1, provider: { id: 'other' } }),
    ]),
  });
  expect(report).toMatchObject({ tool: 'promptfoo', itemCount: 3, resultCount: 4 });
  expect(items[0]).toEqual({
    inputs: { prompt: 'Q: 0 + 1?' },
    answer: '1',
    checker: { type: 'includes' },
    meta: { vars: { q: '0 + 1?' } },
  });
  const shown = found.map(({ orderIndex, repetition, status, output, score, latencyMs }) => {
    return [orderIndex, repetition, status, output, score, latencyMs];
  });
  expect(shown).toEqual([
    [0, 1, 'ok', 'It is 1', 1, 12],
    [0, 2, 'ok', 'again', 1, 12],
    [1, 1, 'ok', 'It is 2', 0.5, 12],
    [2, 1, 'failed', null, null, 12],
  ]);
  expect(found[2]?.scores).toMatchObject({ score: { score: 0.5, passed: null }, tone: { score: 0.25 } });
  expect(lost).toEqual([
    '3 x results of single assertions',
    '1 x score outside 0 to 1 of a_b',
    '1 x results of other, prompt 1',
  ]);
});

const ITEMS = [
  { inputs: { prompt: '1 + 1?' }, answer: '2', checker: { type: 'exact_match', trim: false } },
  {
    inputs: { prompt: 'Say hello' },
    answer: ['hi', 'hello'],
    checker: { type: 'includes', ignore_case: true },
    criteria: ['is friendly'],
  },
];

it('reads tests in JSON Lines, YAML and CSV', async () => {
  const tests = [
    { vars: { question: '1 + 1?' }, assert: [{ type: 'equals', value: '2' }] },
    {
      vars: { question: 'Say hello' },
      assert: [
        { type: 'icontains-any', value: ['hi', 'hello'] },
        { type: 'llm-rubric', value: 'is friendly' },
        { type: 'javascript', value: 'process.exit(1)' },
      ],
    },
  ];
  const yaml = `- vars:
    question: 1 + 1?
  assert:
    - type: equals
      value: "2"
- vars:
    question: Say hello
  assert:
    - {type: icontains-any, value: [hi, hello]}
    - type: llm-rubric
      value: is friendly
    - type: javascript
      value: process.exit(1)
`;
  const csv =
    'question,__expected,__expected2,__expected3\n1 + 1?,2,,\nSay hello,"icontains-any: hi,hello",grade: is friendly,javascript: process.exit(1)\n';
  for (const [name, text] of [
    ['t.jsonl', lines(tests)],
    ['t.yaml', yaml],
    ['t.csv', csv],
  ] as const) {
    const { items, lost } = await convert({ [name]: text });
    const meta = (question: string): object => ({ meta: { vars: { question } } });
    expect(items, name).toEqual([
      { ...ITEMS[0], ...meta('1 + 1?') },
      { ...ITEMS[1], ...meta('Say hello') },
    ]);
    expect(lost, name).toEqual(['1 x further assertion javascript']);
  }
});

it('takes every cell of CSV as a text, also where a column looks like numbers', async () => {
  const { items } = await convert({
    't.csv': 'question,n,flag,__expected\nq1,1,true,NA\nq2,NA,null,2\nq3,,false,None\n',
  });
  const shown = items.map(({ answer, meta }) => [answer, (meta as { vars: object }).vars]);
  expect(shown).toEqual([
    ['NA', { question: 'q1', n: '1', flag: 'true' }],
    ['2', { question: 'q2', n: 'NA', flag: 'null' }],
    ['None', { question: 'q3', n: '', flag: 'false' }],
  ]);
});

it('names the place of what it cannot read', async () => {
  await expect(convert({ 't.yaml': '- vars: {a: b}\n- 5\n' })).rejects.toMatchObject({
    location: { file: 't.yaml', path: '/1' },
  });
  await expect(convert({ 't.yaml': '- vars: {a: b\n- [\n' })).rejects.toMatchObject({
    code: 'package_invalid_json',
  });
  const old = results([result(0)]).replace('"version":3', '"version":2');
  await expect(convert({ 'results.json': old })).rejects.toMatchObject({ code: 'package_unsupported' });
});

it('counts assertions of unknown types, whatever their names', async () => {
  const names = ['constructor', '__proto__', 'toString', 'no-such-type'];
  const assert = names.map((type) => ({ type, value: 'x' }));
  const { items, lost } = await convert({ 'tests.jsonl': lines([{ vars: { question: 'q' }, assert }]) });
  expect(items).toEqual([{ inputs: { prompt: 'q' }, meta: { vars: { question: 'q' } } }]);
  expect(lost).toEqual(names.map((type) => `1 x assertion ${type}`));
});

it.each([
  ['results of another version', '{"evalId":"e","results":{"version":2,"results":[]}}'],
  ['results without a version', '{"evalId":"e","results":{"results":[]}}'],
  ['results without a version and results', '{"results":{}}'],
  ['results in a list', '{"results":[]}'],
  ['samples of OpenAI’s evals', '{"input":"a","ideal":"b","metadata":{}}\n'],
])('refuses %s', async (_what, text) => {
  await expect(convert({ 'x.json': text }, { tool: 'promptfoo' })).rejects.toMatchObject({
    code: 'package_unsupported',
  });
});
