import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { queryDatabase } from '../../../packages/service/test/store/query-database.ts';
import { makePackage, uploadForm } from './make-package.ts';
import { startTestApi, type TestApi } from './start-test-api.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies have every shape
type Body = any;

const KEYS = {
  ada: 'a-key-of-the-tests-for-ada',
  ben: 'a-key-of-the-tests-for-ben',
  third: 'a-key-of-the-tests-without-name',
  viewer: 'a-key-of-the-tests-to-see',
};
type Person = keyof typeof KEYS;
const SVC_API_KEYS = `admin:${KEYS.ada}:Ada, editor:${KEYS.ben}:Ben M. , editor:${KEYS.third},viewer:${KEYS.viewer}:Vera`;

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ SVC_API_KEYS });
});
afterAll(() => api[Symbol.asyncDispose]());

async function call(
  person: Person,
  method: string,
  path: string,
  body?: string | object | FormData,
  service = api,
): Promise<{ status: number; headers: Headers; body: Body }> {
  const isText = typeof body === 'string';
  const response = await fetch(`${service.url}${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${KEYS[person]}`,
      ...(body === undefined || body instanceof FormData
        ? {}
        : { 'content-type': isText ? 'application/jsonl' : 'application/json' }),
    },
    ...(body === undefined ? {} : { body: isText || body instanceof FormData ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = /json(;|$)/.test(response.headers.get('content-type') ?? '');
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}

const get = async (path: string, person: Person = 'viewer', service = api): Promise<Body> => {
  const { status, body } = await call(person, 'GET', path, undefined, service);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};

async function upload(archive: Uint8Array<ArrayBuffer>, service = api): Promise<Body> {
  const { status, body } = await call('ada', 'POST', '/datasets/upload', uploadForm(archive), service);
  expect(status, JSON.stringify(body)).toBe(201);
  const [run] = (await get(`/runs?dataset_id=${body.id}`, 'ada', service)).data;
  return { dataset: body.id, run: run?.id };
}

/** A dataset of n questions, each with its number as the answer. */
async function dataset(n: number, seed: string): Promise<string> {
  const lines = Array.from({ length: n }, (_, index) =>
    JSON.stringify({ id: index, type: 'exact', inputs: { prompt: `${seed} ${index}` }, answer: `${index}` }),
  );
  return (await upload(await makePackage({ 'sections/s.jsonl': `${lines.join('\n')}\n` }))).dataset;
}

/** A run of a dataset whose results are these; null is an error. */
async function runOf(datasetId: string, outputs: readonly (string | null)[]): Promise<string> {
  const config = { provider: { type: 'external', label: 'a test' } };
  const { body } = await call('ada', 'POST', '/runs', { dataset_id: datasetId, config });
  const lines = outputs.map((output, index) =>
    JSON.stringify({ section: 's', order_index: index, ...(output === null ? { error: 'no' } : { output }) }),
  );
  const pushed = await call('ada', 'POST', `/runs/${body.id}/results`, lines.join('\n'));
  expect(pushed.body).toMatchObject({ accepted: outputs.length, rejected: [] });
  await call('ada', 'POST', `/runs/${body.id}/finish`, {});
  return body.id;
}

const label = (
  person: Person,
  run: string,
  index: number,
  body: object,
): Promise<{ status: number; body: Body }> =>
  call(person, 'PUT', `/runs/${run}/results/s/${index}/1/label`, body);

const PASS = { verdict: 'pass' };
const FAIL = { verdict: 'fail' };
const indexesOf = ({ data }: Body): number[] => data.map((row: Body) => row.order_index);

describe('labels', () => {
  it('say who said what and when, of each output once, and go when nothing is left of them', async () => {
    const run = await runOf(await dataset(4, 'who'), ['0', '1', 'x', null]);
    const before = Date.now();
    const first = await label('ada', run, 0, {
      verdict: 'fail',
      note: 'no unit',
      types: [' unit ', 'unit', 'form'],
    });
    expect(first).toMatchObject({
      status: 200,
      body: { by: 'Ada', verdict: 'fail', note: 'no unit', types: ['unit', 'form'], imported: false },
    });
    expect(Date.parse(first.body.created_at)).toBeGreaterThanOrEqual(before - 1000);
    expect((await label('ben', run, 0, PASS)).body.by).toBe('Ben M.');
    expect((await label('third', run, 0, { verdict: null, note: 'see' })).body.by).toBe('key 3');
    const again = await label('ada', run, 0, { verdict: 'pass' });
    expect(again.body).toMatchObject({
      verdict: 'pass',
      note: null,
      types: [],
      created_at: first.body.created_at,
    });
    expect(Date.parse(again.body.updated_at)).toBeGreaterThanOrEqual(Date.parse(first.body.updated_at));
    const [row] = (await get(`/runs/${run}/results`)).data;
    expect(row.labels.map(({ by, verdict }: Body) => [by, verdict])).toEqual([
      ['Ada', 'pass'],
      ['key 3', null],
      ['Ben M.', 'pass'],
    ]);
    expect((await get('/session', 'third')).name).toBe('key 3');
    for (const nobody of ['ada', 'ben'] as const) {
      const { status, body } = await label(nobody, run, 0, { verdict: null, note: '', types: [] });
      expect([status, body.verdict, body.updated_at]).toEqual([200, null, null]);
    }
    expect((await get(`/runs/${run}/labels`)).data.map(({ by }: Body) => by)).toEqual(['key 3']);

    expect((await label('viewer', run, 0, PASS)).status).toBe(403);
    expect(await label('ada', run, 3, PASS)).toMatchObject({
      status: 409,
      body: { code: 'nothing_to_label' },
    });
    expect(await label('ada', run, 9, PASS)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    const unknown = '00000000-0000-4000-8000-000000000000';
    expect(await label('ada', unknown, 0, PASS)).toMatchObject({
      status: 404,
      body: { code: 'run_not_found' },
    });
  });

  it('are there in every run with the same output of the item, and choose its results', async () => {
    const [one, other] = [await dataset(5, 'same'), await dataset(5, 'same')];
    const first = await runOf(one, ['0', '1', 'x', 'y', '4']);
    await label('ada', first, 0, PASS);
    await label('ada', first, 2, { ...FAIL, types: ['wrong'] });
    await label('ben', first, 2, PASS);
    await label('ben', first, 3, { verdict: null, types: ['wrong', 'odd'] });
    // another dataset with the same items, of which one has another output
    const second = await runOf(other, ['0', '1', 'x', 'z', '4']);
    const list = (query: string): Promise<Body> => get(`/runs/${second}/results?${query}`);
    expect(indexesOf(await list('label=pass'))).toEqual([0, 2]);
    expect(indexesOf(await list('label=pass&label_by=Ada'))).toEqual([0]);
    expect(indexesOf(await list('label=fail'))).toEqual([]);
    expect(indexesOf(await list('label=fail&label_by=Ada'))).toEqual([2]);
    expect(indexesOf(await list('label=none'))).toEqual([1, 3, 4]);
    expect(indexesOf(await list('label=none&label_by=Ada&sort=-order'))).toEqual([4, 3, 1]);
    expect(indexesOf(await list('label_by=Ben%20M.'))).toEqual([2]);
    expect(indexesOf(await list('label_type=wrong'))).toEqual([2]);
    expect(indexesOf(await list('label_type=wrong&label_by=Ben%20M.'))).toEqual([]);
    expect(indexesOf(await get(`/runs/${first}/results?label_type=wrong`))).toEqual([2, 3]);
    const page = await list('label=none&limit=2');
    expect(page.meta.total_items).toBe(3);
    expect(indexesOf(await list(`label=none&limit=2&cursor=${page.meta.next_cursor}`))).toEqual([4]);

    const labels = await get(`/runs/${first}/labels`);
    expect(labels.summary).toEqual({
      ...{ results: 3, labels: 4, pass: 2, fail: 1 },
      people: [
        { by: 'Ada', labels: 2 },
        { by: 'Ben M.', labels: 2 },
      ],
      types: [
        { type: 'wrong', labels: 2 },
        { type: 'odd', labels: 1 },
      ],
    });
    const pages = [];
    for (let cursor = ''; ; ) {
      const { data, meta } = await get(`/runs/${first}/labels?limit=1${cursor}`);
      pages.push(...data.map((row: Body) => [row.order_index, row.by]));
      if (meta.next_cursor === null) break;
      cursor = `&cursor=${meta.next_cursor}`;
    }
    expect(pages).toEqual(labels.data.map((row: Body) => [row.order_index, row.by]));
    expect(pages).toEqual([
      [0, 'Ada'],
      [2, 'Ada'],
      [2, 'Ben M.'],
      [3, 'Ben M.'],
    ]);
    const chosen = await get(`/runs/${first}/labels?verdict=pass&by=Ben%20M.&section=s`);
    expect(indexesOf(chosen)).toEqual([2]);
    expect((await get(`/runs/${first}/labels?type=odd`)).summary.labels).toBe(1);

    // a run or a dataset goes, its labels stay with the output
    await call('ada', 'DELETE', `/datasets/${one}`);
    expect(indexesOf(await list('label=pass'))).toEqual([0, 2]);
  });

  it('come out in tables and packages, and in again, here and elsewhere, as the words of the same people', async () => {
    const hostile = '=cmd|"x"!A1,\u001b[31m\n\u202eend';
    const datasetId = await dataset(3, 'round');
    const run = await runOf(datasetId, ['0', 'x', '2']);
    const plain = await call('ada', 'GET', `/datasets/${datasetId}/export?run_id=${run}`);
    await label('ben', run, 1, { verdict: 'fail', note: hostile, types: ['=1+1', 'b'] });
    await label('ada', run, 2, PASS);
    const csv = await call(
      'viewer',
      'GET',
      `/runs/${run}/results.csv?columns=order_index,label,label_note,label_types,label_by`,
    );
    const quoted = hostile.replaceAll('"', '""');
    expect(csv.body).toBe(
      `order_index,label,label_note,label_types,label_by\n0,,,,\n1,fail,"${quoted}","[""=1+1"",""b""]",Ben M.\n2,pass,,[],Ada\n`,
    );
    const forExcel = `/runs/${run}/labels.csv?columns=label_note,label_by&excel=true&verdict=fail`;
    expect((await call('viewer', 'GET', forExcel)).body).toBe(`label_note,label_by\n"'${quoted}",Ben M.\n`);
    const table = await call('viewer', 'GET', `/runs/${run}/results.jsonl`);
    expect(table.body.split('\n').map((line: string) => line && JSON.parse(line).label)).toEqual([
      null,
      'fail',
      'pass',
      '',
    ]);

    const etag = csv.headers.get('etag');
    const exported = `/datasets/${datasetId}/export?run_id=${run}`;
    const withLabels = await call('ada', 'GET', exported);
    expect(withLabels.headers.get('etag')).not.toBe(plain.headers.get('etag'));
    const archive = await bytesOf(exported);
    // the same service: nothing changes, and everything is there
    const { run: again } = await upload(archive);
    expect((await get(`/runs/${again}/labels`)).data).toEqual((await get(`/runs/${run}/labels`)).data);
    await label('ben', run, 1, PASS);
    await upload(archive);
    expect((await get(`/runs/${again}/results?label=fail`)).data).toEqual([]);
    expect(
      (
        await call(
          'viewer',
          'GET',
          `/runs/${run}/results.csv?columns=order_index,label,label_note,label_types,label_by`,
        )
      ).headers.get('etag'),
    ).not.toBe(etag);

    await using elsewhere = await startTestApi({ SVC_API_KEYS });
    const there = await upload(archive, elsewhere);
    const { data } = await get(`/runs/${there.run}/labels`, 'ada', elsewhere);
    expect(data).toMatchObject([
      { by: 'Ben M.', verdict: 'fail', note: hostile, types: ['=1+1', 'b'], imported: true },
      { by: 'Ada', verdict: 'pass', note: null, types: [], imported: true },
    ]);
    const repeated = await bytesOf(`/datasets/${there.dataset}/export?run_id=${there.run}`, elsewhere);
    expect(Buffer.compare(repeated, archive)).toBe(0);
  });

  it('are of a person again, and not imported, once the person has changed them', async () => {
    const labels = [{ by: 'Ada', verdict: 'pass', updated_at: '2026-01-01T00:00:00Z' }];
    const result = { section: 's', order_index: 0, status: 'ok', score: 1, output: 'taken over', labels };
    const { run } = await upload(
      await makePackage({
        'sections/s.jsonl': '{"id":"taken over"}\n',
        'results.jsonl': `${JSON.stringify(result)}\n`,
      }),
    );
    expect((await get(`/runs/${run}/labels`)).data).toMatchObject([{ by: 'Ada', imported: true }]);
    expect((await label('ada', run ?? '', 0, FAIL)).body).toMatchObject({ verdict: 'fail', imported: false });
  });

  it('are refused where they are too much, from callers as from packages', async () => {
    const datasetId = await dataset(1, 'much');
    const run = await runOf(datasetId, ['0']);
    const bad: object[] = [
      {},
      { verdict: 'maybe' },
      { verdict: 'pass', by: 'Ben M.' },
      { verdict: 'pass', note: 'x'.repeat(10_001) },
      { verdict: 'pass', note: 'a\0b' },
      { verdict: 'pass', types: Array.from({ length: 21 }, (_, index) => `t${index}`) },
      { verdict: 'pass', types: ['y'.repeat(65)] },
      { verdict: 'pass', types: ['a\nb'] },
      { verdict: 'pass', types: ['  '] },
    ];
    for (const body of bad) expect([body, (await label('ada', run, 0, body)).status]).toEqual([body, 400]);
    const most = {
      verdict: null,
      note: '\u{1f600}'.repeat(10_000),
      types: Array.from({ length: 20 }, (_, index) => `${'\u{1f600}'.repeat(62)}${index}`.slice(0, 128)),
    };
    expect((await label('ada', run, 0, most)).body).toMatchObject(most);

    const line = (labels: unknown): string =>
      JSON.stringify({ section: 'a', order_index: 0, status: 'ok', score: 1, output: 'o', labels });
    const said = { by: 'Zoe', verdict: 'pass', updated_at: '2026-01-01T00:00:00Z' };
    for (const labels of [
      'pass',
      [{ ...said, by: 'a\u0007' }],
      [{ ...said, verdict: 'good' }],
      [{ ...said, verdict: null }],
      [{ ...said, updated_at: 'today' }],
      [{ ...said, types: ['a', 'a'] }],
      [{ ...said, note: 'x'.repeat(20_001) }],
      [said, said],
      Array.from({ length: 101 }, (_, index) => ({ ...said, by: `p${index}` })),
    ]) {
      const archive = await makePackage({
        'sections/a.jsonl': '{"id":1}\n',
        'results.jsonl': `${line(labels)}\n`,
      });
      const { status, body } = await call('ada', 'POST', '/datasets/upload', uploadForm(archive));
      expect([labels, status, body.code]).toEqual([labels, 400, 'package_invalid_line']);
    }
    // nobody says anything in the future
    const archive = await makePackage({
      'sections/a.jsonl': '{"id":1}\n',
      'results.jsonl': `${line([{ ...said, updated_at: '2999-01-01T00:00:00Z' }])}\n`,
    });
    const { run: imported } = await upload(archive);
    const [forged] = (await get(`/runs/${imported}/labels`)).data;
    expect(Date.parse(forged.updated_at)).toBeLessThanOrEqual(Date.now() + 1000);
  });

  it('do not let a page of results grow with what many people write', async () => {
    const datasetId = await dataset(6, 'large');
    const run = await runOf(datasetId, ['0', '1', '2', '3', '4', '5']);
    await queryDatabase(
      api.databaseUrl,
      `INSERT INTO labels (item_hash, output_hash, person, verdict, note, types)
       SELECT item_hash, output_hash, 'person ' || n, 'pass', repeat(chr(128512), 10000), '{}'
       FROM run_results CROSS JOIN generate_series(1, 120) AS n WHERE run_id = '${run}'`,
    );
    const seen: number[] = [];
    for (let cursor = ''; ; ) {
      const { data, meta } = await get(`/runs/${run}/results?${cursor}`);
      expect(data.length).toBeLessThan(6);
      for (const { labels } of data) expect(labels).toHaveLength(100);
      seen.push(...indexesOf({ data }));
      if (meta.next_cursor === null) break;
      cursor = `cursor=${meta.next_cursor}`;
    }
    expect(seen).toEqual([0, 1, 2, 3, 4, 5]);
  });
});

async function bytesOf(path: string, service = api): Promise<Uint8Array<ArrayBuffer>> {
  const response = await fetch(`${service.url}${path}`, { headers: { Authorization: `Bearer ${KEYS.ada}` } });
  expect(response.status).toBe(200);
  return new Uint8Array(await response.arrayBuffer());
}

describe('a blind sample', () => {
  it('is the same for a seed, and shows neither score nor run', async () => {
    const datasetId = await dataset(30, 'blind');
    const run = await runOf(
      datasetId,
      Array.from({ length: 30 }, (_, index) => (index === 7 ? null : `${index % 4}`)),
    );
    await label('ben', run, 0, FAIL);
    await label('ada', run, 0, PASS);
    const sample = (query: string): Promise<Body> => get(`/runs/${run}/results?sample=blind&${query}`, 'ada');
    const all = await sample('n=100&limit=100&include=item');
    expect(all.meta.total_items).toBe(29);
    expect(indexesOf(all).toSorted((a, b) => a - b)).toEqual(
      [...Array(30).keys()].filter((index) => index !== 7),
    );
    for (const row of all.data) {
      expect(Object.keys(row).toSorted()).toEqual([
        'item',
        'item_hash',
        'item_id',
        'labels',
        'order_index',
        'output',
        'reasoning',
        'repetition',
        'section',
      ]);
      for (const { by } of row.labels) expect(by).toBe('Ada');
    }
    const first = await sample('n=12&seed=3&limit=100');
    expect(indexesOf(first)).toHaveLength(12);
    expect(indexesOf(await sample('n=12&seed=3&limit=100'))).toEqual(indexesOf(first));
    expect(indexesOf(await sample('n=12&seed=4&limit=100'))).not.toEqual(indexesOf(first));
    // a larger one begins alike, and pages continue it
    expect(indexesOf(await sample('n=20&seed=3&limit=100')).slice(0, 12)).toEqual(indexesOf(first));
    const page = await sample('n=12&seed=3&limit=5');
    const next = await sample(`n=12&seed=3&limit=100&cursor=${page.meta.next_cursor}`);
    expect([...indexesOf(page), ...indexesOf(next)]).toEqual(indexesOf(first));
    expect(indexesOf(await sample('n=5&label=none')).includes(0)).toBe(false);
    for (const tell of [
      'passed=true',
      'min_score=1',
      'sort=score',
      'status=ok',
      'q=x',
      'scorer=main',
      'error=0123456789abcdef',
    ]) {
      const { status } = await call('ada', 'GET', `/runs/${run}/results?sample=blind&${tell}`);
      expect([tell, status]).toEqual([tell, 400]);
    }
    expect((await call('ada', 'GET', `/runs/${run}/results?n=3`)).status).toBe(400);
  });
});

describe('agreement', () => {
  it('compares scorers with people, and people with each other', async () => {
    const run = await runOf(await dataset(8, 'agree'), ['0', '1', '2', '3', 'x', 'x', 'x', null]);
    // the checker passes the first four
    for (const [index, verdict] of (['pass', 'pass', 'pass', 'fail', 'fail', 'pass'] as const).entries()) {
      await label('ben', run, index, { verdict });
    }
    for (const [index, verdict] of (['pass', 'fail', 'pass', 'fail'] as const).entries()) {
      await label('third', run, index, { verdict });
    }
    await label('third', run, 6, { verdict: null, note: 'later' });
    const scored = [0, 4].map((index) =>
      JSON.stringify({ section: 's', order_index: index, scores: { judge: { score: index === 0 ? 0 : 1 } } }),
    );
    expect((await call('ada', 'POST', `/runs/${run}/scores`, scored.join('\n'))).body.accepted).toBe(2);

    const byBen = await get(`/runs/${run}/agreement?by=Ben%20M.`);
    expect(byBen).toMatchObject({
      ...{ scorer: 'main', by: 'Ben M.', other: null, n: 6 },
      cells: { both_pass: 3, both_fail: 1, false_pass: 1, false_fail: 1 },
      ...{ agreement: 4 / 6, false_pass_rate: 1 / 4, false_fail_rate: 1 / 2, base_rate: 4 / 6 },
      kappa: expect.closeTo(0.25, 12),
      meta: { total_items: 2 },
    });
    expect(byBen.data).toMatchObject([
      { order_index: 3, cell: 'false_pass', by: 'Ben M.', verdict: 'fail', passed: true, item_id: 3 },
      { order_index: 5, cell: 'false_fail', verdict: 'pass', passed: false },
    ]);
    expect(indexesOf(await get(`/runs/${run}/agreement?by=Ben%20M.&scorer=main&cell=both_pass`))).toEqual([
      0, 1, 2,
    ]);
    const page = await get(`/runs/${run}/agreement?by=Ben%20M.&limit=1`);
    expect(
      indexesOf(await get(`/runs/${run}/agreement?by=Ben%20M.&limit=1&cursor=${page.meta.next_cursor}`)),
    ).toEqual([5]);
    // the newest verdict on each output: the third person's, where there is one
    expect((await get(`/runs/${run}/agreement`)).cells).toEqual({
      both_pass: 2,
      both_fail: 1,
      false_pass: 2,
      false_fail: 1,
    });
    expect((await get(`/runs/${run}/agreement?scorer=judge`)).cells).toEqual({
      both_pass: 0,
      both_fail: 0,
      false_pass: 1,
      false_fail: 1,
    });
    const people = await get(`/runs/${run}/agreement?by=Ben%20M.&other=key%203`);
    expect(people).toMatchObject({
      scorer: null,
      other: 'key 3',
      n: 4,
      cells: { both_pass: 2, both_fail: 1, false_pass: 0, false_fail: 1 },
    });
    expect(indexesOf(people)).toEqual([1]);
    expect(await get(`/runs/${run}/agreement?by=nobody`)).toMatchObject({
      n: 0,
      agreement: null,
      kappa: null,
      kappa_ci95: null,
      data: [],
    });
    for (const [query, code] of [
      ['scorer=none', 'scorer_not_found'],
      ['other=Ada', 'invalid_request'],
      ['by=Ada&other=Ben&scorer=main', 'invalid_request'],
    ]) {
      const { status, body } = await call('viewer', 'GET', `/runs/${run}/agreement?${query}`);
      expect([query, status, body.code]).toEqual([query, 400, code]);
    }
  });
});

it('the program of docs/labels.md does what the page says', async () => {
  const page = await readFile(new URL('../../../docs/labels.md', import.meta.url), 'utf8');
  const program = /^## Agreement$[\s\S]*?^```python\n([\s\S]*?)^```$/m.exec(page)?.[1] ?? '';
  const lines = [0, 1, 2].map((n) =>
    JSON.stringify({
      id: n,
      type: 'exact',
      inputs: { prompt: `${n}+1?` },
      answer: n === 2 ? '4' : `${n + 1}`,
    }),
  );
  const { dataset: datasetId } = await upload(
    await makePackage({ 'sections/s.jsonl': `${lines.join('\n')}\n` }),
  );
  const run = await runOf(datasetId, ['1', '5', '3']);
  const { stdout } = await promisify(execFile)('python3', ['-c', program], {
    env: {
      PATH: String(process.env['PATH']),
      ...{ SVC_API_URL: api.url, SVC_API_KEY: KEYS.ben, RUN: run, NO_PROXY: '127.0.0.1' },
    },
  });
  expect(stdout).toMatch(/^3 \{'both_pass': 1, 'both_fail': 1, 'false_pass': 0, 'false_fail': 1\} 0\.4/);
});
