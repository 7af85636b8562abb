import { createHash } from 'node:crypto';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makePackage, uploadForm } from './make-package.ts';
import { startTestApi, type TestApi } from './start-test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({
    SVC_API_KEYS: 'admin:all-key-of-the-tests-1',
    SVC_CONSOLE_NAME: 'Evals & "more"',
  });
});
afterAll(() => api[Symbol.asyncDispose]());

const HTML = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const KEY = { Authorization: 'Bearer all-key-of-the-tests-1' };

/** What a browser gets without any key. */
const open = (path: string, headers: Record<string, string> = HTML): Promise<Response> =>
  fetch(api.url + path, { headers });

describe('the console', () => {
  it('is one page at every address, with a strict policy and a new nonce each time', async () => {
    const nonces = new Set<string>();
    for (const path of ['/', '/console', '/console/datasets', '/console/datasets/some-id?tab=overview']) {
      const response = await open(path);
      expect([path, response.status]).toEqual([path, 200]);
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(response.headers.get('cache-control')).toBe('no-store');
      const policy = response.headers.get('content-security-policy') ?? '';
      expect(policy).not.toMatch(/unsafe|\*|https?:/);
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self' 'nonce-");
      const [, nonce = ''] = /'nonce-([\w-]{22})'/.exec(policy) ?? [];
      const html = await response.text();
      expect(html).toContain(`nonce="${nonce}"`);
      expect(html).not.toContain('__CSP_NONCE__');
      expect(html).toContain('<title>Evals &#38; &#34;more&#34;</title>');
      expect(html).toContain('<meta name="svc-name" content="Evals &#38; &#34;more&#34;"');
      expect(html).toMatch(/rel="icon"[^>]*href="data:image/);
      nonces.add(nonce);
    }
    expect(nonces.size).toBe(4);
    expect((await open('/', { Accept: 'text/html' })).status).toBe(200);
    const other = await open('/', { Accept: 'application/json' });
    expect([other.headers.get('content-type'), other.headers.get('vary')?.split(',')[0]]).toEqual([
      'application/json',
      'Accept',
    ]);
    expect(await other.json()).toMatchObject({ name: 'svc', docs: '/docs' });
  });

  it('may ask other hosts for images, and for nothing else, where the cookie of the browser says so', async () => {
    const policyFor = async (path: string, cookie?: string): Promise<string> => {
      const response = await open(path, { ...HTML, ...(cookie !== undefined && { Cookie: cookie }) });
      expect(response.headers.get('referrer-policy')).toBe('no-referrer');
      expect(response.headers.get('vary')).toContain('Cookie');
      const policy = (response.headers.get('content-security-policy') ?? '').replace(/'nonce-[^']+'/, '');
      const isShown = /<meta name="svc-images" content="shown"/.test(await response.text());
      expect(isShown).toBe(policy.includes('https:'));
      return policy;
    };
    for (const path of ['/', '/console', '/console/datasets/x']) {
      const strict = await policyFor(path);
      for (const cookie of ['svc_images=', 'svc_images=shownx', 'x_svc_images=shown', 'a="svc_images=shown"'])
        expect([cookie, await policyFor(path, cookie)]).toEqual([cookie, strict]);
      const relaxed = strict.replace("img-src 'self' data: blob:", "img-src 'self' data: blob: https:");
      expect(relaxed).not.toBe(strict);
      for (const cookie of ['svc_images=shown', 'svc_session=v1.x; svc_images=shown; a=b'])
        expect([cookie, await policyFor(path, cookie)]).toEqual([cookie, relaxed]);
    }
  });

  it('has files that are compressed, kept for good, and no others', async () => {
    const html = await (await open('/')).text();
    const [, script = ''] = /src="(\/console\/assets\/[\w.-]+\.js)"/.exec(html) ?? [];
    const bodies: string[] = [];
    for (const [accepted, encoding, decode] of [
      ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
      ['gzip;q=1, br;q=0', 'gzip', gunzipSync],
      ['identity', null, (bytes: Buffer) => bytes],
    ] as const) {
      // fetch would decode it
      const { headers, bytes } = await raw(script, accepted);
      expect(headers['content-encoding'] ?? null).toBe(encoding);
      expect(headers['content-type']).toBe('text/javascript; charset=utf-8');
      expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
      expect(headers.vary).toContain('Accept-Encoding');
      expect(Number(headers['content-length'])).toBe(bytes.byteLength);
      bodies.push(createHash('sha256').update(decode(bytes)).digest('hex'));
    }
    expect(new Set(bodies).size).toBe(1);
    for (const name of ['none.js', '..%2findex.html', `${script.split('/').at(-1)}.br`, '%00', 'constructor'])
      expect([name, (await open(`/console/assets/${name}`)).status]).toEqual([name, 404]);
  });

  it('reads lists of jobs, positions and labels of items, and orders of datasets', async () => {
    const ids: string[] = [];
    for (const [name, count] of [
      ['b', 3],
      ['a', 1],
      ['c', 2],
    ] as const) {
      const lines = Array.from({ length: count }, (_, at) =>
        JSON.stringify({
          id: at % 2 === 0 ? at : `q${at}`,
          tags: [`t${at}`, 'all'],
          inputs: { prompt: `${name}${at}` },
        }),
      );
      const form = uploadForm(
        await makePackage({ 'sections/one.jsonl': lines.join('\n'), 'sections/two.jsonl': '{}' }),
        { name },
      );
      const response = await fetch(`${api.url}/datasets/upload`, {
        method: 'POST',
        headers: KEY,
        body: form,
      });
      ids.push(((await response.json()) as { id: string }).id);
    }
    const list = async (
      path: string,
    ): Promise<{ data: Record<string, never>[]; meta: Record<string, never> }> =>
      (await (await fetch(api.url + path, { headers: KEY })).json()) as never;
    const namesOf = async (sort: string): Promise<string[]> => {
      const first = await list(`/datasets?sort=${sort}&limit=2`);
      const rest = await list(`/datasets?sort=${sort}&limit=2&cursor=${first.meta['next_cursor']}`);
      expect(rest.meta['next_cursor']).toBeNull();
      return [...first.data, ...rest.data].map(({ name }) => String(name));
    };
    expect(await namesOf('name')).toEqual(['a', 'b', 'c']);
    expect(await namesOf('-name')).toEqual(['c', 'b', 'a']);
    expect(await namesOf('items')).toEqual(['a', 'c', 'b']);
    expect(await namesOf('-items')).toEqual(['b', 'c', 'a']);
    expect(await namesOf('created')).toEqual(['b', 'a', 'c']);
    expect(await namesOf('-created')).toEqual(['c', 'a', 'b']);
    const { meta } = await list('/datasets?sort=name&limit=1');
    expect(await list(`/datasets?sort=items&cursor=${meta['next_cursor']}`)).toMatchObject({
      code: 'invalid_cursor',
    });

    const placesOf = async (query: string): Promise<string[]> =>
      (await list(`/datasets/${ids[0]}/items?${query}`)).data.map(
        ({ section, order_index }) => `${section} ${order_index}`,
      );
    expect(await placesOf('from=0-1')).toEqual(['one 1', 'one 2', 'two 0']);
    expect(await placesOf('from=1-0')).toEqual(['two 0']);
    expect(await placesOf('from=0-2&limit=1')).toEqual(['one 2']);
    expect(await placesOf('from=9-9')).toEqual([]);
    expect(await placesOf('tag=t1')).toEqual(['one 1']);
    expect(await placesOf('tag=all&from=0-2')).toEqual(['one 2']);
    expect(await placesOf('item_id=q1')).toEqual(['one 1']);
    expect(await placesOf('item_id=2')).toEqual(['one 2']);
    const [item] = (await list(`/datasets/${ids[0]}/items?from=1-0`)).data;
    expect(await placesOf(`item_hash=${item?.['item_hash']}`)).toEqual(['two 0']);

    expect(await list('/jobs')).toEqual({ data: [], meta: { limit: 50, next_cursor: null, total_items: 0 } });
    const jobs: string[] = [];
    for (let at = 0; at < 3; at += 1) {
      const form = uploadForm(await makePackage({ 'sections/one.jsonl': '{}' }));
      const headers = { ...KEY, Prefer: 'respond-async' };
      const response = await fetch(`${api.url}/datasets/upload`, { method: 'POST', headers, body: form });
      jobs.unshift(((await response.json()) as { id: string }).id);
    }
    const page = await list('/jobs?limit=2&status=queued&kind=upload');
    expect(page.meta['total_items']).toBe(3);
    const rest = await list(`/jobs?limit=2&cursor=${page.meta['next_cursor']}`);
    expect([...page.data, ...rest.data].map(({ id }) => id)).toEqual(jobs);
    expect(page.data[0]?.['request']).toEqual({
      ...{ name: null, path: null, subset: null, split: null, revision: null },
      ...{ file_name: expect.stringMatching(/\.zip$/), file_count: null, dataset_id: null },
    });
    expect((await list('/jobs?kind=import')).data).toEqual([]);
  });
});

async function raw(
  path: string,
  acceptEncoding: string,
): Promise<{ headers: Record<string, string | undefined>; bytes: Buffer }> {
  const { get } = await import('node:http');
  return await new Promise((resolve, reject) => {
    get(api.url + path, { headers: { 'Accept-Encoding': acceptEncoding } }, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk as Buffer);
      resolve({
        headers: response.headers as Record<string, string | undefined>,
        bytes: Buffer.concat(chunks),
      });
    }).on('error', reject);
  });
}
