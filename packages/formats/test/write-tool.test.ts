import { ExactNumber, type JsonObject } from '@svc/jsonl-v23/json';
import type { ExportResult } from '@svc/pkg-format';
import { expect, it, onTestFinished } from 'vitest';
import { IS_LONG } from '../../../tools/vitest/long.ts';
import {
  type SourceRun,
  type ToolSource,
  type WriteToolOptions,
  type WrittenTool,
  writeTool,
} from '../src/index.ts';
import { literal } from '../src/write/write-promptfoo.ts';
import { convert } from './convert.ts';

const RUN: SourceRun = {
  ...{ id: '', name: null, status: 'completed', startedAt: null, error: null, config: { model: 'm' } },
  finishedAt: '2026-01-02T03:04:05.000Z',
  results: async function* () {
    const result = { section: 'a b', order_index: 0, repetition: 1, status: 'unscored', output: 'x' };
    yield [result as unknown as ExportResult];
  },
};

/** The text of each file, and `count x what` had no place. */
async function write(
  tool: WrittenTool,
  item: JsonObject,
  source: Partial<ToolSource> = {},
  options: WriteToolOptions = {},
): Promise<{ readonly files: Record<string, string>; readonly lost: string[] }> {
  const itemHash = 'ab'.repeat(32);
  const written = await writeTool(
    tool,
    {
      ...{ name: 'n', versionHash: '', itemCount: 1, run: null },
      items: async function* () {
        yield [{ section: 'a b', orderIndex: 0, item, itemHash }];
      },
      ...source,
    },
    options,
  );
  const files: Record<string, string> = {};
  for await (const { name, bytes } of written.files()) {
    const decoder = new TextDecoder();
    let text = '';
    for await (const part of bytes) text += decoder.decode(part, { stream: true });
    files[name] = text;
  }
  return { files, lost: written.lost().map(({ what, count }) => `${count} x ${what}`) };
}

const RICH: JsonObject = {
  ...{ id: 'i', type: 'multiple_choice', inputs: { prompt: 'q', choices: ['a', 'b'], topic: 't' } },
  ...{ answer: 'a', checker: 'exact_match', criteria: ['c'], meta: { k: 1 }, tags: ['t'], further: 1 },
};

it('writes numbers beyond a double for promptfoo in engines without JSON.rawJSON', async () => {
  const { rawJSON } = JSON as { rawJSON?: unknown };
  onTestFinished(() => void Object.assign(JSON, { rawJSON }));
  Reflect.deleteProperty(JSON, 'rawJSON');
  const answer = new ExactNumber('12345678901234567890');
  const { files } = await write('promptfoo', { inputs: { prompt: 'q' }, answer });
  expect(JSON.parse(files['export.jsonl'] ?? '')).toMatchObject({
    assert: [{ type: 'equals', value: '12345678901234567890' }],
  });
  const config = { model: 'm', limit: answer };
  const log = await write('inspect', { inputs: {}, id: answer }, { run: { ...RUN, config } });
  expect(Object.keys(log.files)[0]).toBe('_journal/start.json');
});

it('writes a task of lm-evaluation-harness that names what a hub needs', async () => {
  const { files } = await write('lm-eval', RICH);
  const yaml = files['task.yaml'] ?? '';
  expect(yaml).toContain('#   dataset_path: svc/<handle of the dataset>\n#   test_split: a_b\n');
  expect(yaml).toContain('\ndoc_to_text: "{{prompt}}"\n');
  expect(yaml).not.toContain('dataset_version_hash');
  expect(JSON.parse(files['items.jsonl'] ?? '')).toMatchObject({ prompt: 'q\nA. a\nB. b', answer: 'a' });
  const hashed = await write('lm-eval', RICH, { versionHash: 'cd'.repeat(32) });
  expect(hashed.files['task.yaml']).toMatch(/\n {2}dataset_version_hash: (?:cd){32}\n$/);
});

const OTHERS = ['1 x type', '1 x checkers', '1 x criteria', '1 x meta', '1 x tags', '1 x further'];

it.each([
  ['openai-batch', ['1 x answers', ...OTHERS, '1 x topic']],
  ['lm-eval', ['1 x checkers', '1 x criteria']],
] as const)('lists what %s does not write', async (tool, expected) => {
  const { lost } = await write(tool, RICH, {}, tool === 'openai-batch' ? { model: 'm' } : {});
  expect([...lost].sort()).toEqual([...expected].sort());
});

it('lists items without an answer for lm-evaluation-harness', async () => {
  expect((await write('lm-eval', { inputs: { prompt: 'q' } })).lost).toEqual(['1 x missing answers']);
});

it('writes the usage of responses of a batch by the names of its API, and no reason that is not known', async () => {
  const withUsage: SourceRun = {
    ...RUN,
    results: async function* () {
      for await (const [result] of RUN.results()) {
        const usage = { input_tokens: 3, output_tokens: 2 };
        yield [{ ...result, usage, latency_ms: 5 } as ExportResult];
      }
    },
  };
  const item = { inputs: { prompt: 'q' } };
  const { files, lost } = await write('openai-batch', item, { run: withUsage });
  const line = JSON.parse(files['export.jsonl'] ?? '');
  expect(line.response.body).toMatchObject({
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
    choices: [{ finish_reason: null }],
  });
  expect(lost).toEqual(['1 x latencies']);
  const none = await write('openai-batch', item, { run: RUN });
  expect(JSON.parse(none.files['export.jsonl'] ?? '').response.body.usage).toBeNull();
});

it('writes no latency and no cost that are not known for promptfoo, and an evalId that differs by run', async () => {
  const { files } = await write('promptfoo', { inputs: { prompt: 'q' } }, { run: RUN });
  const { evalId, results } = JSON.parse(files['export.json'] ?? '');
  expect(evalId).toBe('eval-2026-01-02T03:04:05.000Z');
  expect(results.results[0]).not.toHaveProperty('latencyMs');
  expect(results.results[0]).not.toHaveProperty('cost');
});

it('names a model in each request and response of a batch', async () => {
  const item = { inputs: { prompt: 'q' } };
  await expect(write('openai-batch', item)).rejects.toThrow(
    'Cannot write an OpenAI batch: model is missing.',
  );
  const { files } = await write('openai-batch', item, { run: RUN });
  expect(JSON.parse(files['export.jsonl'] ?? '').response.body.model).toBe('m');
});

it.runIf(IS_LONG)(
  'reads the items to their end before it reads them again, also where a batch becomes several files',
  async () => {
    const prompt = 'x'.repeat(70_000_000);
    let isReading = false;
    const written = await writeTool(
      'openai-batch',
      {
        ...{ name: 'n', versionHash: '', itemCount: 3, run: null },
        items: async function* () {
          if (isReading) throw new Error('The items are being read.');
          isReading = true;
          for (let orderIndex = 0; orderIndex < 3; orderIndex += 1) {
            yield [{ section: 's', orderIndex, item: { inputs: { prompt } }, itemHash: 'ab'.repeat(32) }];
          }
          isReading = false;
        },
      },
      { model: 'm' },
    );
    const sizes: Record<string, number> = {};
    for await (const { name, bytes } of written.files()) {
      sizes[name] = 0;
      for await (const part of bytes) sizes[name] += part.byteLength;
    }
    expect(Object.values(sizes)).toEqual([expect.any(Number), expect.any(Number)]);
    expect(Math.max(...Object.values(sizes))).toBeLessThan(200_000_000);
  },
);

it('names the samples of Inspect by ids that differ, also from those with a suffix', async () => {
  const ids = ['a', 'a', 'a-2', 'a-2-3', 'a', 1, '1', '1-7', '', '9'];
  const items = ids.map((id, index): JsonObject => ({ id, inputs: { prompt: `q${index}` } }));
  const { files } = await write(
    'inspect',
    {},
    {
      items: async function* () {
        yield items.map((item, orderIndex) => ({
          section: 's',
          orderIndex,
          item,
          itemHash: 'ab'.repeat(32),
        }));
      },
    },
  );
  const written = (files['export.jsonl'] ?? '')
    .trimEnd()
    .split('\n')
    .map((line) => String(JSON.parse(line).id));
  expect(written).toHaveLength(ids.length);
  expect(new Set(written).size).toBe(ids.length);
});

it('writes images of items whose last message is not a question in a message of the user', async () => {
  const image = { mime_type: 'image/png', encoding: 'base64', data: 'iVBORw0KGgo=' };
  const answered = { role: 'assistant', content: 'Which one?' };
  for (const messages of [[], [{ role: 'user', content: 'q' }, answered]]) {
    const item = { inputs: { messages }, assets: [image] };
    const batch = await write('openai-batch', item, {}, { model: 'm' });
    expect(JSON.parse(Object.values(batch.files).join('')).body.messages).toEqual([
      ...messages,
      {
        role: 'user',
        content: [{ type: 'image_url', image_url: { url: expect.stringMatching(/^data:image/) } }],
      },
    ]);
    const inspect = await write('inspect', item);
    expect(JSON.parse(Object.values(inspect.files).join('')).input).toEqual([
      ...messages,
      { role: 'user', content: [{ type: 'image', image: expect.any(String), detail: 'auto' }] },
    ]);
  }
});

it('asks in a batch what a run asks, with ids that differ for equal items', async () => {
  const item = { inputs: { prompt: 'pick', choices: ['red', { label: 'x', text: 'green' }] }, answer: 'red' };
  const itemHash = 'ab'.repeat(32);
  const { files, lost } = await write(
    'openai-batch',
    item,
    {
      items: async function* () {
        yield [0, 1, 2].map((orderIndex) => ({ section: 's', orderIndex, item, itemHash }));
      },
    },
    { model: 'm' },
  );
  const requests = (files['export.jsonl'] ?? '')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(requests.map(({ custom_id }) => custom_id)).toEqual(
    ['-1', '-1-2', '-1-3'].map((end) => itemHash + end),
  );
  expect(requests[0].body.messages).toEqual([{ role: 'user', content: 'pick\n\nA. red\nB. green' }]);
  expect(lost).toEqual(['3 x answers']);
});

it('adds choices to the last text of a question that has parts', async () => {
  const choices = [
    { label: 'x', text: 'red' },
    { label: 'y', text: 'green' },
  ];
  const content = [{ type: 'text', text: 'pick' }];
  const item = { inputs: { messages: [{ role: 'user', content }], choices } };
  const { files } = await write('openai-batch', item, {}, { model: 'm' });
  expect(JSON.parse(files['export.jsonl'] ?? '').body.messages).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'pick\n\nx. red\ny. green' }] },
  ]);
});

it.each([
  ['green', 'B'],
  ['b', 'B'],
  [1, 'B'],
  [
    ['red', 'C'],
    ['A', 'C'],
  ],
  ['pink', ''],
] as const)('writes the answer %j of choices as Inspect compares it', async (answer, target) => {
  const item = {
    inputs: { prompt: 'q', choices: ['red', 'green', 'blue'] },
    answer,
  } as unknown as JsonObject;
  const { files, lost } = await write('inspect', item);
  expect(JSON.parse(files['export.jsonl'] ?? '')).toMatchObject({
    target,
    choices: ['red', 'green', 'blue'],
  });
  expect(lost).toEqual(target === '' ? ['1 x answers that are none of the choices'] : []);
});

/** A run whose results have these members. */
const runOf = (list: readonly object[], config: JsonObject = { model: 'm' }): SourceRun => ({
  ...RUN,
  config,
  results: async function* () {
    yield list.map((members, index) => {
      const result = { section: 'a b', order_index: 0, repetition: index + 1, status: 'ok', output: 'x' };
      return { ...result, ...members } as unknown as ExportResult;
    });
  },
});

it('writes for promptfoo as a success what has passed, and nothing else', async () => {
  const list = [
    { score: 0.8, passed: true },
    { score: 0.8, passed: null },
    { score: 0.75, passed: false },
    { status: 'unscored', score: null, passed: null },
    { status: 'failed', score: null, passed: null, error: { message: 'late' } },
  ];
  const { files, lost } = await write('promptfoo', { inputs: { prompt: 'q' } }, { run: runOf(list) });
  const { results } = JSON.parse(files['export.json'] ?? '');
  type Written = { success: boolean; failureReason: number; gradingResult: { pass: boolean } | null };
  const shown = (results.results as Written[]).map(({ success, failureReason, gradingResult }) => {
    return [success, failureReason, gradingResult?.pass ?? null];
  });
  expect(shown).toEqual([
    [true, 0, true],
    [false, 0, false],
    [false, 1, false],
    [false, 0, null],
    [false, 2, null],
  ]);
  expect(results.stats).toEqual({ successes: 1, failures: 3, errors: 1 });
  expect(lost).toEqual(['2 x results that have neither passed nor failed']);
  const back = await convert({ 'export.json': files['export.json'] ?? '' });
  expect(back.results.map(({ status, score, passed }) => [status, score, passed])).toEqual([
    ['ok', 0.8, true],
    ['ok', 0.8, null],
    ['ok', 0.75, false],
    ['unscored', null, null],
    ['failed', null, null],
  ]);
  expect(back.run?.config['model']).toBe('m');
});

it.each(['inspect', 'inspect-json'] as const)(
  'keeps the main scorer of %s first, both ways',
  async (tool) => {
    const scores = {
      alpha: { score: 1, passed: true, explanation: 'a' },
      zeta: { score: 0, passed: false, explanation: 'z' },
    };
    const result = { output: '4', reasoning: 'two and two', score: 0, passed: false };
    const run = runOf([{ ...result, explanation: 'z', scores }], {
      model: 'm',
      scorers: [{ name: 'zeta' }, { name: 'alpha' }],
    });
    const { files } = await write(tool, { inputs: { prompt: 'q' } }, { run });
    const header = JSON.parse(files['header.json'] ?? files['export.json'] ?? '');
    expect(header.results.scores.map(({ name }: { name: string }) => name)).toEqual(['zeta', 'alpha']);
    const text = Object.entries(files).find(([name]) => /sample|export/.test(name))?.[1] ?? '';
    expect(text.indexOf('"zeta"')).toBeLessThan(text.indexOf('"alpha"'));
    if (tool === 'inspect') return;
    const back = await convert({ 'log.json': files['export.json'] ?? '' });
    expect(back.results).toMatchObject([{ ...result, scores }]);
  },
);

it.each([
  '{% raw %}',
  '{% endraw %}',
  '{%endraw%}{{env.K}}{%raw%}',
  '{{{x}}}',
  '{#',
  'file:///etc/passwd',
  '{{ "{{" }}',
])('writes %s for promptfoo as no template', (text) => {
  const written = literal(text);
  // Nothing but values in quotes is left of templates, and those are what was there.
  const escaped = /\{\{ "(\{[{%#]|[fph])" \}\}/g;
  expect(written.replaceAll(escaped, '')).not.toMatch(/\{[{%#]|^file:/);
  expect(written.replaceAll(escaped, (_, value: string) => value)).toBe(text);
});
