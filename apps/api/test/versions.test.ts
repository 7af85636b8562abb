import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importItems, metaOf, writeSections } from '../../../packages/service/test/store/import-items.ts';
import { queryDatabase } from '../../../packages/service/test/store/query-database.ts';
import { times } from '../../../tools/vitest/long.ts';
import { makePackage, uploadForm } from './make-package.ts';
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
    const target = { kind: 'version', change: { datasetId: id, mode: 'replace' } } as const;
    await using draft = await api.store.datasets.begin({ target });
    await writeSections(draft, { default: items });
    await draft.commit({ dataset: metaOf() });
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

it('names the version of a cursor that is deleted', async () => {
  const id = await dataset([item(1), item(2)], [item(3)]);
  const { next_cursor: cursor } = (await call(`/datasets/${id}/items?version=1&limit=1`)).body.meta;
  await call(`/datasets/${id}/versions/1`, { method: 'DELETE' });
  const next = `/datasets/${id}/items?cursor=${cursor}`;
  expect(await call(next)).toMatchObject({ status: 404, body: { code: 'version_not_found' } });
  await call(`/datasets/${id}`, { method: 'DELETE' });
  expect(await call(next)).toMatchObject({ status: 404, body: { code: 'dataset_not_found' } });
});

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

  it('keeps assets as long as a version links them', async () => {
    const withFiles = (...texts: readonly string[]): string[] =>
      texts.map((text) =>
        JSON.stringify({
          assets: {
            a: { data: Buffer.from(text).toString('base64'), encoding: 'base64', mime_type: 'text/plain' },
          },
        }),
      );
    const id = await dataset(withFiles('kept', 'left'), withFiles('kept'), withFiles('left', 'kept'));
    const hashes = (): Promise<unknown[]> =>
      queryDatabase(
        api.databaseUrl,
        `SELECT convert_from(a.bytes, 'UTF8') AS text FROM assets a WHERE a.bytes IN ('kept', 'left') ORDER BY 1`,
      );
    const collect = async (): Promise<void> => {
      await api.store.datasets.collect();
      await api.store.assets.collect();
    };
    const readFiles = async (version: number): Promise<unknown[]> => {
      const { body } = await call(`/datasets/${id}/items?assets=link&version=${version}`);
      const urls: string[] = body.data.map((entry: Body) => entry.item.assets.a.url);
      return await Promise.all(urls.map(async (url) => (await call(url)).body));
    };
    await post(id, 'mode=replace', lines(...withFiles('kept')));
    await collect();
    expect(await readFiles(1)).toEqual(['kept', 'left']);
    await call(`/datasets/${id}/versions/1`, { method: 'DELETE' });
    await collect();
    expect(await readFiles(2)).toEqual(['kept']);
    expect(await readFiles(3)).toEqual(['left', 'kept']);
    await call(`/datasets/${id}/versions/3`, { method: 'DELETE' });
    await collect();
    expect(await readFiles(4)).toEqual(['kept']);
    expect(await hashes()).toEqual([{ text: 'kept' }]);
    await call(`/datasets/${id}`, { method: 'DELETE' });
    await collect();
    expect(await hashes()).toEqual([]);
  });

  it('runs and exports the version that is named', async () => {
    const id = await dataset([item(1)], [item(1), item(2)]);
    const config = ECHO;
    const run = await send('POST', '/runs', { dataset_id: id, version: 1, config });
    expect(run.body).toMatchObject({ dataset_version: 1, counts: { total: 1 }, plan: { items: 1 } });
    expect((await send('POST', '/runs', { dataset_id: id, version: '7', config })).body.code).toBe(
      'version_not_found',
    );
    const ofRun = await call(`/datasets/${id}/export?run_id=${run.body.id}&allow_incomplete=true`);
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
    const remove = (version: number, query = '', headers = {}): Promise<Answer> =>
      call(`/datasets/${id}/versions/${version}${query}`, { method: 'DELETE', headers });
    expect(await remove(1, '?runs=delete', { 'If-Match': `"${second}"` })).toMatchObject({
      status: 412,
      body: { code: 'version_changed' },
    });
    expect(await remove(3)).toMatchObject({ status: 409, body: { code: 'newest_version' } });
    expect(await remove(1)).toMatchObject({ status: 409, body: { code: 'version_has_runs' } });
    expect((await remove(1, '?runs=delete', { 'If-Match': `"${first}"` })).status).toBe(204);
    expect(await remove(1)).toMatchObject({ status: 404, body: { code: 'version_not_found' } });
    expect((await call(`/datasets/${id}`)).body).toMatchObject({ version: 3, version_count: 2 });
    expect((await call(`/runs?dataset_id=${id}`)).body.data).toEqual([]);
  });

  it('restores once for one key, whatever was stored in the meantime', async () => {
    const id = await dataset([item(1)], [item(2)]);
    const headers = { 'Idempotency-Key': `restore-${id}` };
    const restore = (body: object): Promise<Answer> => send('POST', `/datasets/${id}/restore`, body, headers);
    const first = await restore({ version: 1 });
    expect(first).toMatchObject({ status: 201, body: { version: 3 } });
    expect((await post(id, 'mode=append', lines(item(3)))).body.version).toBe(4);
    const again = await restore({ version: 1 });
    expect(again).toMatchObject({ status: 201, body: first.body });
    expect(again.headers.get('location')).toBe(first.headers.get('location'));
    expect((await restore({ version: 2 })).body.code).toBe('idempotency_key_reused');
    expect((await restore({ version: 1, message: 'x' })).body.code).toBe('idempotency_key_reused');
    expect((await call(`/datasets/${id}`)).body.version).toBe(4);
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

const post = (
  id: string,
  query: string,
  body: string | FormData,
  headers: Record<string, string> = {},
): Promise<Answer> =>
  call(`/datasets/${id}/items?${query}`, {
    method: 'POST',
    headers: typeof body === 'string' ? { 'content-type': 'application/jsonl', ...headers } : headers,
    body,
  });

const formOf = (files: Record<string, string>, fields: Record<string, string> = {}): FormData => {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  for (const [name, content] of Object.entries(files)) form.append('file', new Blob([content]), name);
  return form;
};

const textOf = async (id: string, query = ''): Promise<string> =>
  (await call(`/datasets/${id}/items.jsonl${query}`)).body;

/** What must hold after a request that was refused. */
async function expectUnchanged(id: string, work: () => Promise<unknown>): Promise<void> {
  const before = await call(`/datasets/${id}`);
  const items = await textOf(id);
  await work();
  expect((await call(`/datasets/${id}`)).body).toEqual(before.body);
  expect(await textOf(id)).toBe(items);
}

describe('POST /datasets/{id}/items', () => {
  it('appends, upserts and replaces lines of items', async () => {
    const id = await dataset([item(1), item(2)]);
    const appended = await post(id, 'mode=append&message=more', lines(item(3)));
    expect(appended).toMatchObject({
      status: 201,
      body: { id, version: 2, item_count: 3, change: { added: 1, changed: 0, removed: 0 } },
    });
    expect(appended.headers.get('location')).toBe(`/datasets/${id}?version=2`);
    const upserted = await post(id, 'mode=upsert', lines(item(2, 'new'), item(4)), {
      'X-Version-Message': 'caf%C3%A9',
    });
    expect(upserted).toMatchObject({ status: 201, body: { version: 3, change: { added: 1, changed: 1 } } });
    expect(await textOf(id)).toBe(lines(item(1), item(2, 'new'), item(3), item(4)));
    const again = await post(id, 'mode=upsert', lines(item(4)));
    expect(again).toMatchObject({ status: 200, body: { version: 3, change: { added: 0, changed: 0 } } });
    const replaced = await post(id, 'mode=replace', lines(item(9)));
    expect(replaced).toMatchObject({ status: 201, body: { version: 4, item_count: 1 } });
    expect(await textOf(id)).toBe(lines(item(9)));
    expect(await textOf(id, '?version=1')).toBe(lines(item(1), item(2)));
    const { data } = (await call(`/datasets/${id}/versions`)).body;
    expect(data.map(({ source, message }: Body) => [source, message])).toEqual([
      ['replace', null],
      ['upsert', 'café'],
      ['append', 'more'],
      ['upload', null],
    ]);
    const fresh = await call('/datasets/upload', {
      method: 'POST',
      body: formOf({ 'a.jsonl': lines(item(9)) }),
    });
    expect(fresh.body.version_hash).toBe(replaced.body.version_hash);
  });

  it('takes tables, several files and packages as uploads do', async () => {
    const id = await dataset([item(1)]);
    const mapping = JSON.stringify({ prompt_column: 'q' });
    const table = formOf({ 'a.csv': 'q\none\ntwo\n' }, { mapping, message: 'rows', name: 'other' });
    expect(await post(id, 'mode=append', table)).toMatchObject({
      status: 201,
      body: { name: 'a dataset', sections: [{ name: 'default', item_count: 3 }] },
    });
    const files = formOf({ 'x.jsonl': lines(item(5)), 'default.jsonl': lines(item(6)) });
    expect((await post(id, 'mode=append', files)).body.sections).toMatchObject([
      { name: 'default', item_count: 4 },
      { name: 'x', item_count: 1 },
    ]);
    const pkg = await makePackage({ 'sections/x.jsonl': lines(item(7)) });
    expect((await post(id, 'mode=append', uploadForm(pkg))).body.sections).toMatchObject([
      { name: 'default', item_count: 4 },
      { name: 'x', item_count: 2 },
    ]);
    // With several sections, items of a body that names none go to the section of the query, else to `default`.
    expect((await post(id, 'mode=append&section=y', lines(item(8)))).body.sections).toMatchObject([
      { name: 'default', item_count: 4 },
      { name: 'x', item_count: 2 },
      { name: 'y', item_count: 1 },
    ]);
    expect((await post(id, 'mode=append&section=y', uploadForm(pkg))).body.detail).toContain('section');
    expect((await call(`/datasets/${id}/versions?limit=100`)).body.data[3].message).toBe('rows');
  });

  it('numbers rows without an id from the end of their section, also at the same time', async () => {
    const rows = (count: number): FormData =>
      formOf({ 'a.csv': `q\n${'why?\n'.repeat(count)}` }, { mapping: '{"prompt_column":"q"}' });
    const { body } = await call('/datasets/upload', { method: 'POST', body: rows(3) });
    const { id } = body;
    await Promise.all([2, 1, 3, 1].map((count) => post(id, 'mode=append', rows(count))));
    const numbered = Array.from({ length: 10 }, (_, index) => `default-${index}`);
    expect(idsOf(await call(`/datasets/${id}/items`))).toEqual(numbered);
    // A dry run counts on from there too, and takes no number.
    expect((await post(id, 'mode=append&dry_run=true', rows(1))).body).toMatchObject({ item_count: 11 });
    // Where an item was removed, no number comes twice.
    await send('PATCH', `/datasets/${id}/items`, { edits: [{ item_id: 'default-4', remove: true }] });
    await post(id, 'mode=append', rows(1));
    expect(idsOf(await call(`/datasets/${id}/items`)).at(-1)).toBe('default-10');
    // A section of the query, and one of the file.
    await post(id, 'mode=append&section=more', rows(1));
    await post(id, 'mode=append&section=more', rows(2));
    const more = await call(`/datasets/${id}/items?section=more`);
    expect(idsOf(more)).toEqual(['more-0', 'more-1', 'more-2']);
    const several = formOf(
      { 'more.csv': 'q\nwho?\n', 'new.csv': 'q\nwho?\n' },
      { mapping: '{"prompt_template":"{q}"}' },
    );
    await post(id, 'mode=append', several);
    expect(idsOf(await call(`/datasets/${id}/items?section=more`)).at(-1)).toBe('more-3');
    expect(idsOf(await call(`/datasets/${id}/items?section=new`))).toEqual(['new-0']);
    // A replacement begins anew.
    await post(id, 'mode=replace', rows(2));
    expect(idsOf(await call(`/datasets/${id}/items`))).toEqual(['default-0', 'default-1']);
  });

  it('says what a change would do, and stores nothing', async () => {
    const id = await dataset([item(1)]);
    await expectUnchanged(id, async () => {
      const dry = await post(id, 'mode=append&dry_run=true', lines(item(2)));
      expect(dry).toMatchObject({ status: 200, body: { change: { added: 1 }, errors: [], item_count: 2 } });
      const checked = await call(`/datasets/${id}/items/check?mode=append`, {
        method: 'POST',
        headers: { 'content-type': 'application/jsonl' },
        body: lines(item(2)),
      });
      expect(checked.body).toEqual(dry.body);
      expect((await post(id, 'mode=append&dry_run=true', '[]\n{}\n')).body).toMatchObject({
        version_hash: null,
        errors: [{ line: 1 }],
        errors_total: 1,
      });
      expect(dry.body.version_hash).not.toBe((await call(`/datasets/${id}`)).body.version_hash);
    });
  });

  it('compares a large body as the change would, and leaves nothing of it in the tables', async () => {
    const stored = Array.from({ length: 300 }, (_, n) => item(n, `p ${n} ${'x'.repeat(2_000)}`));
    const body = lines(...stored.slice(100), item(7, 'other'), item('new', 'y'.repeat(90_000)));
    const size = async (): Promise<unknown> =>
      await queryDatabase(api.databaseUrl, `SELECT pg_total_relation_size('items') AS bytes`);
    const ids = [];
    for (const mode of ['append', 'upsert', 'replace']) ids.push([mode, await dataset(stored)] as const);
    for (const [mode, id] of ids) {
      const before = await size();
      const dry = await post(id, `mode=${mode}&dry_run=true`, body);
      expect(await size()).toEqual(before);
      const done = await post(id, `mode=${mode}`, body);
      const { change, version_hash, item_count } = done.body;
      expect([mode, dry.status, dry.body]).toMatchObject([mode, 200, { change, version_hash, item_count }]);
    }
  });

  it('refuses what is wrong, and stores nothing', async () => {
    const id = await dataset([item(1), item(1, 'again')]);
    const { version_hash: hash } = (await call(`/datasets/${id}`)).body;
    await expectUnchanged(id, async () => {
      const codeOf = async (query: string, body: string | FormData, headers = {}): Promise<unknown[]> => {
        const { status, body: problem } = await post(id, query, body, headers);
        return [status, problem.code];
      };
      expect(await codeOf('', lines(item(1)))).toEqual([400, 'invalid_request']);
      expect(await codeOf('mode=merge', lines(item(1)))).toEqual([400, 'invalid_request']);
      expect(await codeOf('mode=upsert', lines(item(1)))).toEqual([400, 'ambiguous_id']);
      expect(await codeOf('mode=upsert', lines(item(2), item(2)))).toEqual([400, 'ambiguous_id']);
      expect(await post(id, 'mode=upsert', `${item(2)}\n{}\n`)).toMatchObject({
        status: 400,
        body: { code: 'ambiguous_id', detail: 'Cannot upsert items: item 2 of the body has no id.' },
      });
      const table = (fields: object): FormData =>
        formOf({ 'a.csv': 'q,n\none,1\n' }, { mapping: JSON.stringify({ prompt_column: 'q', ...fields }) });
      for (const query of ['mode=upsert', 'mode=upsert&dry_run=true']) {
        expect(await codeOf(query, table({}))).toEqual([400, 'ambiguous_id']);
      }
      expect(await codeOf('mode=upsert&dry_run=true', table({ id_column: 'n' }))).toEqual([
        400,
        'ambiguous_id',
      ]);
      expect(await codeOf('mode=append&section=a%09b', lines(item(3)))).toEqual([400, 'invalid_request']);
      expect(await codeOf('mode=append', '{"id":\n')).toEqual([400, 'invalid_json']);
      expect(await codeOf('mode=append', '')).toEqual([400, 'unsupported_file']);
      const stale = hash.replaceAll(/./g, 'a');
      expect(await codeOf('mode=append', lines(item(3)), { 'If-Match': `"${stale}"` })).toEqual([
        412,
        'version_changed',
      ]);
      expect(
        await codeOf('mode=append', formOf({ 'a.jsonl': lines(item(3)) }, { message: 'x'.repeat(1001) })),
      ).toEqual([400, 'invalid_request']);
      for (const type of ['text/plain', 'application/json']) {
        expect(await post(id, 'mode=append', '{}', { 'content-type': type })).toMatchObject({
          status: 415,
          body: {
            code: 'unsupported_media_type',
            detail: `The body must be multipart/form-data, application/jsonl, application/x-ndjson or application/x-jsonlines, got "${type}".`,
          },
        });
      }
      expect(await codeOf('mode=append', formOf({ 'a.csv': 'a,b\n1,2\n' }))).toEqual([
        400,
        'mapping_required',
      ]);
    });
    const missing = await post('00000000-0000-4000-8000-000000000000', 'mode=append', lines(item(1)));
    expect(missing).toMatchObject({ status: 404, body: { code: 'dataset_not_found' } });
    expect((await post(id, 'mode=append', lines(item(3)), { 'If-Match': `"${hash}"` })).status).toBe(201);
    expect(await api.stagedFiles()).toEqual([]);
  });

  it('answers a repeat with the same key as before, and changes once', async () => {
    const id = await dataset([item(1)]);
    const key = { 'Idempotency-Key': `k-${id}` };
    const first = await post(id, 'mode=append', lines(item(2)), key);
    expect(await post(id, 'mode=append', lines(item(2)), key)).toMatchObject({
      status: 201,
      body: first.body,
    });
    expect((await post(id, 'mode=append', lines(item(3)), key)).body.code).toBe('idempotency_key_reused');
    expect((await post(id, 'mode=upsert', lines(item(2)), key)).body.code).toBe('idempotency_key_reused');
    expect((await call(`/datasets/${id}`)).body.version).toBe(2);
  });

  it('keeps every append of two writers once', async () => {
    const id = await dataset([item('a')]);
    const rounds = times(100, 30);
    const write = async (writer: string): Promise<void> => {
      for (let round = 0; round < rounds; round++) {
        const { status, body } = await post(id, 'mode=append', lines(item(`${writer}-${round}`)));
        expect(status, JSON.stringify(body)).toBe(201);
      }
    };
    await Promise.all([write('x'), write('y')]);
    const ids = (await textOf(id))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).id);
    expect(ids).toHaveLength(2 * rounds + 1);
    expect(new Set(ids).size).toBe(2 * rounds + 1);
    expect((await call(`/datasets/${id}`)).body).toMatchObject({
      version: 2 * rounds + 1,
      version_count: 2 * rounds + 1,
    });
  }, 120_000);

  it('counts and logs changes', async () => {
    const id = await dataset([item(1)]);
    const countOf = async (labels: string): Promise<number> => {
      const text = await api.metrics.render();
      return Number(
        text
          .split('\n')
          .find((line) => line.includes(`changes_total{${labels}}`))
          ?.split(' ')[1],
      );
    };
    const before = await countOf('mode="upsert",outcome="succeeded"');
    await post(id, 'mode=upsert', lines(item(2)));
    await post(id, 'mode=upsert', lines(item(2)));
    await post(id, 'mode=upsert', '{}\n');
    expect(await countOf('mode="upsert",outcome="succeeded"')).toBe(before + 1);
    const events = api.log().filter((line) => line['dataset_id'] === id);
    expect(events.map(({ event, outcome }) => [event, outcome])).toEqual([
      ['dataset.change.start', undefined],
      ['dataset.change.finish', 'succeeded'],
      ['dataset.change.start', undefined],
      ['dataset.change.finish', 'unchanged'],
      ['dataset.change.start', undefined],
      ['dataset.change.fail', 'failed'],
    ]);
    expect(events[1]).toMatchObject({ mode: 'upsert', version: 2, added: 1, changed: 0 });
    expect(events[5]).toMatchObject({ code: 'ambiguous_id' });
  });

  it('leaves runs and pages that began on their version', async () => {
    const id = await dataset([item(1), item(2), item(3)]);
    const { next_cursor: cursor } = (await call(`/datasets/${id}/items?limit=1`)).body.meta;
    const run = (await send('POST', '/runs', { dataset_id: id, config: ECHO })).body;
    const first = await call(`/datasets/${id}/export`);
    await post(id, 'mode=replace', lines(item(7)));
    expect(idsOf(await call(`/datasets/${id}/items?cursor=${cursor}`))).toEqual([2, 3]);
    expect((await call(`/runs/${run.id}`)).body).toMatchObject({ dataset_version: 1, counts: { total: 3 } });
    const etagOf = (answer: Answer): string | null => answer.headers.get('etag');
    expect(etagOf(await call(`/datasets/${id}/export?version=1`))).toBe(etagOf(first));
    expect(etagOf(await call(`/datasets/${id}/export`))).not.toBe(etagOf(first));
  });
});

describe('PATCH /datasets/{id}/items', () => {
  const edit = (id: string, body: object, headers = {}, query = ''): Promise<Answer> =>
    send('PATCH', `/datasets/${id}/items${query}`, body, headers);

  it('replaces and removes items by hash and id', async () => {
    const id = await dataset([item(1), item(2), item('2'), item(3)]);
    const { item_hash: hash } = (await call(`/datasets/${id}/items`)).body.data[0];
    const edits = [
      { item_hash: hash, item: { id: 1, inputs: { prompt: 'fixed' } } },
      { item_id: '2', remove: true },
      { item_id: 3, section: 'default', item: { id: 33, inputs: { prompt: 'p' } } },
    ];
    const dry = await edit(id, { edits }, {}, '?dry_run=true');
    const checked = await send('PATCH', `/datasets/${id}/items/check`, { edits });
    expect(checked).toMatchObject({ status: 200, body: dry.body });
    const done = await edit(id, { edits, message: 'typing errors' });
    expect(done).toMatchObject({ status: 201, body: { version: 2, item_count: 3 } });
    expect(dry.body).toMatchObject({ item_count: 3, version_hash: done.body.version_hash });
    expect(await textOf(id)).toBe(lines(item(1, 'fixed'), item(2), item(33, 'p')));
    expect((await call(`/datasets/${id}/versions`)).body.data[0]).toMatchObject({
      source: 'edit',
      message: 'typing errors',
    });
    const all = [1, 2, 33].map((one) => ({ item_id: one, remove: true }));
    expect((await edit(id, { edits: all })).body).toMatchObject({
      item_count: 0,
      sections: [{ name: 'default', item_count: 0 }],
    });
  });

  it('refuses what is wrong, and stores nothing', async () => {
    const id = await dataset([item(1), item(2), item(2)]);
    const { item_hash: hash } = (await call(`/datasets/${id}/items`)).body.data[0];
    const remove = (one: unknown): object => ({ item_id: one, remove: true });
    await expectUnchanged(id, async () => {
      const codeOf = async (edits: unknown, headers = {}): Promise<unknown[]> => {
        const { status, body } = await edit(id, { edits }, headers);
        return [status, body.code];
      };
      expect(await codeOf([remove(1), remove(9)])).toEqual([404, 'item_not_found']);
      expect(await codeOf([remove('1')])).toEqual([404, 'item_not_found']);
      expect(await codeOf([{ ...remove(1), section: 'none' }])).toEqual([404, 'section_not_found']);
      expect(await codeOf([remove(2)])).toEqual([400, 'ambiguous_id']);
      expect(await codeOf([remove(1), { item_hash: hash, remove: true }])).toEqual([400, 'ambiguous_id']);
      expect(await codeOf([remove(1)], { 'If-Match': `"${'a'.repeat(64)}"` })).toEqual([
        412,
        'version_changed',
      ]);
      for (const wrong of [
        [],
        Array.from({ length: 1001 }, (_, index) => remove(index)),
        [{ remove: true }],
        [{ item_id: 1 }],
        [{ item_id: 1, item_hash: hash, remove: true }],
        [{ item_id: 1, item: {}, remove: true }],
        [{ item_id: 1, item: [] }],
      ])
        expect(await codeOf(wrong)).toEqual([400, 'invalid_request']);
      const kept = await edit(id, { edits: [{ item_id: 1, remove: false }] });
      expect(kept.body.errors).toEqual([
        { path: '/edits/0/remove', message: expect.stringContaining('must be true') },
      ]);
      const faulty = await edit(id, { edits: [remove(1), { item_id: 1, item: { assets: 7 } }] });
      expect(faulty).toMatchObject({ status: 400, body: { errors: [{ path: '/edits/1/item/assets' }] } });
      const several = [
        { item_id: 1, item: { assets: 7 } },
        remove(2),
        { item_id: 1, item: { inputs: { prompt: 1 } } },
      ];
      const wanted = await edit(id, { edits: several });
      const dry = await edit(id, { edits: several }, {}, '?dry_run=true');
      expect(wanted.body.errors.map((error: { path: string }) => error.path)).toEqual([
        '/edits/0/item/assets',
        '/edits/2/item/inputs/prompt',
      ]);
      expect(dry).toMatchObject({ status: 200, body: { errors_total: 2 } });
      expect(dry.body.errors).toEqual(wanted.body.errors);
      const tooLarge = { item_id: 1, item: { inputs: { prompt: 'x'.repeat(64 * 1024 * 1024) } } };
      expect(await codeOf([tooLarge])).toEqual([413, 'body_too_large']);
    });
  });
});

it('refuses an item that is longer than an item may be, and stores nothing', async () => {
  await using small = await startTestApi({ SVC_MAX_LINE_BYTES: '100000' });
  const { id } = await importItems(small.store.datasets, { default: [item(1)] });
  const edits = [{ item_id: 1, item: { inputs: { prompt: 'x'.repeat(100_000) } } }];
  const response = await fetch(`${small.url}/datasets/${id}/items`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ edits }),
  });
  const problem = (await response.json()) as Body;
  expect([response.status, problem.code]).toEqual([400, 'invalid_row']);
  expect(problem.errors).toMatchObject([{ code: 'line_too_long', path: '/edits/0/item' }]);
  expect((await small.store.datasets.get(id)).version).toBe(1);
});

describe('if_exists', () => {
  const upload = (query: string, fields: Record<string, string>, ...items: string[]): Promise<Answer> =>
    call(`/datasets/upload${query}`, {
      method: 'POST',
      body: formOf({ 'a.jsonl': lines(...items) }, fields),
    });

  it('reuses, versions or refuses the dataset of a handle', async () => {
    const first = await upload('', { handle: 'nightly', message: 'first' }, item(1));
    expect(first).toMatchObject({ status: 201, body: { handle: 'nightly' } });
    const { id } = first.body;
    expect((await call(`/datasets/${id}/versions`)).body.data[0].message).toBe('first');
    const codeOf = async (answer: Promise<Answer>): Promise<unknown[]> => {
      const { status, body } = await answer;
      return [status, body.code];
    };
    expect(await codeOf(upload('', { handle: 'Nightly' }, item(1)))).toEqual([409, 'handle_taken']);
    expect(await codeOf(upload('?if_exists=error', { handle: 'nightly' }, item(2)))).toEqual([
      409,
      'dataset_exists',
    ]);
    expect(await upload('?if_exists=reuse', { handle: 'NIGHTLY' }, item(1))).toMatchObject({
      status: 200,
      body: { id },
    });
    expect(await codeOf(upload('?if_exists=reuse', { handle: 'nightly' }, item(2)))).toEqual([
      409,
      'handle_taken',
    ]);
    expect(await codeOf(upload('?if_exists=version', {}, item(2)))).toEqual([400, 'invalid_request']);
    const next = await upload('?if_exists=version', { handle: 'nightly', name: 'x' }, item(2));
    expect(next).toMatchObject({ status: 201, body: { id, version: 2, name: 'a' } });
    expect(await upload('?if_exists=version', { handle: 'nightly' }, item(2))).toMatchObject({ status: 200 });
    expect((await call(`/datasets/${id}/versions`)).body.data[0].source).toBe('upload');
    const made = await upload('?if_exists=version', { handle: 'weekly' }, item(2));
    expect(made).toMatchObject({ status: 201, body: { handle: 'weekly', version: 1 } });
    expect(await codeOf(upload('', { handle: 'a--b' }, item(1)))).toEqual([400, 'invalid_request']);
  });

  it('makes versions of one dataset of concurrent requests with a new handle', async () => {
    const handled = (query: string, handle: string): Promise<Answer[]> =>
      Promise.all([1, 2, 3, 4].map((number) => upload(query, { handle }, item(number))));
    const all = await handled('?if_exists=version', 'raced');
    expect(all.map(({ status, body }) => [status, body.version]).sort()).toEqual(
      [1, 2, 3, 4].map((version) => [201, version]),
    );
    expect(new Set(all.map(({ body }) => body.id)).size).toBe(1);
    const plain = await handled('', 'raced-plain');
    expect(plain.map(({ status, body }) => [status, body.code]).sort()).toEqual([
      [201, undefined],
      ...[1, 2, 3].map(() => [409, 'handle_taken']),
    ]);
  });

  it('reuses or refuses a dataset of the same name and hash, also of concurrent requests', async () => {
    const key = { 'Idempotency-Key': 'reuse-1' };
    const both = await Promise.all(
      [1, 2, 3].map(() => upload('?if_exists=reuse', { name: 'twins' }, item(1))),
    );
    expect(both.map(({ status }) => status).sort()).toEqual([200, 200, 201]);
    expect(new Set(both.map(({ body }) => body.id)).size).toBe(1);
    expect((await call('/datasets?name=twins')).body.meta.total_items).toBe(1);
    expect(await upload('?if_exists=error', { name: 'twins' }, item(1))).toMatchObject({
      status: 409,
      body: { code: 'dataset_exists' },
    });
    expect((await upload('?if_exists=error', { name: 'twins' }, item(2))).status).toBe(201);
    const keyed = (): Promise<Answer> =>
      call('/datasets/upload?if_exists=reuse', {
        method: 'POST',
        headers: key,
        body: formOf({ 'a.jsonl': lines(item(1)) }, { name: 'twins' }),
      });
    expect((await keyed()).body).toEqual((await keyed()).body);
    expect((await upload('', { name: 'twins' }, item(1))).status).toBe(201);
  });

  it('refuses a key with another message or another If-Match', async () => {
    const send = (query: string, headers: Record<string, string>): Promise<Answer> =>
      call(`/datasets/upload?if_exists=version${query}`, {
        method: 'POST',
        headers: { 'Idempotency-Key': 'facts', ...headers },
        body: formOf({ 'a.jsonl': lines(item(1)) }, { handle: 'facts' }),
      });
    const first = await send('&message=a', {});
    expect(first.status).toBe(201);
    expect(await send('', { 'X-Version-Message': 'a' })).toMatchObject({ status: 201, body: first.body });
    for (const [query, headers] of [
      ['', {}],
      ['&message=b', {}],
      ['', { 'X-Version-Message': 'b' }],
      ['&message=a', { 'If-Match': `"${'0'.repeat(64)}"` }],
    ] as const) {
      expect(await send(query, headers)).toMatchObject({
        status: 409,
        body: { code: 'idempotency_key_reused' },
      });
    }
  });
});
