import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { times } from '../../../tools/vitest/long.ts';
import { startTestApi, type TestApi } from './start-test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ SVC_TRUST_PROXY: 'true' });
});
afterAll(() => api[Symbol.asyncDispose]());

// biome-ignore lint/suspicious/noExplicitAny: bodies have every shape
type Body = any;

const JSON_TYPE = { 'content-type': 'application/json' };
const LINES_TYPE = { 'content-type': 'application/jsonl' };

async function call(method: string, path: string, body?: string | FormData, headers = {}): Promise<Body> {
  const response = await fetch(api.url + path, { method, headers, ...(body !== undefined && { body }) });
  const text = await response.text();
  return {
    status: response.status,
    ...(/^[[{]/.test(text) && !path.includes('.jsonl') ? JSON.parse(text) : { text }),
  };
}

const linesOf = (items: readonly Body[]): string =>
  items.map((item) => `${JSON.stringify({ inputs: { prompt: 'p' }, ...item })}\n`).join('');

/** Uploads items as a file of lines. */
async function upload(lines: string, query = ''): Promise<Body> {
  const form = new FormData();
  form.append('file', new Blob([lines]), 'items.jsonl');
  const { status, ...body } = await call('POST', `/datasets/upload${query}`, form);
  expect([status, body]).toEqual([query === '' ? 201 : 200, expect.anything()]);
  return body;
}

const file = (text: string, more = {}): Body => ({
  mime_type: 'image/png',
  data: Buffer.from(text).toString('base64'),
  ...more,
});
const read = async (id: string, assets: 'link' | 'embed'): Promise<string> =>
  (await call('GET', `/datasets/${id}/items.jsonl?assets=${assets}`)).text;

const base64 = fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes).toString('base64'));
const members = fc.record(
  {
    data: base64,
    mime_type: fc.constantFrom('image/png', 'text/plain'),
    path: fc.constantFrom('assets/a.png', 'assets/b/c.bin', 'elsewhere.png'),
    url: fc.constantFrom('https://example.org/a.png', '/datasets/x/assets/y', null),
    sha256: fc.constantFrom('ab', 'cd'.repeat(32), 7),
    byte_length: fc.constantFrom(0, 5, '5'),
    caption: fc.string({ maxLength: 5 }),
  },
  { requiredKeys: ['data'], noNullPrototype: true },
);
const remote = fc.record({
  url: fc.constantFrom('https://example.org/assets/x', '/images/a.png', 'ftp://x'),
});
const entries = fc.oneof(
  fc.array(fc.oneof(members, remote), { maxLength: 3 }),
  fc.dictionary(fc.constantFrom('a', 'b/c', '__proto__'), fc.oneof(members, remote), { maxKeys: 2 }),
);
const checker = fc.record(
  {
    type: fc.constant('code'),
    encoding: fc.constant('base64'),
    data: base64,
    path: fc.constant('checkers/a.py'),
    url: fc.constant('https://example.org/a.py'),
  },
  { requiredKeys: ['type', 'encoding', 'data'], noNullPrototype: true },
);
const items = fc.array(
  fc.record({ assets: entries, checker }, { requiredKeys: ['assets'], noNullPrototype: true }),
  {
    minLength: 1,
    maxLength: 4,
  },
);

describe('items that are sent back with links', () => {
  it('are the same by upload, append, upsert, replace and edit', async () => {
    await fc.assert(
      fc.asyncProperty(items, async (some) => {
        const whole = some.map((item, id) => ({ id, inputs: { prompt: `p ${id}` }, ...item }));
        const { id, version_hash: hash } = await upload(linesOf(whole));
        const linked = await read(id, 'link');
        const again = await upload(linked);
        expect(again.version_hash).toBe(hash);
        for (const mode of ['upsert', 'replace']) {
          const change = await call('POST', `/datasets/${id}/items?mode=${mode}`, linked, LINES_TYPE);
          expect(change).toMatchObject({ status: 200, version: 1, version_hash: hash });
        }
        const edits = linked
          .trimEnd()
          .split('\n')
          .map((line, item_id) => `{"item_id":${item_id},"item":${line}}`);
        const edited = await call('PATCH', `/datasets/${id}/items`, `{"edits":[${edits}]}`, JSON_TYPE);
        expect(edited).toMatchObject({ status: 200, version: 1, version_hash: hash });
        await call('POST', `/datasets/${id}/items?mode=append`, linked, LINES_TYPE);
        const embedded = await read(again.id, 'embed');
        expect(await read(id, 'embed')).toBe(embedded + embedded);
      }),
      { numRuns: times(200, 8) },
    );
  });

  it('keep their files when something else of them changes, also under a handle', async () => {
    const { id } = await upload(
      linesOf([{ id: 1, answer: 'a', assets: { a: file('one', { path: 'assets/x.png' }) } }]),
    );
    const [entry] = (await call('GET', `/datasets/${id}/items?assets=link`)).data;
    const edits = [{ item_hash: entry.item_hash, item: { ...entry.item, answer: 'b' } }];
    expect(await call('PATCH', `/datasets/${id}/items`, JSON.stringify({ edits }), JSON_TYPE)).toMatchObject({
      status: 201,
    });
    const [now] = (await call('GET', `/datasets/${id}/items`)).data;
    expect(now.item).toEqual({
      id: 1,
      inputs: { prompt: 'p' },
      answer: 'b',
      assets: { a: file('one', { encoding: 'base64', path: 'assets/x.png' }) },
    });
    await call('PATCH', `/datasets/${id}`, JSON.stringify({ handle: 'pictures' }), JSON_TYPE);
    const url = (entry.item.assets.a.url as string).replace(id, 'Pictures');
    const line = JSON.stringify({ id: 2, assets: [{ url, note: 'x' }] }).replaceAll('/', '\\/');
    const append = (headers: object): Promise<Body> =>
      call('POST', '/datasets/pictures/items?mode=append', `${line}\n`, { ...LINES_TYPE, ...headers });
    expect(await append({})).toMatchObject({ status: 201 });
    expect((await call('GET', `/datasets/${id}/items?item_id=2`)).data[0].item.assets).toEqual([
      { ...file('one', { encoding: 'base64', note: 'x' }), mime_type: 'application/octet-stream' },
    ]);
    expect(await append({ Prefer: 'respond-async' })).toMatchObject({ status: 'queued' });
  });

  it('are resolved with an origin of the service, and with no other', async () => {
    const { id } = await upload(linesOf([{ id: 1, assets: [file('one')] }]));
    const [entry] = (await call('GET', `/datasets/${id}/items?assets=link`)).data;
    const { url } = entry.item.assets[0];
    const proxy = { 'X-Forwarded-Host': 'Data.Example.org', 'X-Forwarded-Proto': 'https' };
    const embedded = async (link: string, headers: object = {}): Promise<boolean> => {
      const line = `${JSON.stringify({ id: 1, assets: [{ url: link }] })}\n`;
      const made = await call('POST', `/datasets/${id}/items?mode=replace`, line, {
        ...LINES_TYPE,
        ...headers,
      });
      expect([made.status, made]).toEqual([201, expect.anything()]);
      const [item] = (await call('GET', `/datasets/${id}/items`)).data;
      const [{ data, url: kept }] = item.item.assets;
      expect([data, kept]).toContain(data === undefined ? link : file('one').data);
      return data !== undefined;
    };
    expect(await embedded(`${api.url}${url}`)).toBe(true);
    expect(await embedded(`https://elsewhere.example${url}`)).toBe(false);
    expect(await embedded(`https://data.example.org${url}`)).toBe(false);
    expect(await embedded(`https://data.example.org:443${url}`, proxy)).toBe(true);
    expect(await embedded('/images/one.png')).toBe(false);
  });

  it('are refused with their place where a link leads nowhere', async () => {
    const { id } = await upload(linesOf([{ id: 1, assets: [file('one')] }]));
    const { id: other } = await upload(linesOf([{ id: 1, assets: [file('two')] }]));
    const [{ item }] = (await call('GET', `/datasets/${other}/items?assets=link`)).data;
    const hash = item.assets[0].sha256;
    const wrong = [
      `/datasets/${id}/assets/${hash}`,
      `/datasets/${id}/assets/abc`,
      `${api.url}/datasets/nothing/assets/${hash}?version=1`,
      `/datasets/${'0'.repeat(8)}-0000-4000-8000-${'0'.repeat(12)}/assets/${hash}`,
    ];
    const right = { id: 0, assets: [item.assets[0]] };
    for (const url of wrong) {
      const bad = {
        id: 1,
        assets: { 'a/b': { url: 'https://example.org' }, c: { url, mime_type: 'image/png' } },
      };
      const place = { code: 'missing_file', path: '/assets/c/url' };
      const body = linesOf([right, bad]);
      const form = new FormData();
      form.append('file', new Blob([body]), 'mine.jsonl');
      expect(await call('POST', '/datasets/upload', form)).toMatchObject({
        status: 400,
        errors: [{ ...place, file: 'mine.jsonl', line: 2 }],
      });
      for (const mode of ['append', 'upsert', 'replace']) {
        expect(await call('POST', `/datasets/${id}/items?mode=${mode}`, body, LINES_TYPE)).toMatchObject({
          status: 400,
          errors: [{ ...place, file: 'items.jsonl', line: 2 }],
        });
      }
      const edits = [{ item_id: 1, item: bad }];
      expect(
        await call('PATCH', `/datasets/${id}/items`, JSON.stringify({ edits }), JSON_TYPE),
      ).toMatchObject({
        status: 400,
        errors: [{ ...place, path: '/edits/0/item/assets/c/url' }],
      });
    }
    expect(await call('GET', `/datasets/${id}`)).toMatchObject({ version_count: 1 });
  });

  it('are read in batches', async () => {
    const many = Array.from({ length: 3_000 }, (_, id) => ({ id, assets: [file(`${id % 700}`)] }));
    const { id, version_hash } = await upload(linesOf(many));
    const linked = await read(id, 'link');
    expect((await upload(linked)).version_hash).toBe(version_hash);
  });
});
