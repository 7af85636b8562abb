import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makePackage } from './make-package.ts';
import { startTestApi, type TestApi } from './start-test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api[Symbol.asyncDispose]());

// biome-ignore lint/suspicious/noExplicitAny: bodies have every shape
type Body = any;

const item = (id: number, prompt = `p ${id}`): string => `${JSON.stringify({ id, inputs: { prompt } })}\n`;
const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');

async function get(path: string): Promise<Body> {
  const response = await fetch(api.url + path);
  expect([path, response.status]).toEqual([path, 200]);
  return path.includes('/resolve/') ? await response.text() : await response.json();
}

type Files = Readonly<Record<string, string | Uint8Array<ArrayBuffer>>>;

async function send(path: string, files: Files, fields: Record<string, string> = {}): Promise<Body> {
  const form = new FormData();
  for (const [name, content] of Object.entries(files)) form.append('file', new Blob([content]), name);
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  const response = await fetch(api.url + path, { method: 'POST', body: form });
  const body: Body = await response.json();
  expect([response.status, body]).toEqual([201, expect.anything()]);
  return body;
}

async function change(method: string, path: string, body: Body): Promise<Body> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(api.url + path, { method, headers, body: JSON.stringify(body) });
  return await response.json();
}

const fileOf = (name: string, content: string | Uint8Array, format: string): Body => ({
  name,
  format,
  bytes: Buffer.byteLength(content),
  sha256: sha256(content),
});

/** A package with one item, and a run that answers it. */
function packageOf(id: number, run = false): Promise<Uint8Array<ArrayBuffer>> {
  return makePackage({
    'sections/default.jsonl': item(id),
    'manifest.json': JSON.stringify({ name: `package ${id}` }),
    ...(run
      ? {
          'run_config.json': JSON.stringify({ provider: { type: 'echo' } }),
          'results.jsonl': `${JSON.stringify({ section: 'default', order_index: 0, item_id: id, status: 'ok', output: 'a', score: 1 })}\n`,
        }
      : {}),
  });
}

describe('the provenance of a version', () => {
  it('is where its items come from, whatever was done before', async () => {
    const table = 'question\nwhat?\n';
    const mapping = { mapping: '{"prompt_column":"question"}' };
    const { id } = await send('/datasets/upload', { 'a.jsonl': item(1) }, { handle: 'lives', name: 'Lives' });
    const first = { source: 'file', files: [fileOf('a.jsonl', item(1), 'jsonl')] };
    const versions: Body[] = [undefined, first];
    const made = async (answer: Body, expected: Body): Promise<void> => {
      versions.push(expected);
      expect(answer).toMatchObject({ version: versions.length - 1, schema: expected });
    };
    // An append keeps what was there, and adds its files.
    const b = fileOf('b.jsonl', item(2), 'jsonl');
    const appended = { source: 'file', files: [...first.files, b] };
    await made(await send(`/datasets/${id}/items?mode=append`, { 'b.jsonl': item(2) }), appended);
    // So does one whose lines are the body itself, which is no file.
    const headers = { 'content-type': 'application/jsonl' };
    const plain = { method: 'POST', headers, body: item(5) };
    const answer = await fetch(`${api.url}/datasets/${id}/items?mode=append`, plain);
    await made(await answer.json(), appended);
    // An edit keeps it.
    const edits = [{ item_id: 1, item: JSON.parse(item(1, 'other')) }];
    await made(await change('PATCH', `/datasets/${id}/items`, { edits }), appended);
    const more = { ...appended, files: [...appended.files, fileOf('c.jsonl', item(3), 'jsonl')] };
    await made(await send(`/datasets/${id}/items?mode=upsert`, { 'c.jsonl': item(3) }), more);
    // A whole content from elsewhere has its own.
    const ofTable = {
      source: 'file',
      files: [fileOf('t.csv', table, 'csv')],
      mapping: { prompt_column: 'question' },
    };
    const ofVersion = '/datasets/upload?if_exists=version';
    await made(await send(ofVersion, { 't.csv': table }, { ...mapping, handle: 'lives' }), ofTable);
    const archive = await packageOf(7);
    const ofPackage = { source: 'pkg_zip', package: { manifest: { name: 'package 7' } } };
    await made(await send(ofVersion, { 'p.pkg.zip': archive }, { handle: 'lives' }), ofPackage);
    const alsoFile = { ...ofPackage, files: [fileOf('t.csv', table, 'csv')] };
    await made(await send(`/datasets/${id}/items?mode=append`, { 't.csv': table }, mapping), alsoFile);
    const other = await packageOf(8);
    const twice = { ...ofPackage, files: [...alsoFile.files, fileOf('q.pkg.zip', other, 'package')] };
    await made(await send(`/datasets/${id}/items?mode=append`, { 'q.pkg.zip': other }), twice);
    // A restored version has that of what it restores.
    await made(await change('POST', `/datasets/${id}/restore`, { version: 2 }), appended);
    const d = fileOf('d.jsonl', item(4), 'jsonl');
    const again = { source: 'file', files: [...appended.files, d] };
    await made(await send(`/datasets/${id}/items?mode=append`, { 'd.jsonl': item(4) }), again);

    const listed = await get(`/datasets/${id}/versions`);
    expect(listed.data).toMatchObject(
      versions
        .slice(1)
        .map((schema) => ({ schema }))
        .reverse(),
    );
    for (const [version, schema] of versions.entries()) {
      if (version === 0) continue;
      const whole = await get(`/datasets/${id}?version=${version}`);
      expect(whole.schema.files).toEqual(schema.files);
      expect(whole).toMatchObject({ schema });
      const open = await api.store.datasets.open(id, { version });
      expect(JSON.parse(open.dataset.schema)).toEqual(whole.schema);
      await open[Symbol.asyncDispose]();
    }
    expect((await get('/datasets?name=Lives')).data[0].schema.files).toEqual(again.files);
    const card = await get('/datasets/svc/lives/resolve/main/README.md');
    for (const { name } of again.files) expect(card).toContain(name);
    const cardOfPackage = await get('/datasets/svc/lives/resolve/v9/README.md');
    expect(cardOfPackage).toContain('q.pkg.zip');
    // What no version comes from any more is gone.
    for (const version of [1, 2, 3, 4, 5, 6, 7, 8]) {
      await fetch(`${api.url}/datasets/${id}/versions/${version}`, { method: 'DELETE' });
    }
    expect((await get(`/datasets/${id}?version=9`)).schema.files).toEqual(twice.files);
    expect((await get(`/datasets/${id}`)).schema.files).toEqual(again.files);
  });

  it('keeps the run of a package with the version that it makes', async () => {
    const { id } = await send('/datasets/upload', { 'a.jsonl': item(1) + item(7) }, { handle: 'runs' });
    const answer = await send(
      '/datasets/upload?if_exists=version',
      { 'p.pkg.zip': await packageOf(7, true) },
      { handle: 'runs' },
    );
    const appended = await send(`/datasets/${id}/items?mode=append`, {
      'p.pkg.zip': await packageOf(9, true),
    });
    const { data } = await get(`/runs?dataset_id=${id}`);
    expect(data).toMatchObject([
      { id: appended.run_id, dataset_version: 3, imported: true, counts: { ok: 1 } },
      { id: answer.run_id, dataset_version: 2, imported: true, counts: { ok: 1 } },
    ]);
    const results = await get(`/runs/${appended.run_id}/results`);
    expect(results.data).toMatchObject([{ section: 'default', order_index: 1, item_id: 9 }]);
  });
});
