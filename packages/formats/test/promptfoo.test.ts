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

it('reads results, and a run for each pair of a prompt and a provider', async () => {
  const {
    report,
    items,
    results: found,
    lost,
    packages,
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
  expect(found[2]?.scores).toMatchObject({ score: { score: 0.5, passed: true }, tone: { score: 0.25 } });
  expect(lost).toEqual(['3 x results of single assertions', '1 x scorer a_b: outside 0 to 1']);
  expect(packages?.map(({ run, items: of, report: { prompt } }) => [prompt, run?.name, of.length])).toEqual([
    [0, 'My sums, echo', 3],
    [1, 'My sums, other', 1],
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

it('has the verdict of the tool, whatever the score is', async () => {
  const { results: found } = await convert({
    'results.json': results([
      result(0, { score: 0.8 }),
      result(1, { score: 0.75, success: false, failureReason: 1 }),
      result(2, { score: 1, success: false, failureReason: 1 }),
      result(3, { score: 0.4, gradingResult: null }),
    ]),
  });
  expect(found.map(({ score, passed }) => [score, passed])).toEqual([
    [0.8, true],
    [0.75, false],
    [1, false],
    [0.4, true],
  ]);
});

it.each([
  ['', 'openai:gpt-5', 'openai:gpt-5'],
  ['mine', 'openai:gpt-5', 'mine'],
  [undefined, 'openai:gpt-5', 'openai:gpt-5'],
])('finds the model in a provider with the label %j', async (label, id, model) => {
  const { run } = await convert({ 'results.json': results([result(0, { provider: { id, label } })]) });
  expect(run?.config['model']).toBe(model);
});

it('makes a dataset of each prompt, and a run of each provider', async () => {
  const asked = (promptIdx: number, raw: string, id: string): object =>
    result(0, { promptIdx, promptId: raw, prompt: { raw, label: raw }, provider: { id, label: '' } });
  const file = { 'results.json': results([asked(0, 'a', 'x'), asked(1, 'b', 'x'), asked(2, 'a', 'y')]) };
  const { packages } = await convert(file);
  const shown = packages?.map(({ report, items, run }) => {
    return [report.name, items[0]?.['inputs'], run?.config['model']];
  });
  expect(shown).toEqual([
    ['results, prompt 1', { prompt: 'a' }, 'x'],
    ['results, prompt 2', { prompt: 'b' }, 'x'],
    ['results, prompt 1', { prompt: 'a' }, 'y'],
  ]);
  expect(new Set(packages?.map(({ report }) => report.versionHash)).size).toBe(2);
  const chosen = await convert(file, { prompt: 2 });
  expect(chosen.reports.map(({ prompt }) => prompt)).toEqual([2]);
  await expect(convert(file, { prompt: 7 })).rejects.toMatchObject({ code: 'package_no_sections' });
  await expect(convert(file, { further: undefined } as never)).rejects.toMatchObject({
    code: 'package_unsupported',
    message: 'The files have 3 runs: choose one of 0, 1, 2.',
  });
});

it('renders values of assertions with the variables of the test, or lists them', async () => {
  const of = (value: unknown, type = 'equals'): object => ({
    vars: { q: '2+2?', answer: '4', n: 5, nested: '{{q}}' },
    assert: [{ type, value }],
  });
  const { items, lost } = await convert({
    'tests.jsonl': lines([
      of('{{answer}}'),
      of('It is {{ answer }} or {{n}}.'),
      of(['{{n}}', 'x'], 'contains-any'),
      of('about {{answer}}', 'llm-rubric'),
      of('{{ answer | upper }}'),
      of('{% if x %}4{% endif %}'),
      of('{{missing}}'),
      of('{{nested}}'),
      of('{{ answer.length }}', 'g-eval'),
      of('{% raw %}{{answer}}{% endraw %} {{ "{%" }}'),
      of('{a} {'),
    ]),
  });
  expect(items.map(({ answer, criteria }) => answer ?? criteria ?? null)).toEqual([
    ...['4', 'It is 4 or 5.', ['5', 'x'], ['about 4'], null, null, null, null, null],
    ...['{{answer}} {%', '{a} {'],
  ]);
  expect(lost).toEqual(['4 x assertion equals with a template', '1 x assertion g-eval with a template']);
});

it('takes no name of an assertion for an answer', async () => {
  const cells = ['is-json', 'latency(100)', 'cost(1)', 'contains-json', 'not-contains', 'is-json (strict)'];
  const { items, lost } = await convert({
    't.csv': `question,__expected\n${cells.map((cell, index) => `q${index},${cell}\n`).join('')}`,
  });
  expect(items.map(({ answer }) => answer)).toEqual([
    ...[undefined, undefined, undefined, undefined, undefined],
    'is-json (strict)',
  ]);
  expect(lost).toEqual(
    ['is-json', 'latency', 'cost', 'contains-json', 'not-contains'].map((type) => `1 x assertion ${type}`),
  );
});

it('reads lists of metadata and of variables, and what a configuration says of all tests', async () => {
  const csv = 'question,__expected,__metadata:tags[],__metadata:k\nq,a,"x, y\\,z",v\n';
  expect((await convert({ 't.csv': csv })).items[0]).toMatchObject({ meta: { tags: ['x', 'y,z'], k: 'v' } });
  const yaml = `description: d
prompts: [a, b]
providers: [x]
defaultTest:
  vars: {style: short}
  assert: [{type: icontains, value: yes}]
tests:
  - vars: {q: [one, two], lang: [en, de]}
  - vars: {q: three}
    assert: [{type: equals, value: no}]
`;
  const { items, lost } = await convert({ 'promptfooconfig.yaml': yaml });
  expect(items.map(({ meta }) => (meta as { vars: object }).vars)).toEqual([
    { style: 'short', q: 'one', lang: 'en' },
    { style: 'short', q: 'one', lang: 'de' },
    { style: 'short', q: 'two', lang: 'en' },
    { style: 'short', q: 'two', lang: 'de' },
    { style: 'short', q: 'three' },
  ]);
  expect(items.map(({ answer }) => answer)).toEqual(['yes', 'yes', 'yes', 'yes', 'yes']);
  expect(lost).toEqual([
    '2 x prompts of the configuration',
    '1 x providers of the configuration',
    '1 x further assertion equals',
  ]);
  const many = JSON.stringify({ vars: { a: Array(200).fill('x'), b: Array(200).fill('y') } });
  await expect(convert({ 't.jsonl': `${many}\n` })).rejects.toMatchObject({
    code: 'package_invalid_line',
    location: { line: 1, path: '/vars' },
  });
});

it('lists costs', async () => {
  const { lost } = await convert({ 'results.json': results([result(0, { cost: 0.01 })]) });
  expect(lost).toContain('1 x costs');
});
