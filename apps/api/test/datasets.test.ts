import { afterAll, beforeAll, expect, it } from 'vitest';
import { makePackage, uploadForm } from './make-package.ts';
import { startTestApi, type TestApi } from './start-test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api[Symbol.asyncDispose]());

interface Page {
  data: Record<string, unknown>[];
  meta: { limit: number; next_cursor: string | null; total_items: number };
}
const get = async <T = Page>(path: string): Promise<T> => (await (await fetch(api.url + path)).json()) as T;

async function upload(name: string, files: Record<string, string>): Promise<string> {
  const form = uploadForm(await makePackage(files), { name });
  const response = await fetch(`${api.url}/datasets/upload`, { method: 'POST', body: form });
  expect(response.status).toBe(201);
  return ((await response.json()) as { id: string }).id;
}

/** Follows the cursors to the end. */
async function all(path: string): Promise<Record<string, unknown>[]> {
  const found: Record<string, unknown>[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const page: Page = await get(
      `${path}${path.includes('?') ? '&' : '?'}limit=2${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
    );
    found.push(...page.data);
    cursor = page.meta.next_cursor;
  }
  return found;
}

it('lists newest first, page by page, stable while datasets are added', async () => {
  for (const name of ['one', 'two', 'three', 'two'])
    await upload(name, { 'sections/s.jsonl': `{"id":"${name}"}` });
  const first = await get('/datasets?limit=2');
  expect(first.meta).toMatchObject({ limit: 2, total_items: 4 });
  expect(first.data.map(({ name }) => name)).toEqual(['two', 'three']);
  await upload('later', { 'sections/s.jsonl': '{}' });
  const second = await get(`/datasets?limit=2&cursor=${encodeURIComponent(first.meta.next_cursor ?? '')}`);
  expect(second.data.map(({ name }) => name)).toEqual(['two', 'one']);
  expect(second.meta.next_cursor).toBeNull();
  expect((await get('/datasets')).meta).toEqual({ limit: 50, next_cursor: null, total_items: 5 });
});

it('filters by name, part, source and hash', async () => {
  const id = await upload('Needle %_', { 'sections/s.jsonl': '{"needle":1}' });
  const { version_hash: hash } = await get<{ version_hash: string }>(`/datasets/${id}`);
  for (const [query, count] of [
    [`name=${encodeURIComponent('Needle %_')}`, 1],
    ['name=needle', 0],
    [`q=${encodeURIComponent('eeDLE %_')}`, 1],
    ['q=%25', 1],
    [`version_hash=${hash}`, 1],
    ['source=hub', 0],
    [`source=pkg_zip&version_hash=${hash}`, 1],
  ] as const) {
    expect([query, (await get(`/datasets?${query}`)).meta.total_items]).toEqual([query, count]);
  }
});

it('pages through sections and items in their order, with filters', async () => {
  const id = await upload('items', {
    'sections/b.jsonl': '{"id":1}\n{"id":2,"type":"exact"}\n{"id":3}\n',
    'sections/a.jsonl': '{"id":4}\n{"id":5,"inputs":{"prompt":"Find ME"}}\n',
    'sections/é.jsonl': '',
  });
  expect((await all(`/datasets/${id}/sections`)).map(({ name, item_count }) => [name, item_count])).toEqual([
    ['a', 2],
    ['b', 3],
    ['é', 0],
  ]);
  const items = await all(`/datasets/${id}/items`);
  expect(
    items.map(({ section, order_index, item }) => [section, order_index, (item as { id: number }).id]),
  ).toEqual([
    ['a', 0, 4],
    ['a', 1, 5],
    ['b', 0, 1],
    ['b', 1, 2],
    ['b', 2, 3],
  ]);
  const ids = async (query: string): Promise<unknown[]> =>
    (await all(`/datasets/${id}/items?${query}`)).map(({ item }) => (item as { id: number }).id);
  expect(await ids('section=b')).toEqual([1, 2, 3]);
  expect(await ids('type=exact')).toEqual([2]);
  expect(await ids('type=freeform')).toEqual([4, 5, 1, 3]);
  expect(await ids('q=find+me')).toEqual([5]);
  expect(await ids('type=exact&section=a')).toEqual([]);
  expect(await ids('type=numeric')).toEqual([]);
  for (const [path, code, detail] of [
    ['items?section=none', 'section_not_found', 'The dataset has no section "none".'],
    ['items.jsonl?section=none', 'section_not_found', 'The dataset has no section "none".'],
    [
      'items?type=freefrom',
      'not_found',
      'The dataset has no item of type "freefrom"; the format defines freeform, multiple_choice, exact, numeric, code.',
    ],
  ]) {
    const response = await fetch(`${api.url}/datasets/${id}/${path}`);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code, detail });
  }
  expect((await get(`/datasets/${id}/items?section=b&limit=1`)).meta.total_items).toBe(3);
  expect(await (await fetch(`${api.url}/datasets/${id}/items.jsonl?section=a`)).text()).toBe(
    '{"id":4}\n{"id":5,"inputs":{"prompt":"Find ME"}}\n',
  );
});

it('changes what may change, and nothing else', async () => {
  const id = await upload('before', { 'sections/s.jsonl': '{}' });
  const before = await get<Record<string, unknown>>(`/datasets/${id}`);
  const response = await fetch(`${api.url}/datasets/${id}`, {
    method: 'PATCH',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'after', notes: 'n' }),
  });
  expect(response.status).toBe(200);
  const after = await get<Record<string, unknown>>(`/datasets/${id}`);
  expect(after).toEqual({ ...before, name: 'after', notes: 'n', updated_at: after['updated_at'] });
  expect(await response.json()).toEqual(after);
});

it('deletes a dataset with its items', async () => {
  const id = await upload('gone', { 'sections/s.jsonl': '{}' });
  expect((await fetch(`${api.url}/datasets/${id}`, { method: 'DELETE' })).status).toBe(204);
  for (const path of ['', '/sections', '/items', '/items.jsonl']) {
    const response = await fetch(`${api.url}/datasets/${id}${path}`);
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([
      404,
      'dataset_not_found',
    ]);
  }
  expect((await fetch(`${api.url}/datasets/${id}`, { method: 'DELETE' })).status).toBe(404);
});

it('leaves the blobs of a large package out of summaries, and shows them in the dataset', async () => {
  const big = 'x'.repeat(70_000);
  const id = await upload('big', { 'sections/s.jsonl': '{}', 'meta.json': JSON.stringify({ big }) });
  const summary = (await get('/datasets?name=big')).data[0] as { schema: unknown };
  expect(summary.schema).toEqual({ source: 'pkg_zip', package: null, truncated: true });
  const whole = await get<{ schema: { package: { meta: { big: string } } } }>(`/datasets/${id}`);
  expect(whole.schema.package.meta.big).toBe(big);
});
