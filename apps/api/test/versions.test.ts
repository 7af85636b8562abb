import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importItems, writeSections } from '../../../prisma/test/import-items.ts';
import { queryDatabase } from '../../../prisma/test/query-database.ts';
import { startTestApi, type TestApi } from './start-test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api[Symbol.asyncDispose]());

// biome-ignore lint/suspicious/noExplicitAny: bodies have every shape
type Body = any;
interface Answer {
  readonly status: number;
  readonly body: Body;
  readonly headers: Headers;
}

async function call(path: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(api.url + path, init);
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') === true;
  return {
    status: response.status,
    body: isJson && !path.includes('.jsonl') ? JSON.parse(text) : text,
    headers: response.headers,
  };
}

const send = (
  method: string,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> =>
  call(path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

/** A run that asks no provider. */
const ECHO = { provider: { type: 'echo' }, allow_unscored: true };

const item = (id: number | string, prompt: string = `p ${id}`): string =>
  JSON.stringify({ id, inputs: { prompt } });
const lines = (...items: readonly string[]): string => items.map((line) => `${line}\n`).join('');

/** A dataset with one section of these items, and then a version for each further list. */
async function dataset(...versions: readonly (readonly string[])[]): Promise<string> {
  const [first = [], ...others] = versions;
  const { id } = await importItems(api.store.datasets, { default: first });
  for (const items of others) {
    await using draft = await api.store.datasets.begin();
    await writeSections(draft, { default: items });
    await draft.change({ change: { datasetId: id, mode: 'replace' } });
  }
  return id;
}

let handles = 0;
async function handleOf(id: string): Promise<string> {
  const handle = `Set-${handles++}.a`;
  expect(await send('PATCH', `/datasets/${id}`, { handle })).toMatchObject({ status: 200, body: { handle } });
  return handle;
}

const idsOf = (page: Answer): unknown[] => page.body.data.map((entry: Body) => entry.item.id);

describe('handles', () => {
  it('stand wherever an id does, in any case', async () => {
    const id = await dataset([item(1)], [item(1), item(2)]);
    const handle = (await handleOf(id)).toUpperCase();
    for (const path of ['', '/items', '/sections', '/versions', '/items.csv', '/items.jsonl', '/export'])
      expect([path, (await call(`/datasets/${handle}${path}`)).status]).toEqual([path, 200]);
    expect((await call(`/datasets/${handle}`)).body.id).toBe(id);
    const run = await send('POST', '/runs', { dataset_id: handle, config: ECHO });
    expect(run).toMatchObject({ status: 202, body: { dataset_id: id, dataset_version: 2 } });
    expect((await call(`/runs?dataset_id=${handle}`)).body.data).toHaveLength(1);
    expect(await call('/runs?dataset_id=nothing')).toMatchObject({
      status: 404,
      body: { code: 'dataset_not_found' },
    });
  });

  it('are unique, may be removed, and follow the rules for names', async () => {
    const [one, other] = [await dataset([item(1)]), await dataset([item(1)])];
    const handle = await handleOf(one);
    const taken = await send('PATCH', `/datasets/${other}`, { handle: handle.toLowerCase() });
    expect(taken).toMatchObject({ status: 409, body: { code: 'handle_taken' } });
    for (const wrong of ['', 'a b', '-a', 'a-', 'a--b', 'x.git', 'HUB', 'svc', 'a'.repeat(97), one])
      expect([wrong, (await send('PATCH', `/datasets/${other}`, { handle: wrong })).status]).toEqual([
        wrong,
        400,
      ]);
    expect((await send('PATCH', `/datasets/${handle}`, { handle: null })).body.handle).toBeNull();
    expect((await call(`/datasets/${handle}`)).status).toBe(404);
    expect((await send('PATCH', `/datasets/${other}`, { handle })).status).toBe(200);
  });
});

describe('reading a version', () => {
  it('gives what that version has, by number and by hash, at every endpoint', async () => {
    const id = await dataset([item(1), item(2)], [item(1), item(3), item(4)]);
    const first = await call(`/datasets/${id}?version=1`);
    const hash = first.body.version_hash as string;
    expect(first.body).toMatchObject({ version: 1, version_count: 2, item_count: 2 });
    expect((await call(`/datasets/${id}`)).body).toMatchObject({ version: 2, item_count: 3 });
    for (const version of ['1', hash, hash.slice(0, 8)]) {
      expect(idsOf(await call(`/datasets/${id}/items?version=${version}`))).toEqual([1, 2]);
      expect((await call(`/datasets/${id}/items.jsonl?version=${version}`)).body).toBe(
        lines(item(1), item(2)),
      );
      expect((await call(`/datasets/${id}/items.csv?version=${version}&columns=id`)).body).toBe('id\n1\n2\n');
      const sections = await call(`/datasets/${id}/sections?version=${version}`);
      expect(sections.body.data).toMatchObject([{ item_count: 2 }]);
    }
    expect(idsOf(await call(`/datasets/${id}/items`))).toEqual([1, 3, 4]);
  });

  it('refuses versions that are not there, and hashes of several', async () => {
    const id = await dataset([item(1)], [item(2)]);
    for (const version of ['3', '0', 'abcdef01', 'abc', '99999999999'])
      expect([version, (await call(`/datasets/${id}/items?version=${version}`)).body.code]).toEqual([
        version,
        'version_not_found',
      ]);
    expect((await call(`/datasets/${id}?version=`)).status).toBe(400);
    await queryDatabase(
      api.databaseUrl,
      `UPDATE versions SET version_hash = 'abcdef12' || substr(version_hash, 9) WHERE dataset_id = '${id}'`,
    );
    expect(await call(`/datasets/${id}/export?version=abcdef12`)).toMatchObject({
      status: 400,
      body: { code: 'ambiguous_version' },
    });
  });

  it('keeps cursors in their version', async () => {
    const id = await dataset([item(1), item(2), item(3)], [item(4), item(5), item(6)]);
    const { next_cursor: cursor } = (await call(`/datasets/${id}/items?version=1&limit=1`)).body.meta;
    expect(idsOf(await call(`/datasets/${id}/items?cursor=${cursor}`))).toEqual([2, 3]);
    expect(idsOf(await call(`/datasets/${id}/items?version=1&cursor=${cursor}`))).toEqual([2, 3]);
    expect(await call(`/datasets/${id}/items?version=2&cursor=${cursor}`)).toMatchObject({
      status: 400,
      body: { code: 'invalid_cursor' },
    });
  });

  it('links assets of the version', async () => {
    const withFile = (text: string): string =>
      JSON.stringify({
        assets: {
          a: { data: Buffer.from(text).toString('base64'), encoding: 'base64', mime_type: 'text/plain' },
        },
      });
    const id = await dataset([withFile('old')], [withFile('new')]);
    const urlOf = async (query: string): Promise<string> =>
      (await call(`/datasets/${id}/items?assets=link${query}`)).body.data[0].item.assets.a.url;
    const old = await urlOf('&version=1');
    expect(old).toMatch(/\?version=1$/);
    expect(await urlOf('')).not.toContain('?');
    expect((await call(old)).body).toBe('old');
    expect(await call(old.replace('version=1', 'version=2'))).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
    expect((await call(`/datasets/${id}/items.jsonl?assets=link&version=1`)).body).toContain(old);
  });

  it('runs and exports the version that is named', async () => {
    const id = await dataset([item(1)], [item(1), item(2)]);
    const config = ECHO;
    const run = await send('POST', '/runs', { dataset_id: id, version: 1, config });
    expect(run.body).toMatchObject({ dataset_version: 1, counts: { total: 1 }, plan: { items: 1 } });
    expect((await send('POST', '/runs', { dataset_id: id, version: '7', config })).body.code).toBe(
      'version_not_found',
    );
    const ofRun = await call(`/datasets/${id}/export?run_id=${run.body.id}`);
    const ofFirst = await call(`/datasets/${id}/export?version=1`);
    expect(ofRun.status).toBe(200);
    expect(ofFirst.status).toBe(200);
    const other = await call(`/datasets/${id}/export?version=2&run_id=${run.body.id}`);
    expect(other).toMatchObject({ status: 404, body: { code: 'run_not_found' } });
  });
});

describe('the history', () => {
  it('lists versions, restores old ones, and deletes them', async () => {
    const id = await dataset([item(1)], [item(2)]);
    const { version_hash: first } = (await call(`/datasets/${id}?version=1`)).body;
    const { version_hash: second } = (await call(`/datasets/${id}`)).body;
    const stale = await send('POST', `/datasets/${id}/restore`, { version: 1 }, { 'If-Match': `"${first}"` });
    expect(stale).toMatchObject({ status: 412, body: { code: 'version_changed' } });
    expect(stale.body.detail).toContain(second);
    const restored = await send(
      'POST',
      `/datasets/${id}/restore`,
      { version: first.slice(0, 10) },
      { 'If-Match': `"${second}"`, 'X-Version-Message': encodeURIComponent('zurück') },
    );
    expect(restored).toMatchObject({ status: 201, body: { version: 3, version_hash: first } });
    expect(restored.headers.get('location')).toBe(`/datasets/${id}?version=3`);
    expect((await send('POST', `/datasets/${id}/restore`, { version: 1 })).status).toBe(200);
    // After the restoration, a hash names the newest of its versions.
    expect((await call(`/datasets/${id}?version=${first}`)).body.version).toBe(3);

    const history = await call(`/datasets/${id}/versions?limit=2`);
    expect(history.body.data).toMatchObject([
      { version: 3, version_hash: first, source: 'restore', message: 'zurück', author: null, run_count: 0 },
      { version: 2, source: 'replace', message: null },
    ]);
    const next = await call(`/datasets/${id}/versions?cursor=${history.body.meta.next_cursor}`);
    expect(next.body.data).toMatchObject([{ version: 1, source: 'upload' }]);

    await send('POST', '/runs', { dataset_id: id, version: 1, config: ECHO });
    const remove = (version: number, query = ''): Promise<Answer> =>
      call(`/datasets/${id}/versions/${version}${query}`, { method: 'DELETE' });
    expect(await remove(3)).toMatchObject({ status: 409, body: { code: 'newest_version' } });
    expect(await remove(1)).toMatchObject({ status: 409, body: { code: 'version_has_runs' } });
    expect((await remove(1, '?runs=delete')).status).toBe(204);
    expect(await remove(1)).toMatchObject({ status: 404, body: { code: 'version_not_found' } });
    expect((await call(`/datasets/${id}`)).body).toMatchObject({ version: 3, version_count: 2 });
    expect((await call(`/runs?dataset_id=${id}`)).body.data).toEqual([]);
  });

  it('refuses messages and conditions of a wrong form', async () => {
    const id = await dataset([item(1)], [item(2)]);
    const restore = (body: object, headers = {}, query = ''): Promise<Answer> =>
      send('POST', `/datasets/${id}/restore${query}`, { version: 1, ...body }, headers);
    expect((await restore({ message: 'x'.repeat(1001) })).status).toBe(400);
    expect((await restore({}, {}, `?message=${'x'.repeat(1001)}`)).status).toBe(400);
    expect((await restore({}, { 'X-Version-Message': '%ff' })).status).toBe(400);
    expect((await restore({}, { 'X-Version-Message': '%00' })).status).toBe(400);
    expect((await restore({}, { 'If-Match': 'abc' })).status).toBe(400);
    expect((await call(`/datasets/${id}`)).body.version).toBe(2);
    expect((await restore({ message: '🙂'.repeat(1000) })).status).toBe(201);
  });
});
