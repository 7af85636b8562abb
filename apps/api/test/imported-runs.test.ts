import JSZip from 'jszip';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { queryDatabase } from '../../../packages/service/test/store/query-database.ts';
import { makePackage, uploadForm } from './make-package.ts';
import { startTestApi, type TestApi } from './start-test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ SVC_MAX_LINE_BYTES: '100000' });
});
afterAll(() => api[Symbol.asyncDispose]());

// biome-ignore lint/suspicious/noExplicitAny: bodies have every shape
type Body = any;

const post = (archive: Uint8Array<ArrayBuffer>): Promise<Response> =>
  fetch(`${api.url}/datasets/upload`, { method: 'POST', body: uploadForm(archive) });

async function upload(archive: Uint8Array<ArrayBuffer>): Promise<string> {
  const response = await post(archive);
  const body = (await response.json()) as Body;
  expect(body).toMatchObject({ version_hash: expect.any(String) });
  return body.id;
}

const get = async (path: string): Promise<Body> => await (await fetch(`${api.url}${path}`)).json();

const runsOf = async (datasetId: string): Promise<Body[]> =>
  (await get(`/runs?dataset_id=${datasetId}`)).data;

async function download(datasetId: string, runId: string): Promise<Uint8Array<ArrayBuffer>> {
  const query = `run_id=${runId}&allow_incomplete=true`;
  const response = await fetch(`${api.url}/datasets/${datasetId}/export?${query}`);
  expect(response.status).toBe(200);
  return new Uint8Array(await response.arrayBuffer());
}

const SECTIONS = {
  'sections/b.jsonl': '{"id":"x"}\n{"id":2}\n',
  'sections/a.jsonl': '{"id":1}\n',
};

describe('a run that goes round', () => {
  it('has the same scores in the list as on its own, before anybody has asked for it', async () => {
    const results = [0, 1, 2].map((index) => ({
      ...{ section: 'a', order_index: index, item_id: index, repetition: 1, status: 'ok' },
      ...{ score: index / 2, passed: index === 2 },
    }));
    const datasetId = await upload(
      await makePackage({
        'sections/a.jsonl': '{"id":0}\n{"id":1}\n{"id":2}\n',
        'run_config.json': '{}',
        'results.jsonl': results.map((result) => `${JSON.stringify(result)}\n`).join(''),
      }),
    );
    const [listed] = await runsOf(datasetId);
    expect(listed.scores).toMatchObject({ mean: 0.5, stderr: expect.closeTo(0.5 / Math.sqrt(3), 12) });
    const { scores } = await get(`/runs/${listed.id}`);
    expect(scores).toMatchObject(listed.scores);
    expect((await runsOf(datasetId))[0].scores).toEqual(listed.scores);
  });

  it('gives the same archive, with its name, error, times, scores and results', async () => {
    const datasetId = await upload(await makePackage(SECTIONS));
    const config = { provider: { type: 'echo' }, repetitions: 2, allow_unscored: true };
    const created = await fetch(`${api.url}/runs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ dataset_id: datasetId, name: 'first run', config }),
    });
    const { id: runId } = (await created.json()) as Body;
    // The sum of scores as a run adds them up that ends its items in another order
    await queryDatabase(
      api.databaseUrl,
      `UPDATE runs SET status = 'failed', error = '{"code":"provider_forbidden","message":"No."}', ok = 3, failed = 1,
         scored = 3, score_sum = 0.6, passed = 1, wrong = 2, started_at = '2026-01-02T03:04:05.678Z',
         finished_at = '2026-01-02T03:05:00Z' WHERE id = '${runId}';
       INSERT INTO run_results (run_id, section_order_index, order_index, repetition, section, item_id, item_type, status, output,
         score, passed, explanation, error, latency_ms, usage)
       VALUES ('${runId}', 0, 0, 1, 'a', '1', 'freeform', 'ok', '"one \\u0000 1"', 0.1, false, NULL, NULL, 1.5, '{"n":12345678901234567890}'),
         ('${runId}', 0, 0, 2, 'a', '1', 'freeform', 'ok', '{"a":[1.5]}', 0.2, true, '"why"', NULL, NULL, NULL),
         ('${runId}', 1, 0, 1, 'b', '"x"', 'freeform', 'ok', NULL, 0.3, false, NULL, NULL, 0.1, NULL),
         ('${runId}', 1, 1, 1, 'b', '2', 'freeform', 'failed', NULL, NULL, NULL, NULL, '{"code":"internal","message":"m"}', NULL, NULL);
       UPDATE run_results r SET item_hash = i.item_hash FROM version_sections s JOIN items i ON i.part_id = ANY (s.part_ids)
       WHERE r.run_id = '${runId}' AND s.dataset_id = '${datasetId}' AND s.order_index = r.section_order_index AND i.ordinal = r.order_index`,
    );
    const archive = await download(datasetId, runId);
    const zip = await JSZip.loadAsync(archive);
    const version = (await get(`/datasets/${datasetId}`)).version_hash;
    expect(JSON.parse((await zip.file('manifest.json')?.async('string')) ?? '').run).toEqual({
      id: runId,
      name: 'first run',
      status: 'failed',
      error: { code: 'provider_forbidden', message: 'No.' },
      dataset_version_hash: version,
      started_at: '2026-01-02T03:04:05.678Z',
      finished_at: '2026-01-02T03:05:00.000Z',
      incomplete: true,
      results: 4,
      ...{ bar_hash: null, scoring: 'svc-scoring-1', run_hash: (await get(`/runs/${runId}`)).run_hash },
    });

    const copyId = await upload(archive);
    const [listed, ...others] = await runsOf(copyId);
    expect(others).toEqual([]);
    const copy = await get(`/runs/${listed.id}`);
    const original = await get(`/runs/${runId}`);
    expect(original.imported).toBe(false);
    expect(copy).toEqual({
      ...original,
      id: expect.any(String),
      dataset_id: copyId,
      imported: true,
      plan: null,
      warnings: [],
      created_at: expect.any(String),
      scores: { ...original.scores, mean: expect.closeTo(0.2) },
    });
    expect(copy.id).not.toBe(runId);
    const results = await get(`/runs/${copy.id}/results`);
    expect(results).toEqual(await get(`/runs/${runId}/results`));
    expect(results.data).toHaveLength(4);

    const again = await download(copyId, copy.id);
    expect(Buffer.from(again).equals(Buffer.from(archive))).toBe(true);
    const thirdId = await upload(again);
    const [third] = await runsOf(thirdId);
    expect(Buffer.from(await download(thirdId, third.id)).equals(Buffer.from(archive))).toBe(true);

    const cancelled = await fetch(`${api.url}/runs/${copy.id}/cancel`, { method: 'POST' });
    expect(cancelled.status).toBe(409);
    expect((await fetch(`${api.url}/datasets/${copyId}`, { method: 'DELETE' })).status).toBe(204);
    expect((await fetch(`${api.url}/runs/${copy.id}`)).status).toBe(404);
  });

  it('must be completed, unless the request allows it; then its mark stays with it', async () => {
    const datasetId = await upload(await makePackage(SECTIONS));
    const created = await fetch(`${api.url}/runs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ dataset_id: datasetId, config: { provider: { type: 'external', label: 'x' } } }),
    });
    const { id } = (await created.json()) as Body;
    const exportsOf = (run: string, dataset: string): string[] => [
      `/datasets/${dataset}/export?run_id=${run}`,
      `/datasets/${dataset}/export?run_id=${run}&format=inspect`,
      `/runs/${run}/export`,
      `/runs/${run}/export?format=promptfoo`,
    ];
    const stated = async (
      run: string,
      dataset: string,
    ): Promise<{ archive: Uint8Array<ArrayBuffer>; run: Body; manifest: Body }> => {
      for (const path of exportsOf(run, dataset)) {
        const more = path.includes('?') ? '&' : '?';
        expect(await get(path), path).toMatchObject({ status: 409, code: 'run_incomplete' });
        expect((await fetch(`${api.url}${path}${more}allow_incomplete=false`)).status, path).toBe(409);
        expect((await fetch(`${api.url}${path}${more}allow_incomplete=true`)).status, path).toBe(200);
      }
      const archive = await download(dataset, run);
      const text = await (await JSZip.loadAsync(archive)).file('manifest.json')?.async('string');
      const manifest = JSON.parse(text ?? '') as Body;
      return { archive, run: manifest.run, manifest };
    };
    const first = await stated(id, datasetId);
    expect(first.run).toMatchObject({ status: 'running', incomplete: true });
    expect(first.manifest).toMatchObject({
      ...{ generator: 'svc', generator_version: '0.0.0-test', format_version: '2.3' },
    });
    const copyId = await upload(first.archive);
    const [copy] = await runsOf(copyId);
    expect(copy).toMatchObject({ status: 'cancelled', imported: true });
    expect((await stated(copy.id, copyId)).run).toMatchObject({ id, status: 'cancelled', incomplete: true });

    const finished = await fetch(`${api.url}/runs/${id}/finish`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"allow_missing":true}',
    });
    expect(finished.status).toBe(200);
    for (const path of exportsOf(id, datasetId))
      expect((await fetch(`${api.url}${path}`)).status, path).toBe(200);
  });
});

const RESULT = {
  section: 'b',
  order_index: 0,
  item_id: 'x',
  repetition: 1,
  status: 'ok',
  score: 1,
  passed: true,
};

const packageOf = (
  results: readonly unknown[],
  { run = {}, config = {} }: { run?: object; config?: object } = {},
): Promise<Uint8Array<ArrayBuffer>> =>
  makePackage({
    ...SECTIONS,
    'manifest.json': JSON.stringify({ format: 'svc-pkg', name: 'n', run }),
    'run_config.json': JSON.stringify(config),
    'results.jsonl': results
      .map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`)
      .join(''),
  });

describe('a package of another kind', () => {
  it('without a run in its manifest gives what there is', async () => {
    const id = await upload(await makePackage({ ...SECTIONS, 'results.jsonl': JSON.stringify(RESULT) }));
    expect(await runsOf(id)).toMatchObject([
      { imported: true, name: null, status: 'completed', config: {}, counts: { total: 3, done: 1 } },
    ]);
  });

  it('keeps every id that an item may have', async () => {
    const ids = ['1e300', '1e400', '12345678901234567890', '-1', '""', 'null'];
    const results = ids.map(
      (id, index) => `{"section":"b","order_index":${index},"item_id":${id},"status":"unscored"}`,
    );
    const items = ids.map((id) => (id === 'null' ? '{}' : `{"id":${id}}`));
    const files = { 'sections/b.jsonl': items.join('\n'), 'results.jsonl': results.join('\n') };
    const datasetId = await upload(await makePackage(files));
    const [run] = await runsOf(datasetId);
    expect(run.counts).toMatchObject({ total: 6, unscored: 6 });
    const archive = await download(datasetId, run.id);
    const copyId = await upload(archive);
    const [copy] = await runsOf(copyId);
    expect(await get(`/runs/${copy.id}/results`)).toEqual(await get(`/runs/${run.id}/results`));
  });

  it('with an unfinished run gives a cancelled one', async () => {
    const run = { status: 'running', name: null, finished_at: null };
    const id = await upload(await packageOf([RESULT], { run }));
    expect(await runsOf(id)).toMatchObject([{ status: 'cancelled', finished_at: expect.any(String) }]);
  });

  it('stores no secret of a configuration', async () => {
    const id = await upload(await packageOf([], { config: { repetitions: 3, api_key: 'sk-secret' } }));
    expect(await runsOf(id)).toMatchObject([{ config: { repetitions: 3 }, counts: { total: 9, done: 0 } }]);
    expect(JSON.stringify(await runsOf(id))).not.toContain('sk-secret');
  });
});

const line = (facts: object): object => ({ ...RESULT, ...facts });

describe('hostile results', () => {
  it.each<[name: string, results: readonly unknown[], line: number, code?: string]>([
    ['of an unknown section', [RESULT, line({ section: 'c' })], 2],
    ['without a section', [{ status: 'ok' }], 1],
    ['of an item after the last', [line({ order_index: 2 })], 1],
    ['of an item before the first', [line({ order_index: -1 })], 1],
    ['of a part of an item', [line({ order_index: 0.5 })], 1],
    ['of an item by its id only', [{ section: 'b', item_id: 'x', status: 'ok' }], 1],
    ['twice of one repetition', [RESULT, '', RESULT], 3],
    ['in another order', [RESULT, line({ section: 'a' })], 2],
    ['of a repetition that was not asked for', [line({ repetition: 3 })], 1],
    ['of repetition 0', [line({ repetition: 0 })], 1],
    ['with an unknown status', [line({ status: 'great' })], 1],
    ['with an impossible score', [line({ score: 2 })], 1],
    ['with a score without success', [line({ status: 'failed' })], 1],
    ['that passed without a score', [line({ score: null })], 1],
    ['with a score of text', [line({ score: '1' })], 1],
    ['with an infinite latency', ['{"section":"b","order_index":0,"status":"ok","latency_ms":1e400}'], 1],
    ['with an id that is an object', [line({ item_id: {} })], 1],
    ['with an id that is a fraction', [line({ item_id: 0.5 })], 1],
    ['with usage that is a list', [line({ usage: [] })], 1],
    ['with an error that is a text', [line({ error: 'no' })], 1],
    ['with a long error', [line({ error: { code: 'c', message: 'm'.repeat(20_000) } })], 1],
    ['that are not objects', [[]], 1],
    ['that are not JSON', [RESULT, '{'], 2],
    ['too deep', [line({ output: JSON.parse('['.repeat(300) + ']'.repeat(300)) })], 1],
    ['too long', [RESULT, line({ order_index: 1, output: 'x'.repeat(100_000) })], 2, 'package_limit'],
    [
      'longer once canonical',
      [`{"section":"b","order_index":0,"status":"ok","output":[${'1e20,'.repeat(9_000)}1]}`],
      1,
      'package_limit',
    ],
  ])('%s store nothing', async (_name, results, wanted, code = 'package_invalid_line') => {
    const before = (await get('/datasets?limit=1')).meta.total_items;
    const response = await post(await packageOf(results, { config: { repetitions: 2 } }));
    const body = (await response.json()) as Body;
    expect(body).toMatchObject({ code, errors: [{ file: 'results.jsonl', line: wanted }] });
    expect((await get('/datasets?limit=1')).meta.total_items).toBe(before);
  });

  it.each<[name: string, run: object, code?: string]>([
    ['an unknown status', { status: 'great' }],
    ['a name with control characters', { name: 'a\u0000b' }],
    ['a long name', { name: 'n'.repeat(256) }],
    ['an error without a code', { error: {} }],
    ['a time that is none', { finished_at: '2026-13-01T00:00:00Z' }],
    ['another number of results', { results: 2 }, 'package_hash_mismatch'],
  ])('a run with %s stores nothing', async (_name, run, code = 'package_invalid_json') => {
    const before = (await get('/datasets?limit=1')).meta.total_items;
    const response = await post(await packageOf([RESULT], { run }));
    expect(await response.json()).toMatchObject({ code, errors: [{ file: 'manifest.json' }] });
    expect((await get('/datasets?limit=1')).meta.total_items).toBe(before);
  });
});
