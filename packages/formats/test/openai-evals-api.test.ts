import { expect, it } from 'vitest';
import { convert, lines } from './convert.ts';

const UUID = 'a2486074-d803-4445-b431-ad2262e85d47';
const EVAL = {
  ...{ object: 'eval', id: 'eval_1', name: 'Arithmetic', created_at: 1_739_314_509, metadata: {} },
  data_source_config: { type: 'custom', schema: { type: 'object' } },
  testing_criteria: [
    {
      ...{ type: 'string_check', name: 'Equal', operation: 'eq' },
      ...{ input: '{{ sample.output_text }}', reference: '{{item.answer.value}}' },
    },
    { type: 'score_model', name: 'Style', id: 'Style-1', model: 'gpt-x', input: [], range: [0, 10] },
    { type: 'score_model', name: 'Tone', model: 'gpt-x', input: [], range: [1, 5] },
    {
      type: 'string_check',
      name: 'Like',
      operation: 'like',
      input: '{{sample.output_text}}',
      reference: '1',
    },
  ],
};
const run = (id: string, counts: object, more: object = {}): object => ({
  ...{ object: 'eval.run', id, eval_id: 'eval_1', name: `run ${id}`, status: 'completed', model: 'gpt-x' },
  ...{ created_at: 1_743_092_076, result_counts: counts, metadata: {}, error: null },
  data_source: {
    ...{ type: 'completions', sampling_params: { temperature: 0 } },
    source: { type: 'file_content', content: [{ item: { question: 'not read' } }] },
  },
  ...more,
});
interface OutputItem {
  readonly status: string;
  readonly results: readonly { readonly name: string; readonly passed: boolean; readonly score: number }[];
}
function outputItem(index: number, { runId = 'run_1', more = {} } = {}): OutputItem {
  // About three of four are right; the generator says which.
  const isRight = (index * 7919) % 4 !== 0;
  return {
    ...{ object: 'eval.run.output_item', id: `outputitem_${runId}_${index}`, created_at: 1, run_id: runId },
    ...{ eval_id: 'eval_1', status: isRight ? 'pass' : 'fail', datasource_item_id: index },
    datasource_item: { question: `${index} + 1?`, answer: { value: index + 1 } },
    results: [
      { name: `Equal-${UUID}`, passed: isRight, score: isRight ? 1 : 0 },
      { name: 'Style-1', passed: index % 3 === 0, score: index % 11 },
      { name: 'Tone', passed: true, score: 1 },
    ],
    sample: {
      input: [
        { role: 'developer', content: 'Be short.', tool_call_id: null },
        { role: 'user', content: `${index} + 1?` },
      ],
      output: [{ role: 'assistant', content: String(isRight ? index + 1 : index) }],
      ...{ finish_reason: 'stop', model: 'gpt-x-1', error: null, temperature: 0, seed: 42, top_p: 1 },
      usage: { total_tokens: 5, prompt_tokens: 4, completion_tokens: 1, cached_tokens: 0 },
    },
    ...more,
  } as unknown as OutputItem;
}
const list = (data: readonly object[]): string =>
  JSON.stringify({ object: 'list', data, first_id: 'a', last_id: 'z', has_more: false }, null, 2);

it('reads a dump of 1,319 output items with the pass counts that it states', async () => {
  const all = Array.from({ length: 1319 }, (_, index) => outputItem(index));
  const passed = all.filter(({ status }) => status === 'pass').length;
  const counts = { total: 1319, passed, failed: 1319 - passed, errored: 0 };
  const {
    report,
    items,
    results,
    run: read,
    lost,
  } = await convert({
    // Graders may stand after what they graded.
    'a-items.json': list(all.slice(0, 1000)),
    'b-items.jsonl': lines(all.slice(1000)),
    'c-run.json': JSON.stringify(run('run_1', counts)),
    'd-eval.json': JSON.stringify(EVAL, null, 2),
  });
  expect([report.tool, report.name, items.length, results.length]).toEqual([
    ...['openai-evals-api', 'Arithmetic', 1319, 1319],
  ]);
  expect(items[4]).toEqual({
    ...{ id: 4, inputs: { messages: expect.any(Array) }, answer: '5' },
    checker: { type: 'exact_match', trim: false },
    meta: { question: '4 + 1?', answer: { value: 5 } },
  });
  expect(results[4]).toMatchObject({
    ...{ status: 'ok', output: '4', score: 0, passed: false, scoredBy: 'client', finishReason: 'stop' },
    ...{ traceId: 'outputitem_run_1_4', usage: { completion_tokens: 1 } },
  });
  const countOf = (name: string): number =>
    results.filter(({ scores }) => (scores?.[name] as { passed?: boolean } | undefined)?.passed === true)
      .length;
  expect(countOf('status')).toBe(passed);
  for (const name of [`Equal-${UUID}`, 'Style-1']) {
    const theirs = all.filter(({ results }) => results.some((one) => one.name === name && one.passed)).length;
    expect(countOf(name)).toBe(theirs);
  }
  expect(results[7]?.scores?.['Style-1']).toMatchObject({ score: 0.7, scored_by: 'client' });
  expect(results[7]?.scores).not.toHaveProperty('Tone');
  expect(read).toMatchObject({
    ...{ name: 'run run_1', status: 'completed', startedAt: new Date('2025-03-27T16:14:36.000Z') },
    config: { model: 'gpt-x', eval: 'Arithmetic', main_scorer: 'status' },
  });
  expect(lost).toEqual([
    ...['2638 x grader score_model', '1319 x grader string_check (like)'],
    '1319 x scorer Tone: another scale',
  ]);
});

it('makes a run of each, and lists what is repeated or missing', async () => {
  const second = { runId: 'run_2', more: { status: 'error', sample: { error: { message: 'Overloaded' } } } };
  const { packages = [] } = await convert({
    'all.jsonl': lines([
      EVAL,
      ...[run('run_1', { total: 9 }), run('run_2', { total: 1 }, { status: 'canceled' })],
      ...[outputItem(1), outputItem(1), outputItem(2), outputItem(1, second), { object: 'batch', id: 'b' }],
    ]),
  });
  expect(packages.map(({ report, results }) => [report.prompt, results.length])).toEqual([
    [0, 2],
    [1, 1],
  ]);
  expect(packages[0]?.lost).toEqual(
    expect.arrayContaining([
      '1 x object batch',
      '1 x repeated output items',
      '7 x output items that the files lack',
    ]),
  );
  expect(packages[1]?.run?.status).toBe('cancelled');
  expect(packages[1]?.results).toMatchObject([
    { status: 'failed', output: null, error: { message: 'Overloaded' } },
  ]);
  // Nothing was sampled: the question of the row is what is asked.
  expect(packages[1]?.items).toMatchObject([{ id: 1, inputs: { prompt: '1 + 1?' }, answer: '2' }]);
});

it('reads output items without their eval and run, and says where one is none', async () => {
  const { run: read, results } = await convert({ 'items.jsonl': lines([outputItem(3)]) });
  expect(read).toMatchObject({ name: 'gpt-x-1', config: { model: 'gpt-x-1' } });
  expect(Object.keys(results[0]?.scores ?? {})).toEqual([`Equal-${UUID}`, 'Tone', 'status']);
  const broken = outputItem(3, { more: { datasource_item: null } });
  await expect(convert({ 'items.jsonl': lines([outputItem(2), broken]) })).rejects.toMatchObject({
    code: 'package_invalid_line',
    location: { file: 'items.jsonl', line: 2 },
  });
});
