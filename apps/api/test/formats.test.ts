import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApi, type TestApi } from './start-test-api.ts';

type Body = Record<string, unknown>;

const CORPUS = fileURLToPath(new URL('../../../conformance/formats/', import.meta.url));

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ SVC_MAX_UNCOMPRESSED_BYTES: '20000000' });
});
afterAll(() => api[Symbol.asyncDispose]());

type Files = Readonly<Record<string, string | Uint8Array>>;

/** The files of a folder of the corpus. */
async function filesOf(folder: string, choose: (name: string) => boolean = () => true): Promise<Files> {
  const names = (await readdir(CORPUS + folder)).filter(choose).sort();
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(`${CORPUS}${folder}/${name}`)])),
  );
}

async function request(
  method: string,
  path: string,
  body?: string | FormData,
): Promise<{ status: number; body: Body }> {
  const isText = typeof body === 'string';
  const type = isText && body.includes('}\n{') ? 'application/jsonl' : 'application/json';
  const response = await fetch(`${api.url}${path}`, {
    method,
    ...(body === undefined ? {} : { body }),
    ...(isText ? { headers: { 'Content-Type': type } } : {}),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
}

function send(
  path: string,
  files: Files,
  fields: Readonly<Record<string, string>> = {},
): ReturnType<typeof request> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  for (const [name, content] of Object.entries(files)) {
    form.append('file', new Blob([content as Uint8Array<ArrayBuffer>]), name);
  }
  return request('POST', path, form);
}

const upload = (files: Files, fields = {}): ReturnType<typeof request> =>
  send('/datasets/upload', files, fields);
const get = async (path: string): Promise<Body> => (await request('GET', path)).body;
const list = async (path: string): Promise<Body[]> => (await get(path))['data'] as Body[];
const totals = async (): Promise<readonly unknown[]> =>
  await Promise.all(
    ['datasets', 'runs'].map(
      async (kind) => ((await get(`/${kind}?limit=1`))['meta'] as Body)['total_items'],
    ),
  );

it('reads a log of lm-evaluation-harness, whose second upload finds its dataset', async () => {
  const files = await filesOf('lm-eval');
  const preview = await send('/datasets/upload/preview', files);
  expect(preview).toMatchObject({
    status: 200,
    body: { kind: 'lm-eval', info: { lost: [{ what: 'log-likelihoods', count: 9 }] } },
  });

  const first = await upload(files);
  expect(first).toMatchObject({
    status: 201,
    body: { item_count: 8, schema: { tool: 'lm-eval', lost: [{ what: 'log-likelihoods', count: 9 }] } },
  });
  const [run] = await list(`/runs?dataset_id=${first.body['id']}`);
  expect(run).toMatchObject({ imported: true, status: 'completed', counts: { total: 8, ok: 8 } });
  const results = JSON.parse(
    String(Object.entries(files).find(([name]) => name.startsWith('results'))?.[1]),
  ) as { results: Record<string, Record<string, number>> };
  const slices = (await get(`/runs/${run?.['id']}`))['scorers'] as Record<string, Body>;
  const { sums, pick } = results.results;
  expect(slices['exact_match,strict-match']?.['mean']).toBe(sums?.['exact_match,strict-match']);
  expect(slices['exact_match,flexible-extract']?.['mean']).toBe(sums?.['exact_match,flexible-extract']);
  expect(slices['acc']?.['mean']).toBeCloseTo(pick?.['acc,none'] ?? -1, 12);
  const bySection = async (section: string): Promise<Body[]> =>
    await list(`/runs/${run?.['id']}/results?section=${section}`);
  expect((await bySection('sums')).map(({ output }) => output)).toEqual([
    ' The answer is 4',
    ' It is 3 + 4, so 7',
    ' The answer is 2',
    ' Größe egal: 42 “ja” 😀',
    ' two',
  ]);

  const before = await totals();
  const second = await upload(files);
  expect(second).toMatchObject({ status: 200, body: { id: first.body['id'], dataset_id: first.body['id'] } });
  expect(await totals()).toEqual([before[0], Number(before[1]) + 1]);
  // Some of the items, in another section, are found too.
  const some = await upload({
    'samples_other_2026-01-01T00-00-00.1.jsonl':
      files[Object.keys(files).find((name) => name.includes('sums')) ?? ''] ?? '',
  });
  expect(some).toMatchObject({ status: 200, body: { dataset_id: first.body['id'] } });
  const found = await list(`/runs/${some.body['run_id']}/results`);
  expect(found.map(({ section, order_index }) => [section, order_index])).toEqual(
    [0, 1, 2, 3, 4].map((index) => ['sums', index]),
  );
});

it('compares a run of lm-evaluation-harness with one of its own', async () => {
  const dataset = await upload(await filesOf('lm-eval'));
  const datasetId = dataset.body['dataset_id'];
  const created = await request(
    'POST',
    '/runs',
    JSON.stringify({
      dataset_id: datasetId,
      config: {
        ...{ provider: { type: 'external', label: 'mine' }, select: { sections: ['sums'] } },
        ...{ checker: { type: 'includes' }, checker_mode: 'override' },
      },
    }),
  );
  expect(created.status).toBe(202);
  const lines = ['4', '7', 'no idea', '42', '2'].map((output, order_index) =>
    JSON.stringify({ section: 'sums', order_index, output }),
  );
  const id = created.body['id'];
  expect(await request('POST', `/runs/${id}/results`, `${lines.join('\n')}\n`)).toMatchObject({
    body: { accepted: 5 },
  });
  await request('POST', `/runs/${id}/finish`, '{}');
  const compared = await get(`/runs/${dataset.body['run_id']}/compare/${id}`);
  expect(compared).toMatchObject({
    paired: 5,
    wins: 3,
    losses: 0,
    ties: 2,
    ci95: [expect.any(Number), expect.any(Number)],
  });
});

it('reads samples of OpenAI’s evals', async () => {
  const { status, body } = await upload({
    'evals.jsonl': [
      {
        input: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: '1 + 1?' },
        ],
        ideal: '2',
      },
      { input: '2 + 2?', ideal: ['4', 'four'] },
    ]
      .map((line) => JSON.stringify(line))
      .join('\n'),
  });
  expect({ status, tool: (body['schema'] as Body)['tool'] }).toEqual({ status: 201, tool: 'openai-evals' });
  const items = await list(`/datasets/${body['id']}/items`);
  expect(items.map(({ item }) => item)).toEqual([
    { inputs: { system_prompt: 'Be brief.', prompt: '1 + 1?' }, answer: '2' },
    { inputs: { prompt: '2 + 2?' }, answer: ['4', 'four'] },
  ]);
});

it('reads dumps of OpenAI’s Evals API, whose equality checks score again', async () => {
  const output = (index: number, text: string): Body => ({
    ...{ object: 'eval.run.output_item', id: `o${index}`, run_id: 'r', eval_id: 'e' },
    ...{ datasource_item_id: index, datasource_item: { question: `${index}?`, label: String(index) } },
    ...{ status: text === String(index) ? 'pass' : 'fail', results: [] },
    sample: {
      input: [{ role: 'user', content: `${index}?` }],
      output: [{ role: 'assistant', content: text }],
    },
  });
  const check = { input: '{{sample.output_text}}', operation: 'eq', reference: '{{item.label}}' };
  const files = {
    'items.json': JSON.stringify({
      object: 'list',
      data: ['0', '1', 'x'].map((text, at) => output(at, text)),
    }),
    'eval.json': JSON.stringify({
      ...{ object: 'eval', id: 'e', name: 'Numbers' },
      testing_criteria: [{ type: 'string_check', name: 'Equal', ...check }],
    }),
  };
  const { status, body } = await upload(files);
  expect({ status, name: body['name'] }).toEqual({ status: 201, name: 'Numbers' });
  const [run] = await list(`/runs?dataset_id=${body['id']}`);
  expect(run).toMatchObject({ scores: { passed: 2, wrong: 1 }, config: { main_scorer: 'status' } });
  const rescored = await request('POST', `/runs/${run?.['id']}/rescore`, '{}');
  expect(rescored).toMatchObject({ status: 202, body: { source_run_id: run?.['id'] } });
  const { name, bytes } = await download(`/runs/${run?.['id']}/export?format=every-eval-ever`);
  expect(name).toBe('Numbers.every-eval-ever.zip');
  expect(Buffer.from(bytes).toString('latin1')).toMatch(
    /data\/Numbers\/unknown\/unknown\/[0-9a-f-]{36}_samples\.jsonl/,
  );
  expect(await request('GET', `/datasets/${body['id']}/export?format=every-eval-ever`)).toMatchObject({
    ...{ status: 400, body: { code: 'invalid_request' } },
  });
});

/** Downloads a file. */
async function download(path: string): Promise<{ readonly name: string; readonly bytes: Uint8Array }> {
  const response = await fetch(`${api.url}${path}`);
  expect(response.status, path).toBe(200);
  const name = /filename="?([^";]+)"?/.exec(response.headers.get('content-disposition') ?? '')?.[1] ?? '';
  return { name, bytes: new Uint8Array(await response.arrayBuffer()) };
}

it('writes a run for other tools, and finds it again in what they get', async () => {
  const dataset = await upload(await filesOf('lm-eval'));
  const { dataset_id: datasetId, run_id: runId } = dataset.body;
  const shown = async (id: unknown): Promise<unknown[]> =>
    (await list(`/runs/${id}/results?limit=100`)).map((result) => {
      const { section, order_index, output, status } = result;
      return [section, order_index, output, status === 'failed'];
    });
  const expected = await shown(runId);
  for (const format of ['inspect', 'inspect-json', 'promptfoo', 'openai-batch']) {
    const { name, bytes } = await download(`/runs/${runId}/export?format=${format}`);
    const { status, body } = await upload({ [name]: bytes });
    expect({ format, status, id: body['dataset_id'] }).toEqual({ format, status: 200, id: datasetId });
    expect(await shown(body['run_id']), format).toEqual(expected);
    if (format === 'openai-batch') continue;
    const of = async (id: unknown): Promise<unknown> => {
      const scorers = (await get(`/runs/${id}`))['scorers'] as Record<string, Body>;
      return scorers['acc']?.['mean'];
    };
    expect(await of(body['run_id']), format).toBe(await of(runId));
  }
  expect((await request('GET', `/runs/${runId}/export?format=lm-eval`)).body['code']).toBe('invalid_request');
  const before = await totals();
  const foreign = { custom_id: `${'ab'.repeat(32)}-1`, response: { body: { choices: [] } }, error: null };
  expect(await upload({ 'output.jsonl': JSON.stringify(foreign) })).toMatchObject({
    status: 400,
    body: { code: 'invalid_request' },
  });
  expect(await totals()).toEqual(before);
});

it('writes a dataset for other tools, with its images', async () => {
  const image = Buffer.from('iVBORw0KGgo=', 'base64').toString('base64');
  const items = [
    {
      id: 'a',
      inputs: { prompt: 'What is {{this}}?' },
      assets: [{ mime_type: 'image/png', encoding: 'base64', data: image }],
      answer: 'a PNG',
    },
    { inputs: { system_prompt: 'Be brief.', prompt: '1 + 1?', choices: ['1', '2'] }, answer: 'B' },
  ];
  const { body } = await upload({ 'items.jsonl': items.map((item) => JSON.stringify(item)).join('\n') });
  const id = body['id'];
  const linesOf = async (format: string): Promise<Body[]> =>
    new TextDecoder()
      .decode((await download(`/datasets/${id}/export?format=${format}`)).bytes)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  const inspect = await linesOf('inspect');
  expect(inspect[0]).toMatchObject({
    id: 'a',
    input: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is {{this}}?' },
          { type: 'image', image: `data:image/png;base64,${image}` },
        ],
      },
    ],
    target: 'a PNG',
  });
  expect(inspect[1]).toMatchObject({ choices: ['1', '2'], target: 'B' });
  const [test] = await linesOf('promptfoo');
  expect(test).toMatchObject({
    vars: { prompt: 'What is {{ "{{" }}this}}?' },
    assert: [{ type: 'equals', value: 'a PNG' }],
  });
  expect((await request('GET', `/datasets/${id}/export?format=openai-batch`)).body).toMatchObject({
    code: 'invalid_request',
    detail: 'Cannot write an OpenAI batch: model is missing.',
    errors: [{ path: 'model', message: 'Cannot write an OpenAI batch: model is missing.' }],
  });
  const [batch] = await linesOf('openai-batch&model=gpt-x');
  expect(batch).toMatchObject({
    custom_id: expect.stringMatching(/^[0-9a-f]{64}-1$/),
    body: { model: 'gpt-x', messages: [{ content: [{ type: 'text' }, { type: 'image_url' }] }] },
  });
  const [, asked] = await linesOf('openai-batch&model=gpt-x');
  expect(asked?.['body']).toMatchObject({
    messages: [{ role: 'system' }, { role: 'user', content: '1 + 1?\n\nA. 1\nB. 2' }],
  });
  expect((await request('GET', `/datasets/${id}/export?format=openai-evals`)).status).toBe(400);
  expect((await download(`/datasets/${id}/export?format=lm-eval`)).name).toBe('items.lm-eval.zip');
});

it('makes a run of each prompt and provider of promptfoo, of one dataset', async () => {
  const files = await filesOf('promptfoo');
  const before = await totals();
  const { status, body } = await upload(files);
  const runs = body['runs'] as Body[];
  expect({ status, count: runs.length }).toEqual({ status: 201, count: 2 });
  expect(new Set(runs.map((run) => run['dataset_id']))).toEqual(new Set([body['id']]));
  expect(await totals()).toEqual([Number(before[0]) + 1, Number(before[1]) + 2]);
  const shown = await Promise.all(
    runs.map(async ({ run_id: id }) => {
      const { config, scores } = (await get(`/runs/${id}`)) as { config: Body; scores: Body };
      return [config['model'], scores['mean'], scores['passed'], scores['wrong'], scores['pass_rate']];
    }),
  );
  expect(shown).toEqual([
    ['openai:chat:model-a', 0.6375, 2, 2, 0.5],
    ['openai:chat:model-b', expect.closeTo(2.5 / 3, 12), 2, 1, 0.5],
  ]);
  const compared = await get(`/runs/${runs[0]?.['run_id']}/compare/${runs[1]?.['run_id']}`);
  expect(compared).toMatchObject({ paired: 3, wins: 2, losses: 0, p_value: 1 });
  // The same file again: two further runs.
  expect(await upload(files)).toMatchObject({ status: 200, body: { id: body['id'] } });
  expect(await totals()).toEqual([Number(before[0]) + 1, Number(before[1]) + 4]);
  const preview = await send('/datasets/upload/preview', files);
  expect(preview).toMatchObject({ status: 200, body: { kind: 'promptfoo' } });
});

it('counts scores without a verdict in the mean alone, by whatever way they come', async () => {
  const samples = Array.from({ length: 10 }, (_, id) => ({
    ...{ id, epoch: 1, input: `q${id}`, target: '' },
    output: { choices: [{ message: { role: 'assistant', content: 'x' } }] },
    scores: { grade: { value: 0.6 + id * 0.04 } },
  }));
  const log = { version: 2, status: 'success', eval: { task: 't', model: 'm' }, samples };
  const { body: dataset } = await upload({ 'log.json': JSON.stringify(log) });
  const [imported] = await list(`/runs?dataset_id=${dataset['id']}`);
  const created = await request(
    'POST',
    '/runs',
    JSON.stringify({ dataset_id: dataset['id'], config: { provider: { type: 'external', label: 'x' } } }),
  );
  const lines = samples.map(({ scores }, order_index) =>
    JSON.stringify({
      ...{ section: 't', order_index, output: 'x' },
      scores: { main: { score: scores.grade.value } },
    }),
  );
  await request('POST', `/runs/${created.body['id']}/results`, `${lines.join('\n')}\n`);
  await request('POST', `/runs/${created.body['id']}/finish`, '{}');
  for (const id of [imported?.['id'], created.body['id']]) {
    const expected = {
      ...{ mean: expect.closeTo(0.78, 12), passed: 0, wrong: 0, pass_rate: null, pass_rate_ci95: null },
      ...{ pass_rate_scored: null, pass_at_k: {}, pass_hat_k: {} },
    };
    expect((await get(`/runs/${id}`))['scores'], String(id)).toMatchObject(expected);
    expect(await list(`/runs/${id}/results?passed=false`)).toEqual([]);
  }
  const listed = await list(`/runs?dataset_id=${dataset['id']}`);
  expect(listed.map(({ scores }) => (scores as Body)['pass_rate'])).toEqual([null, null]);
  const compared = await get(`/runs/${imported?.['id']}/compare/${created.body['id']}`);
  expect(compared).toMatchObject({ paired: 10, mean_difference: 0, ties: 10, p_value: null });
});

it('finds the results of equal items in a batch', async () => {
  const item = JSON.stringify({ inputs: { prompt: 'same' } });
  const { body: dataset } = await upload({ 'items.jsonl': [item, item].join('\n') });
  const { bytes } = await download(`/datasets/${dataset['id']}/export?format=openai-batch&model=m`);
  const answers = new TextDecoder()
    .decode(bytes)
    .trim()
    .split('\n')
    .map((line, index) => {
      const { custom_id } = JSON.parse(line);
      const choices = [{ message: { role: 'assistant', content: `answer ${index}` } }];
      return JSON.stringify({ custom_id, response: { status_code: 200, body: { choices } }, error: null });
    });
  const { status, body } = await upload({ 'output.jsonl': answers.join('\n') });
  expect({ status, id: body['dataset_id'] }).toEqual({ status: 200, id: dataset['id'] });
  const found = await list(`/runs/${body['run_id']}/results`);
  expect(found.map(({ order_index, repetition, output }) => [order_index, repetition, output])).toEqual([
    [0, 1, 'answer 0'],
    [1, 1, 'answer 1'],
  ]);
});

it('stores nothing of a file that it cannot read', async () => {
  const before = await totals();
  const files = await filesOf('lm-eval', (name) => name.includes('pick'));
  const [[name, content] = ['', '']] = Object.entries(files);
  const { status, body } = await upload({ [name]: `${content}{"doc_id":` });
  expect({ status, body }).toMatchObject({
    status: 400,
    body: { code: 'package_invalid_line', errors: [{ file: name, line: 4 }] },
  });
  expect(await totals()).toEqual(before);
  expect(await api.stagedFiles()).toEqual([]);
});
