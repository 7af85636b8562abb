import { createHash } from 'node:crypto';
import JSZip from 'jszip';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../packages/jsonl-v23/src/json/index.ts';
import { uploadForm } from './make-package.ts';
import { startTestApi, type TestApi } from './start-test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api[Symbol.asyncDispose]());

// biome-ignore lint/suspicious/noExplicitAny: bodies have every shape
type Body = any;

const ANSWERS = ['a', 'b', 'c', 'd', 'e'];

async function send(method: string, path: string, body: unknown, status: number): Promise<Body> {
  const isLines = typeof body === 'string';
  const response = await fetch(`${api.url}${path}`, {
    method,
    headers: { 'content-type': isLines ? 'application/jsonl' : 'application/json' },
    body: isLines ? body : JSON.stringify(body),
  });
  const answer = (await response.json()) as Body;
  expect(response.status, JSON.stringify(answer)).toBe(status);
  return answer;
}

const get = async (path: string): Promise<Body> => await (await fetch(`${api.url}${path}`)).json();

async function upload(archive: Uint8Array<ArrayBuffer>, status = 201): Promise<Body> {
  const response = await fetch(`${api.url}/datasets/upload`, {
    method: 'POST',
    body: uploadForm(archive),
  });
  const body = (await response.json()) as Body;
  expect(response.status, JSON.stringify(body)).toBe(status);
  return body;
}

async function dataset(): Promise<string> {
  const zip = new JSZip();
  const lines = ANSWERS.map((answer, at) =>
    JSON.stringify({ id: at, type: 'exact', inputs: { prompt: `Say ${answer}.` }, answer }),
  );
  zip.file('sections/s.jsonl', lines.join('\n'));
  return (await upload((await zip.generateAsync({ type: 'uint8array' })) as Uint8Array<ArrayBuffer>)).id;
}

const CONFIG = {
  provider: { type: 'external', label: 'mine' },
  scorers: [{ name: 'exact' }, { name: 'any', checker: { type: 'includes' } }],
};

/** A run with a result for each item, the first `right` of them right. */
async function runOf(
  datasetId: string,
  right: number,
  more: object = {},
  config: object = CONFIG,
): Promise<Body> {
  const run = await send('POST', '/runs', { dataset_id: datasetId, config, ...more }, 202);
  expect(run).toMatchObject({ run_hash: null, verdict: null, scoring: 'svc-scoring-1' });
  const lines = ANSWERS.map((answer, at) =>
    JSON.stringify({ section: 's', order_index: at, output: at < right ? answer : 'x', usage: { n: 1 } }),
  );
  await send('POST', `/runs/${run.id}/results`, lines.join('\n'), 200);
  expect(await get(`/runs/${run.id}`)).toMatchObject({ run_hash: null, verdict: null });
  return await send('POST', `/runs/${run.id}/finish`, {}, 200);
}

async function exported(id: string, query = ''): Promise<Uint8Array<ArrayBuffer>> {
  const response = await fetch(`${api.url}/runs/${id}/export?${query}`);
  expect(response.status).toBe(200);
  return new Uint8Array(await response.arrayBuffer());
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The hash by its definition, from what the API shows. */
async function expectedHash(run: Body): Promise<string> {
  const lines = ['svc-run-1', run.dataset_version_hash, canonicalJson(run.config), canonicalJson(run.bar)];
  for (const result of (await get(`/runs/${run.id}/results?limit=100`)).data) {
    const scores: Body = {};
    const named = run.config.scorers ? result.scores : { main: result, ...result.scores };
    for (const [name, { score, passed, explanation, scored_by }] of Object.entries<Body>(named ?? {})) {
      if (score !== null || passed !== null) scores[name] = { score, passed, explanation, scored_by };
    }
    const { section, order_index, item_hash, repetition, status, output, reasoning } = result;
    const { finish_reason, usage, error } = result;
    const place = { section, order_index, item_hash, repetition, status, output, reasoning };
    lines.push(sha256(canonicalJson({ ...place, finish_reason, usage, error, scores })));
  }
  return sha256(lines.map((line) => `${line}\n`).join(''));
}

describe('the hash of a run', () => {
  it('is that of its items, configuration and results, and changes with each of them', async () => {
    const run = await runOf(await dataset(), 3);
    expect(run.run_hash).toBe(await expectedHash(run));
    const [listed] = (await get(`/runs?dataset_id=${run.dataset_id}`)).data;
    expect(listed).toMatchObject({
      run_hash: run.run_hash,
      bar: null,
      bar_hash: null,
      scoring: 'svc-scoring-1',
    });

    const scores = JSON.stringify({ section: 's', order_index: 0, scores: { style: { score: 0.5 } } });
    await send('POST', `/runs/${run.id}/scores`, scores, 200);
    const scored = await get(`/runs/${run.id}`);
    expect(scored.run_hash).toBe(await expectedHash(scored));
    expect(scored.run_hash).not.toBe(run.run_hash);

    await send('POST', `/runs/${run.id}/retry`, { only: 'failed' }, 409);
    const label = { verdict: 'pass', note: null, types: [] };
    await send('PUT', `/runs/${run.id}/results/s/0/1/label`, label, 200);
    await send('PATCH', `/runs/${run.id}`, { name: 'renamed', note: 'well', labels: ['x'] }, 200);
    expect((await get(`/runs/${run.id}`)).run_hash).toBe(scored.run_hash);
  });

  it('changes with a retry', async () => {
    const config = { ...CONFIG, provider: { type: 'external', label: 'x' } };
    const created = await send('POST', '/runs', { dataset_id: await dataset(), config }, 202);
    const line = (output: object): string => JSON.stringify({ section: 's', order_index: 0, ...output });
    await send(
      'POST',
      `/runs/${created.id}/results`,
      line({ error: { code: 'lost', message: 'no answer' } }),
      200,
    );
    const failed = await send('POST', `/runs/${created.id}/finish`, { allow_missing: true }, 200);
    expect(failed.run_hash).toBe(await expectedHash(failed));
    const retried = await send('POST', `/runs/${created.id}/retry`, { only: 'failed' }, 202);
    expect(retried.run_hash).toBeNull();
    await send('POST', `/runs/${created.id}/results`, line({ output: 'a' }), 200);
    const again = await send('POST', `/runs/${created.id}/finish`, { allow_missing: true }, 200);
    expect(again.run_hash).toBe(await expectedHash(again));
    expect(again.run_hash).not.toBe(failed.run_hash);
  });

  it('has the score of a run that names no scorers as main, and is there for a cancelled one', async () => {
    const { scorers: _, ...config } = CONFIG;
    const run = await runOf(await dataset(), 2, {}, config);
    expect(run.run_hash).toBe(await expectedHash(run));
    const other = await send('POST', '/runs', { dataset_id: run.dataset_id, config }, 202);
    const cancelled = await send('POST', `/runs/${other.id}/cancel`, {}, 202);
    expect(cancelled.run_hash).toBe(await expectedHash(cancelled));
  });

  it('is the same after export and upload, and a package with another one is refused', async () => {
    const run = await runOf(await dataset(), 3);
    const archive = await exported(run.id);
    const zip = await JSZip.loadAsync(archive);
    const manifest = JSON.parse((await zip.file('manifest.json')?.async('string')) ?? '');
    expect(manifest.run).toMatchObject({ run_hash: run.run_hash, scoring: 'svc-scoring-1', bar_hash: null });
    const { id } = await upload(archive);
    const [copy] = (await get(`/runs?dataset_id=${id}`)).data;
    expect(copy).toMatchObject({ run_hash: run.run_hash, scoring: 'svc-scoring-1', imported: true });
    expect(Buffer.from(await exported(copy.id)).equals(Buffer.from(archive))).toBe(true);

    manifest.run.run_hash = sha256('another');
    zip.file('manifest.json', JSON.stringify(manifest));
    const forged = (await zip.generateAsync({ type: 'uint8array' })) as Uint8Array<ArrayBuffer>;
    expect(await upload(forged, 400)).toMatchObject({ code: 'package_hash_mismatch' });
  });
});

describe('a bar', () => {
  it.each([
    [{ metric: 'mean', at_least: 0.1 }, 5, 'met', 1],
    [{ metric: 'pass_rate', at_least: 0.99, confidence: 0.99 }, 1, 'not_met', 0.2],
    [{ metric: 'mean', scorer: 'any', at_least: 0.6 }, 3, 'undecided', 0.6],
  ])('%j of a run with %i right outputs is %s', async (bar, right, outcome, estimate) => {
    const run = await runOf(await dataset(), right, { bar });
    const sealed = canonicalJson({ confidence: 0.95, ...bar });
    expect(run).toMatchObject({
      bar: JSON.parse(sealed),
      bar_hash: sha256(`svc-bar-1\n${sealed}`),
      verdict: {
        ...{ outcome, estimate, confidence: run.bar.confidence, sealed_at: run.created_at },
        outputs_before: ANSWERS.length,
      },
    });
    expect(run.run_hash).toBe(await expectedHash(run));
    const [low, high] = run.verdict.ci;
    expect(low).toBeLessThanOrEqual(estimate);
    expect(high).toBeGreaterThanOrEqual(estimate);
  });

  it('compares with a baseline, whose records travel with the run', async () => {
    const datasetId = await dataset();
    const baseline = await runOf(datasetId, 4);
    const bar = { metric: 'pass_rate', baseline: baseline.id, max_drop: 0.1 };
    const same = await runOf(datasetId, 4, { bar });
    expect(same.verdict).toMatchObject({ outcome: 'met', estimate: 0, ci: [0, 0] });
    const worse = await runOf(datasetId, 0, { bar: { ...bar, metric: 'mean', max_drop: 0 } });
    expect(worse.verdict).toMatchObject({ outcome: 'not_met', estimate: -0.8 });

    const zip = await JSZip.loadAsync(await exported(worse.id, 'include_baseline=true'));
    const read = async (path: string): Promise<Body> =>
      JSON.parse((await zip.file(path)?.async('string')) ?? 'null');
    expect(await read('bar.json')).toEqual(worse.bar);
    expect(await read('baseline/run.json')).toEqual({
      ...{ id: baseline.id, run_hash: baseline.run_hash, version_hash: baseline.dataset_version_hash },
      ...{ config: baseline.config, bar: null },
    });
    const records = (await zip.file('baseline/results.jsonl')?.async('string'))?.trimEnd().split('\n');
    expect(records).toHaveLength(ANSWERS.length);
    expect((await read('meta.json')).run).toMatchObject({ verdict: worse.verdict, scoring: 'svc-scoring-1' });
    expect((await fetch(`${api.url}/runs/${baseline.id}/export?include_baseline=true`)).status).toBe(400);
  });

  it.each([
    [{ metric: 'mean' }],
    [{ metric: 'mean', at_least: 2 }],
    [{ metric: 'median', at_least: 0.5 }],
    [{ metric: 'mean', at_least: 0.5, max_drop: 0.1 }],
    [{ metric: 'mean', at_least: 0.5, baseline: '00000000-0000-4000-8000-000000000000', max_drop: 0.1 }],
    [{ metric: 'mean', baseline: '00000000-0000-4000-8000-000000000000' }],
    [{ metric: 'mean', at_least: 0.5, scorer: 'unknown' }],
    [{ metric: 'mean', at_least: 0.5, confidence: 1 }],
    [{ metric: 'mean', at_least: 0.5, note: 'x' }],
  ])('cannot be %j', async (bar) => {
    const body = { dataset_id: await dataset(), config: CONFIG, bar };
    expect(await send('POST', '/runs', body, 400)).toMatchObject({ code: 'invalid_request' });
  });

  it('needs a baseline that exists and has ended', async () => {
    const datasetId = await dataset();
    const bar = (baseline: string): object => ({ metric: 'mean', baseline, max_drop: 0.1 });
    const body = { dataset_id: datasetId, config: CONFIG };
    const unknown = bar('00000000-0000-4000-8000-000000000000');
    await send('POST', '/runs', { ...body, bar: unknown }, 404);
    const { id } = await send('POST', '/runs', body, 202);
    await send('POST', '/runs', { ...body, bar: bar(id) }, 409);
  });

  it('cannot be moved: by the API, by an edited package, by a package that is uploaded again', async () => {
    const run = await runOf(await dataset(), 3, { bar: { metric: 'mean', at_least: 0.9 } });
    const lower = { ...run.bar, at_least: 0.1 };
    await send('PATCH', `/runs/${run.id}`, { bar: lower }, 400);
    await send('POST', `/runs/${run.id}/rescore`, { bar: lower }, 400);
    const again = await send('POST', `/runs/${run.id}/rescore`, {}, 202);
    expect(again).toMatchObject({ bar: null, bar_hash: null, verdict: null });

    const zip = await JSZip.loadAsync(await exported(run.id));
    const text = canonicalJson(lower);
    const manifest = JSON.parse((await zip.file('manifest.json')?.async('string')) ?? '');
    manifest.files = manifest.files.filter(({ path }: Body) => path !== 'bar.json');
    const edited = async (hash: string): Promise<Uint8Array<ArrayBuffer>> => {
      manifest.run.bar_hash = hash;
      zip.file('bar.json', `${text}\n`);
      zip.file('manifest.json', JSON.stringify(manifest));
      return (await zip.generateAsync({ type: 'uint8array' })) as Uint8Array<ArrayBuffer>;
    };
    for (const hash of [run.bar_hash, sha256(`svc-bar-1\n${text}`)]) {
      const refused = await upload(await edited(hash), 400);
      expect(refused).toMatchObject({ code: 'package_hash_mismatch' });
    }
    const { id } = await upload(await exported(run.id));
    const [copy] = (await get(`/runs?dataset_id=${id}`)).data;
    expect(copy).toMatchObject({ bar: run.bar, bar_hash: run.bar_hash, verdict: run.verdict });
    expect(await get(`/runs/${run.id}`)).toMatchObject({ bar: run.bar, run_hash: run.run_hash });
  });
});
