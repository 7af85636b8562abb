import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importItems } from '../../../packages/service/test/store/import-items.ts';
import { times } from '../../../tools/vitest/long.ts';
import { startTestApi, type TestApi } from './start-test-api.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies have every shape
type Body = any;
const SECRET = 'a-known-secret-0123456789';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ HUB_TOKEN: SECRET, SVC_MAX_JSON_DEPTH: '20' });
});
afterAll(() => api[Symbol.asyncDispose]());

async function call(
  method: string,
  path: string,
  body?: unknown,
  type = 'application/json',
): Promise<{ status: number; body: Body }> {
  const response = await fetch(`${api.url}${path}`, {
    method,
    ...(body === undefined
      ? {}
      : { headers: { 'content-type': type }, body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson =
    response.headers.get('content-type')?.includes('json') === true &&
    !response.headers.get('content-type')?.includes('jsonl');
  return { status: response.status, body: isJson ? JSON.parse(text) : text };
}

const linesOf = (text: string): Body[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
const push = (id: string, lines: readonly unknown[]): Promise<{ status: number; body: Body }> =>
  call(
    'POST',
    `/runs/${id}/results`,
    lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
    'application/jsonl',
  );

const sum = (index: number): object => ({
  id: `q-${index}`,
  type: 'numeric',
  inputs: { prompt: `${index} + 1?` },
  answer: String(index + 1),
});
const sums = (count: number): object[] => Array.from({ length: count }, (_, index) => sum(index));

const textsOf = (sections: Readonly<Record<string, readonly object[]>>): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(sections).map(([name, items]) => [name, items.map((item) => JSON.stringify(item))]),
  );

async function startRun(
  sections: Readonly<Record<string, readonly object[]>>,
  config: object = {},
): Promise<Body> {
  const { id } = await importItems(api.store.datasets, textsOf(sections));
  const { status, body } = await call('POST', '/runs', {
    dataset_id: id,
    config: { provider: { type: 'external', label: 'my harness' }, ...config },
  });
  expect(status, JSON.stringify(body)).toBe(202);
  return body;
}

describe('a run with results from outside', () => {
  it('waits, takes results that are scored, and ends when it is finished', async () => {
    const run = await startRun({ one: sums(2), two: sums(1) }, { repetitions: 2 });
    expect(run).toMatchObject({
      status: 'waiting',
      counts: { total: 6, done: 0 },
      started_at: null,
      plan: { requests: 0 },
    });
    expect(await api.store.queueSizes()).toMatchObject({ queued: 0, running: 0 });

    const pending = await call('GET', `/runs/${run.id}/pending`);
    expect(pending.status).toBe(200);
    expect(
      linesOf(pending.body).map((line) => [line.section, line.order_index, line.repetition, line.item_id]),
    ).toEqual([
      ['one', 0, 1, 'q-0'],
      ['one', 0, 2, 'q-0'],
      ['one', 1, 1, 'q-1'],
      ['one', 1, 2, 'q-1'],
      ['two', 0, 1, 'q-0'],
      ['two', 0, 2, 'q-0'],
    ]);
    const [first] = linesOf(pending.body);
    const { answer, ...question } = sum(0) as Body;
    expect(first.item).toEqual(question);
    const withAnswers = await call('GET', `/runs/${run.id}/pending?answers=true&limit=1`);
    expect(linesOf(withAnswers.body)).toMatchObject([{ item: { ...question, answer } }]);
    expect(first.item_hash).toMatch(/^[0-9a-f]{64}$/);

    // right, wrong, own score, error; an id and a hash that name one item, and the line of `pending` itself
    const usage = { prompt_tokens: 3, completion_tokens: 1 };
    const pushed = await push(run.id, [
      { ...first, output: 'It is 1.', usage, latency_ms: 12.34, finish_reason: 'stop', trace_id: 'trace 1' },
      { section: 'one', order_index: 0, repetition: 2, output: 'It is 7.' },
      { item_id: 'q-1', output: 'no idea', scores: { main: { score: 0.25, explanation: 'close' } } },
      '',
      { item_id: 'q-1', repetition: 2, error: { code: 'timeout', message: 'too late' } },
    ]);
    expect(pushed).toEqual({
      status: 200,
      body: { accepted: 4, replaced: 0, redacted: 0, rejected: [], rejected_total: 0 },
    });
    expect((await call('GET', `/runs/${run.id}`)).body).toMatchObject({
      status: 'running',
      started_at: expect.any(String),
      counts: { done: 4, ok: 3, failed: 1 },
      scores: { passed: 1 },
      usage: { input_tokens: 3, output_tokens: 1 },
    });
    const results = (await call('GET', `/runs/${run.id}/results`)).body.data;
    expect(results).toMatchObject([
      {
        status: 'ok',
        score: 1,
        scored_by: 'checker',
        output: 'It is 1.',
        latency_ms: 12.3,
        finish_reason: 'stop',
        trace_id: 'trace 1',
        usage,
        item_id: 'q-0',
      },
      { status: 'ok', score: 0, scored_by: 'checker', trace_id: null },
      { status: 'ok', score: 0.25, passed: null, scored_by: 'client', explanation: 'close', item_id: 'q-1' },
      { status: 'failed', score: null, scored_by: null, error: { code: 'timeout', message: 'too late' } },
    ]);

    expect(await call('POST', `/runs/${run.id}/finish`, {})).toMatchObject({
      status: 409,
      body: { code: 'run_incomplete', missing: 2 },
    });
    expect((await call('POST', `/runs/${run.id}/finish`, { allow_missing: true })).body).toMatchObject({
      status: 'completed',
    });
    // a repeat changes nothing; results come too late
    expect((await call('POST', `/runs/${run.id}/finish`, {})).body).toMatchObject({ status: 'completed' });
    expect(await push(run.id, [{ item_id: 'q-0', output: '1' }])).toMatchObject({
      status: 409,
      body: { code: 'run_finished' },
    });
    expect(await call('GET', `/runs/${run.id}/pending`)).toMatchObject({
      status: 409,
      body: { code: 'run_finished' },
    });
  });

  it('has the request of each line after templates, with links to files', async () => {
    const image = Buffer.alloc(5_000, 'image');
    const long = 'long '.repeat(60_000);
    const picture = { mime_type: 'image/png', encoding: 'base64', data: image.toString('base64') };
    const items = [
      { inputs: { prompt: 'first', choices: ['red', 'green'] }, meta: { level: 'hard' } },
      { inputs: { system_prompt: 'Own.', prompt: long }, meta: { level: 2 } },
      { inputs: { prompt: 'look' }, assets: { picture }, meta: { level: 3 } },
      { inputs: { prompt: long }, assets: { picture }, meta: { level: 4 } },
      { inputs: { prompt: 'no level' } },
    ];
    const prompts = { system_prompt: 'Be “brief”.', prompt_template: '{meta.level}: {prompt}' };
    const run = await startRun({ s: items }, { ...prompts, allow_unscored: true });
    const listed = await call('GET', `/runs/${run.id}/pending`);
    const lines = linesOf(listed.body);
    const system = { role: 'system', content: 'Be “brief”.' };
    const withPicture = (text: string): object => ({
      messages: [
        system,
        {
          role: 'user',
          content: [
            { type: 'text', text },
            { type: 'image_url', image_url: { url: expect.stringMatching(/^\/datasets\/.*\?version=1$/) } },
          ],
        },
      ],
    });
    expect(lines.map(({ request }) => request)).toEqual([
      { messages: [system, { role: 'user', content: 'hard: first\n\nA. red\nB. green' }] },
      { messages: [system, { role: 'user', content: `2: ${long}` }] },
      withPicture('3: look'),
      withPicture(`4: ${long}`),
      null,
    ]);
    const [, , { request }] = lines;
    const file = await fetch(`${api.url}${request.messages[1].content[1].image_url.url}`);
    expect(Buffer.from(await file.arrayBuffer()).equals(image)).toBe(true);

    const claimed = linesOf((await call('POST', `/runs/${run.id}/pending`, { limit: 10 })).body);
    expect(claimed.map((line) => line.request)).toEqual(lines.map((line) => line.request));
    // a line comes back as it is
    expect((await push(run.id, [{ ...claimed[2], output: 'x' }])).body).toMatchObject({ accepted: 1 });

    const plain = await startRun({ s: sums(1) });
    const [line] = linesOf((await call('GET', `/runs/${plain.id}/pending`)).body);
    expect(line).not.toHaveProperty('request');
  });

  it('keeps one result for each repetition: the last one', async () => {
    const run = await startRun({ s: sums(2) });
    const at = (order_index: number, output: string): object => ({ section: 's', order_index, output });
    expect((await push(run.id, [at(0, '1'), at(1, '1'), at(0, '2'), at(0, '3')])).body).toMatchObject({
      accepted: 4,
      replaced: 2,
    });
    expect((await push(run.id, [at(1, '2'), at(0, '1')])).body).toMatchObject({ accepted: 2, replaced: 2 });
    expect((await call('GET', `/runs/${run.id}`)).body).toMatchObject({
      counts: { done: 2, ok: 2 },
      scores: { passed: 2 },
    });
    expect((await call('POST', `/runs/${run.id}/finish`, {})).body).toMatchObject({
      status: 'completed',
      scores: { passed: 2 },
    });
  });

  it('answers 404 where the dataset is deleted while its results arrive', async () => {
    const run = await startRun({ s: sums(3) });
    async function* lines() {
      yield Buffer.from('{"item_id":"q-0","output":"1"}\n');
      expect((await call('DELETE', `/datasets/${run.dataset_id}`)).status).toBe(204);
      yield Buffer.from('{"item_id":"q-1","output":"2"}\n');
    }
    const response = await fetch(`${api.url}/runs/${run.id}/results`, {
      method: 'POST',
      headers: { 'content-type': 'application/jsonl' },
      body: ReadableStream.from(lines()),
      duplex: 'half',
    } as RequestInit);
    expect([response.status, ((await response.json()) as Body).code]).toEqual([404, 'run_not_found']);
  });

  it('refuses a bad line, and no other one', async () => {
    const run = await startRun({
      s: [...sums(3), { inputs: { prompt: 'twice' } }, { inputs: { prompt: 'twice' } }],
    });
    const good = { section: 's', order_index: 0, output: '1' };
    const deep = `${'['.repeat(30)}${']'.repeat(30)}`;
    const pending = linesOf((await call('GET', `/runs/${run.id}/pending`)).body);
    const bad: [unknown, string][] = [
      ['{"section": "s"', 'JSON'],
      ['[1]', 'The line must be a JSON object.'],
      ['{"section":"s","order_index":0,"output":1,"output":2}', 'uplicate'],
      [`{"section":"s","order_index":0,"output":${deep}}`, 'nested'],
      [{ output: '1' }, 'The line must name its item by section and order_index, item_id or item_hash.'],
      [{ section: 's', output: '1' }, 'The line must have both section and order_index, or neither.'],
      [{ section: 's', order_index: 5, output: '1' }, 'The line names no item: the section has 5.'],
      [{ section: 'none', order_index: 0, output: '1' }, 'The line names no section of the run.'],
      [{ item_id: 'q-9', output: '1' }, 'The line names no item of the run.'],
      [{ item_hash: '0'.repeat(64), output: '1' }, 'The line names no item of the run.'],
      [
        { item_hash: pending[3].item_hash, output: '1' },
        'The line names several items: use section and order_index.',
      ],
      [
        { section: 's', order_index: 0, item_id: 'q-1', output: '1' },
        'The line names an item whose item_id is "q-0", but its own item_id is "q-1".',
      ],
      [{ ...good, repetition: 2 }, 'repetition must be at most 1.'],
      [{ ...good, output: undefined }, 'The line must have an output or an error.'],
      [{ ...good, error: 'x' }, 'The line must not have both output and error.'],
      [{ ...good, latency: 3 }, 'The line has the unknown member "latency".'],
      [{ ...good, latency_ms: -1 }, 'latency_ms must be a number from 0 to 1000000000000.'],
      [{ ...good, trace_id: 'a\0b' }, 'trace_id must be 1 to 255 characters without control characters.'],
      [{ ...good, scores: { main: { score: 1.5 } } }, 'scores.main.score must be a number from 0 to 1.'],
      [{ ...good, scores: { main: {} } }, 'scores.main must have score or passed.'],
      [{ ...good, scores: { '': { score: 1 } } }, 'The name of the scorer "" must be'],
      [
        { ...good, scores: JSON.parse('{"__proto__": {"score": 1}}') },
        'The name of the scorer "__proto__" must be',
      ],
    ];
    const { status, body } = await push(
      run.id,
      bad.flatMap(([line]) => [line, good]),
    );
    expect(status).toBe(200);
    expect(body).toMatchObject({
      accepted: bad.length,
      replaced: bad.length - 1,
      rejected_total: bad.length,
    });
    for (const [index, [, message]] of bad.entries()) {
      expect(body.rejected[index]).toEqual({
        line: 2 * index + 1,
        message: expect.stringContaining(message),
      });
    }
  });

  it('lists the first 100 rejected lines, and counts them all', async () => {
    const run = await startRun({ s: sums(1) });
    const { body } = await push(
      run.id,
      Array.from({ length: 300 }, () => '{}'),
    );
    expect(body).toMatchObject({ accepted: 0, rejected_total: 300 });
    expect(body.rejected).toHaveLength(100);
  });

  it('stores neither secrets nor control characters as they came', async () => {
    const run = await startRun({ s: sums(1) });
    const { body } = await push(run.id, [
      {
        item_id: 'q-0',
        output: `1 \0 ${SECRET}`,
        usage: { [SECRET]: 1 },
        scores: { main: { passed: true, explanation: SECRET } },
      },
    ]);
    expect(body).toMatchObject({ accepted: 1, redacted: 3 });
    const [result] = (await call('GET', `/runs/${run.id}/results`)).body.data;
    expect(result).toMatchObject({
      output: '1 \0 [redacted]',
      usage: { '[redacted]': 1 },
      explanation: '[redacted]',
      score: 1,
      redacted: 3,
    });
  });

  it('takes long outputs, and refuses too long lines alone', async () => {
    const run = await startRun({ s: sums(3) });
    const long = `${'x '.repeat(1_000_000)}1`;
    const { body } = await push(run.id, [
      { item_id: 'q-0', output: long },
      { item_id: 'q-1', output: 'y'.repeat(17 * 1024 * 1024) },
      { item_id: 'q-2', output: '3' },
    ]);
    expect(body).toMatchObject({
      accepted: 2,
      rejected: [{ line: 2, message: 'The line is longer than 16777216 bytes.' }],
    });
    expect((await call('GET', `/runs/${run.id}`)).body).toMatchObject({
      scores: { passed: 2 },
      counts: { ok: 2 },
    });
  });

  it('belongs to clients alone: another run takes no results, and a judge needs an address that may be reached', async () => {
    const { id } = await importItems(api.store.datasets, textsOf({ s: sums(1) }));
    const { body: run } = await call('POST', '/runs', { dataset_id: id, config: { provider: 'echo' } });
    for (const [method, path, body] of [
      ['GET', 'pending', undefined],
      ['POST', 'pending', {}],
      ['POST', 'finish', {}],
      ['POST', 'results', ''],
    ] as const) {
      const type = path === 'results' ? 'application/jsonl' : 'application/json';
      expect(await call(method, `/runs/${run.id}/${path}`, body, type)).toMatchObject({
        status: 409,
        body: { code: 'run_not_external' },
      });
    }
    const judged = await call('POST', '/runs', {
      dataset_id: id,
      config: { provider: 'external', judge: { base_url: 'http://169.254.169.254/v1', model: 'm' } },
    });
    expect(judged).toMatchObject({ status: 400, body: { errors: [{ path: '/config/judge/base_url' }] } });
    expect(await call('POST', `/runs/${run.id}/results`, '{}')).toMatchObject({ status: 415 });
  });

  it('needs no item that a checker can score', async () => {
    const run = await startRun({ s: [{ inputs: { prompt: 'free' } }] });
    expect(run.warnings).toMatchObject([{ code: 'unscorable_items' }]);
    expect((await push(run.id, [{ section: 's', order_index: 0, output: 'x' }])).body).toMatchObject({
      accepted: 1,
    });
    expect((await call('GET', `/runs/${run.id}/results`)).body.data).toMatchObject([
      { status: 'unscored', output: 'x' },
    ]);
  });

  it('takes results of selected items only', async () => {
    const run = await startRun({ s: sums(3) }, { select: { item_ids: ['q-1'] } });
    expect(linesOf((await call('GET', `/runs/${run.id}/pending`)).body)).toMatchObject([{ item_id: 'q-1' }]);
    const { body } = await push(run.id, [
      { item_id: 'q-1', output: '2' },
      { item_id: 'q-0', output: '1' },
      { section: 's', order_index: 0, output: '1' },
    ]);
    expect(body).toMatchObject({ accepted: 1, rejected: [{ line: 2 }, { line: 3 }] });
    expect((await call('POST', `/runs/${run.id}/finish`, {})).status).toBe(200);
  });
});

describe('cancelling and retrying', () => {
  it('ends a waiting run immediately, keeps its results, and refuses more', async () => {
    const run = await startRun({ s: sums(2) });
    await push(run.id, [{ item_id: 'q-0', output: '1' }]);
    expect((await call('POST', `/runs/${run.id}/cancel`)).body).toMatchObject({
      status: 'cancelled',
      counts: { done: 1 },
    });
    for (const [path, type] of [
      ['results', 'application/jsonl'],
      ['pending', 'application/json'],
      ['finish', 'application/json'],
    ] as const) {
      expect(await call('POST', `/runs/${run.id}/${path}`, '{}', type)).toMatchObject({
        status: 409,
        body: { code: 'run_finished' },
      });
    }
    expect((await call('GET', `/runs/${run.id}`)).body).toMatchObject({
      counts: { done: 1 },
      scores: { mean: 1 },
    });
  });

  it('continues a run with what failed and what is missing', async () => {
    const run = await startRun({ s: sums(3) });
    await push(run.id, [
      { item_id: 'q-0', output: '1' },
      { item_id: 'q-1', error: 'lost' },
    ]);
    await call('POST', `/runs/${run.id}/finish`, { allow_missing: true });
    expect((await call('POST', `/runs/${run.id}/retry`, { only: 'failed' })).body).toMatchObject({
      status: 'waiting',
    });
    expect(
      linesOf((await call('GET', `/runs/${run.id}/pending`)).body).map(({ item_id }) => item_id),
    ).toEqual(['q-1', 'q-2']);
    expect(
      linesOf((await call('POST', `/runs/${run.id}/pending`, {})).body).map(({ item_id }) => item_id),
    ).toEqual(['q-1', 'q-2']);
    // a result that is not due again is replaced all the same, and is not counted as one of those that are missing
    await push(run.id, [
      { item_id: 'q-0', output: '0' },
      { item_id: 'q-1', output: '2' },
    ]);
    expect(await call('POST', `/runs/${run.id}/finish`, {})).toMatchObject({
      status: 409,
      body: { missing: 1 },
    });
    await push(run.id, [{ item_id: 'q-2', output: '3' }]);
    expect((await call('POST', `/runs/${run.id}/finish`, {})).body).toMatchObject({
      status: 'completed',
      counts: { total: 3, done: 3, ok: 3, failed: 0 },
      scores: { passed: 2 },
    });
  });
});

describe('claims', () => {
  const claim = async (id: string, body: object): Promise<Body[]> =>
    linesOf((await call('POST', `/runs/${id}/pending`, body)).body);
  const indexes = (lines: readonly Body[]): number[] => lines.map(({ order_index }) => order_index);

  it('reserve results for one client, in order, until they expire', async () => {
    const run = await startRun({ s: sums(5) });
    const first = await claim(run.id, { limit: 2, claim_seconds: 1 });
    expect(indexes(first)).toEqual([0, 1]);
    expect(first[0].claimed_until).toMatch(/Z$/);
    expect(indexes(await claim(run.id, { limit: 2 }))).toEqual([2, 3]);
    const listed = linesOf((await call('GET', `/runs/${run.id}/pending`)).body);
    expect(listed.map(({ claimed_until }) => claimed_until !== undefined)).toEqual([
      true,
      true,
      true,
      true,
      false,
    ]);
    await expect
      .poll(async () => indexes(await claim(run.id, { limit: 2 })), { interval: 100, timeout: 10_000 })
      .toContain(0);
  });

  it('end with their result, which extends the others of the same claim only', async () => {
    const run = await startRun({ s: sums(6) });
    await claim(run.id, { limit: 3, claim_seconds: 3_600 });
    await claim(run.id, { limit: 2, claim_seconds: 3_600 });
    const untilOf = async (): Promise<Record<string, string>> =>
      Object.fromEntries(
        linesOf((await call('GET', `/runs/${run.id}/pending`)).body).map((line) => [
          line.order_index,
          line.claimed_until,
        ]),
      );
    const before = await untilOf();
    await push(run.id, [{ section: 's', order_index: 1, output: '2' }]);
    const after = await untilOf();
    expect(Object.keys(after)).toEqual(['0', '2', '3', '4', '5']);
    expect((after['0'] as string) > (before['0'] as string)).toBe(true);
    expect(after['3']).toBe(before['3']);
    // a result of an item that nobody claimed
    await push(run.id, [{ section: 's', order_index: 5, output: '6' }]);
    expect(await claim(run.id, {})).toEqual([]);
  });

  it('go over every repetition', async () => {
    const run = await startRun({ a: sums(2), b: sums(1) }, { repetitions: 3 });
    const found: string[] = [];
    for (let round = 0; round < 6; round += 1) {
      for (const line of await claim(run.id, { limit: 2 }))
        found.push(`${line.section}${line.order_index}.${line.repetition}`);
    }
    expect(found).toEqual(['a0.1', 'a0.2', 'a0.3', 'a1.1', 'a1.2', 'a1.3', 'b0.1', 'b0.2', 'b0.3']);
  });
});

describe('the program of docs/runs.md', () => {
  it('does what the page says', async () => {
    const page = await readFile(new URL('../../../docs/runs.md', import.meta.url), 'utf8');
    const program = /^## Results from anywhere$[\s\S]*?^```python\n([\s\S]*?)^```$/m.exec(page)?.[1] ?? '';
    expect(program.trimEnd().split('\n').length).toBeLessThanOrEqual(25);
    const run = await startRun({ s: [...sums(3), { ...sum(3), inputs: { prompt: 'no sum' } }] });
    const { stdout } = await promisify(execFile)('python3', ['-c', program, run.id], {
      env: { PATH: String(process.env['PATH']), SVC_API_URL: api.url, NO_PROXY: '127.0.0.1' },
    });
    expect(stdout.split('\n').map((line) => (line.startsWith('{') ? JSON.parse(line) : line))).toEqual([
      { accepted: 4, replaced: 0, redacted: 0, rejected: [], rejected_total: 0 },
      'completed',
      '',
    ]);
    expect((await call('GET', `/runs/${run.id}`)).body).toMatchObject({
      counts: { ok: 3, failed: 1 },
      scores: { passed: 3 },
    });
    expect((await call('GET', `/runs/${run.id}/results?status=failed`)).body.data).toMatchObject([
      { error: { code: 'client_error', message: expect.stringContaining('ValueError') } },
    ]);
  });
});

describe('twenty clients that are killed and repeat', () => {
  it('leave every result once', { timeout: 120_000 }, async () => {
    const count = times(300, 100);
    const run = await startRun({ s: sums(count) });
    const random = mulberry(7);
    const client = async (): Promise<void> => {
      for (;;) {
        const stop = new AbortController();
        const isKilled = random() < 0.3;
        try {
          if (isKilled) setTimeout(() => stop.abort(), random() * 40);
          const response = await fetch(`${api.url}/runs/${run.id}/pending`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ limit: 7, claim_seconds: 1, answers: true }),
            signal: stop.signal,
          });
          if (response.status === 409) return;
          expect(response.status).toBe(200);
          const lines = linesOf(await response.text());
          if (lines.length === 0) {
            const { body } = await call('POST', `/runs/${run.id}/finish`, {});
            if (body.status === 'completed') return;
            continue;
          }
          const answers = lines
            .map((line) => JSON.stringify({ item_id: line.item_id, output: line.item.answer }))
            .join('\n');
          for (let sent = 0; sent < 1 + Math.floor(random() * 2); sent += 1) {
            await fetch(`${api.url}/runs/${run.id}/results`, {
              method: 'POST',
              headers: { 'content-type': 'application/jsonl' },
              body: answers,
              signal: stop.signal,
            }).then((pushed) => pushed.text());
          }
        } catch (error) {
          if (!stop.signal.aborted) throw error;
        }
      }
    };
    await Promise.all(Array.from({ length: 20 }, client));
    expect((await call('GET', `/runs/${run.id}`)).body).toMatchObject({
      status: 'completed',
      counts: { total: count, done: count, ok: count },
      scores: { passed: count, mean: 1 },
    });
    const table = linesOf((await call('GET', `/runs/${run.id}/results.jsonl`)).body);
    expect(table.map(({ order_index }) => order_index)).toEqual(
      Array.from({ length: count }, (_, index) => index),
    );
  });
});

/** Random numbers that are the same every time. */
function mulberry(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 4294967296;
  };
}
