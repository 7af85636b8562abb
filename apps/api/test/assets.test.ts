import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildZip } from '../../../packages/pkg-format/test/build-zip.ts';
import { queryDatabase } from '../../../packages/service/test/store/query-database.ts';
import { uploadForm } from './make-package.ts';
import { startTestApi, type TestApi } from './start-test-api.ts';

const [VIEWER, ADMIN] = ['viewer-key-0123456789', 'admin-key-0123456789'];
const HEADERS = { Authorization: `Bearer ${VIEWER}` };

let api: TestApi;
let id: string;
beforeAll(async () => {
  api = await startTestApi({ SVC_API_KEYS: `viewer:${VIEWER},admin:${ADMIN}` });
  id = await upload();
});
afterAll(() => api[Symbol.asyncDispose]());

async function upload(
  lines: string = '{"inputs":{"prompt":"p"}}',
  files: Record<string, Uint8Array> = {},
): Promise<string> {
  const entries = Object.entries({ 'sections/default.jsonl': `${lines}\n`, ...files });
  const zip = buildZip({ entries: entries.map(([name, content]) => ({ name, content, method: 'stored' })) });
  const archive = zip as Uint8Array<ArrayBuffer>;
  const response = await fetch(`${api.url}/datasets/upload`, {
    method: 'POST',
    body: uploadForm(archive),
    headers: { Authorization: `Bearer ${ADMIN}` },
  });
  return ((await response.json()) as { id: string }).id;
}

/** Stores an asset of the dataset. */
async function store(bytes: Uint8Array, mimeType: string | null = 'image/png'): Promise<string> {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  await queryDatabase(
    api.databaseUrl,
    `INSERT INTO assets (sha256, bytes, byte_length) VALUES (decode($1, 'hex'), $2, $3)`,
    [sha256, bytes, bytes.byteLength],
  );
  await queryDatabase(
    api.databaseUrl,
    `INSERT INTO dataset_assets (dataset_id, sha256, mime_type) VALUES ($1, decode($2, 'hex'), $3)`,
    [id, sha256, mimeType],
  );
  return sha256;
}

const pathOf = (sha256: string, dataset = id): string => `${api.url}/datasets/${dataset}/assets/${sha256}`;
const get = (sha256: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> =>
  fetch(pathOf(sha256), { method, headers: { ...HEADERS, ...headers } });
const bytesOf = async (response: Response): Promise<Buffer> => Buffer.from(await response.arrayBuffer());

describe('GET /datasets/{id}/assets/{sha256}', () => {
  it('gives the bytes, which a browser may keep and may not run', async () => {
    const bytes = randomBytes(500_001);
    const sha256 = await store(bytes);
    const response = await get(sha256);
    expect(response.status).toBe(200);
    expect((await bytesOf(response)).equals(bytes)).toBe(true);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-length': '500001',
      etag: `"${sha256}"`,
      'accept-ranges': 'bytes',
      'cache-control': 'private, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
    });
    expect(response.headers.has('content-disposition')).toBe(false);
    const head = await get(sha256, {}, 'HEAD');
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '500001']);
  });

  it('gives a range, the end, or what there is of a range', async () => {
    const bytes = randomBytes(400_000);
    const sha256 = await store(bytes);
    for (const [range, start, end] of [
      ['bytes=0-0', 0, 1],
      ['bytes=199999-300000', 199_999, 300_001],
      ['bytes=399999-', 399_999, 400_000],
      ['bytes=-5', 399_995, 400_000],
      ['bytes=10-9999999', 10, 400_000],
      ['bytes=-9999999', 0, 400_000],
    ] as const) {
      const response = await get(sha256, { Range: range });
      expect([response.status, response.headers.get('content-range')], range).toEqual([
        206,
        `bytes ${start}-${end - 1}/400000`,
      ]);
      expect(response.headers.get('content-length')).toBe(String(end - start));
      expect((await bytesOf(response)).equals(bytes.subarray(start, end)), range).toBe(true);
    }
    for (const range of [
      'bytes=0-1,5-6',
      'bytes=x',
      'bytes=5-1',
      'items=0-1',
      'bytes=',
      `bytes=${'0-1,'.repeat(3_000)}0-1`,
    ]) {
      const response = await get(sha256, { Range: range });
      expect([response.status, (await bytesOf(response)).length], range.slice(0, 20)).toEqual([200, 400_000]);
    }
    for (const range of ['bytes=400000-', 'bytes=-0', 'bytes=999999999999999999999-']) {
      const response = await get(sha256, { Range: range });
      expect([response.status, response.headers.get('content-range')], range).toEqual([
        416,
        'bytes */400000',
      ]);
      expect(await response.json()).toMatchObject({ code: 'range_not_satisfiable', status: 416 });
    }
    expect((await get(sha256, { Range: 'bytes=0-1' }, 'HEAD')).status).toBe(200);
  });

  it('answers conditional requests', async () => {
    const sha256 = await store(randomBytes(100));
    const etag = `"${sha256}"`;
    for (const tag of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const response = await get(sha256, { 'If-None-Match': tag, Range: 'bytes=500-' });
      expect([response.status, (await bytesOf(response)).length], tag).toEqual([304, 0]);
      expect(response.headers.get('etag')).toBe(etag);
      expect(response.headers.get('cache-control')).toContain('immutable');
      expect(response.headers.has('content-type')).toBe(false);
    }
    expect((await get(sha256, { 'If-None-Match': '"x"' })).status).toBe(200);
    const resumed = await get(sha256, { Range: 'bytes=1-2', 'If-Range': etag });
    expect([resumed.status, (await bytesOf(resumed)).length]).toEqual([206, 2]);
    for (const other of ['"x"', `W/${etag}`, 'Sun, 22 Nov 2026 12:00:00 GMT']) {
      expect((await get(sha256, { Range: 'bytes=1-2', 'If-Range': other })).status, other).toBe(200);
    }
  });

  it('shows what is safe with its type, and downloads everything else', async () => {
    const types: readonly (readonly [stored: string | null, sent: string])[] = [
      ...['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/svg+xml'].map(same),
      ...['application/pdf', 'audio/mpeg', 'audio/wav', 'audio/ogg', 'video/mp4', 'video/webm'].map(same),
      ['Image/PNG; q=1', 'image/png'],
      ['image/jpg', 'image/jpeg'],
      ['audio/x-wav', 'audio/wav'],
      ['text/plain', 'text/plain; charset=utf-8'],
      ['text/plain; charset=utf-7', 'text/plain; charset=utf-8'],
      ...[
        null,
        '',
        'text/html',
        'application/xhtml+xml',
        'text/xml',
        'text/javascript',
        'application/zip',
      ].map(unsafe),
      ...['image/svg', 'image/png\r\nX-Bad: 1', 'constructor', '__proto__', 'text/plain, text/html'].map(
        unsafe,
      ),
    ];
    for (const [stored, sent] of types) {
      const sha256 = await store(randomBytes(2_000), stored);
      const response = await get(sha256, { Accept: 'image/png' });
      expect([response.status, response.headers.get('content-type')], String(stored)).toEqual([200, sent]);
      expect(response.headers.get('content-disposition')).toBe(
        sent === 'application/octet-stream' ? `attachment; filename=${sha256}` : null,
      );
      expect(response.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
      expect(response.headers.get('content-encoding')).toBeNull();
      expect(response.headers.has('x-bad')).toBe(false);
      expect(await bytesOf(response)).toHaveLength(2_000);
    }
  });

  it('gives an asset to those who may read a dataset that refers to it only', async () => {
    const sha256 = await store(randomBytes(10));
    const other = await upload();
    const status = async (url: string, headers: Record<string, string>): Promise<string> => {
      const response = await fetch(url, { headers });
      return `${response.status} ${response.ok ? 'ok' : ((await response.json()) as { code: string }).code}`;
    };
    expect(await status(pathOf(sha256), HEADERS)).toBe('200 ok');
    expect(await status(pathOf(sha256), {})).toBe('401 unauthenticated');
    expect(await status(pathOf(sha256), { Authorization: 'Bearer wrong-key-0123456789' })).toBe(
      '401 unauthenticated',
    );
    expect(await status(pathOf(sha256, other), HEADERS)).toBe('404 not_found');
    expect(await status(pathOf(sha256, randomUUID()), HEADERS)).toBe('404 dataset_not_found');
    expect(await status(pathOf(sha256, 'x'), HEADERS)).toBe('404 dataset_not_found');
    for (const wrong of ['0'.repeat(64), sha256.toUpperCase(), sha256.slice(1), "'; --", '%00']) {
      expect(await status(pathOf(encodeURIComponent(wrong)), HEADERS), wrong).toBe('404 not_found');
    }
    const { status: unsafe } = await fetch(pathOf(sha256), { method: 'DELETE', headers: HEADERS });
    expect(unsafe).toBe(405);
    expect(await api.metrics.render()).toContain('path="/datasets/:id/assets/:sha256"');
  });

  it('stops reading when its client leaves', async () => {
    const sha256 = await store(randomBytes(30_000_000));
    await new Promise<void>((resolve, reject) => {
      const sent = request(pathOf(sha256), { headers: HEADERS }, (response) => {
        response.once('data', () => {
          response.destroy();
          resolve();
        });
      });
      sent.on('error', reject);
      sent.end();
    });
    await expect
      .poll(() =>
        api.log().filter(({ event, status_code }) => event === 'http.request' && status_code === 499),
      )
      .toHaveLength(1);
    const { bytes_out } = api.log().find(({ status_code }) => status_code === 499) ?? {};
    expect(Number(bytes_out)).toBeLessThan(30_000_000);
  });
});

// biome-ignore lint/suspicious/noExplicitAny: bodies have every shape
type Body = any;

const getJson = async (path: string): Promise<Body> =>
  (await fetch(`${api.url}${path}`, { headers: HEADERS })).json();

describe('items with files', () => {
  const IMAGE = randomBytes(300_000);
  const IMAGE_HASH = createHash('sha256').update(IMAGE).digest('hex');
  const small = Buffer.from('small');
  const LINES = [
    '{"id":1,"assets":[{"path":"assets/a.png","alt":1.50},"assets/a.png",{"url":"https://example.org/x.png"}]}',
    `{"id":2,"assets":{"b":{"mime_type":"image/gif","data":"${small.toString('base64')}","url":"https://example.org/b"}},"checker":{"path":"checkers/c.py"}}`,
    '{"id":3,"assets":[{"sha256":"mine","byte_length":1,"url":"assets"}]}',
  ];
  const FILES = { 'assets/a.png': IMAGE, 'checkers/c.py': Buffer.from('print(1)') };
  let dataset: string;
  beforeAll(async () => {
    dataset = await upload(LINES.join('\n'), FILES);
  });
  const link = (sha256: string): string => `/datasets/${dataset}/assets/${sha256}`;
  const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

  it('are whole by default, and have links on request; each link leads to the bytes', async () => {
    const image = {
      mime_type: 'image/png',
      encoding: 'base64',
      data: IMAGE.toString('base64'),
      path: 'assets/a.png',
    };
    const whole = await getJson(`/datasets/${dataset}/items`);
    expect(whole.data.map(({ item }: Body) => item)).toEqual([
      { id: 1, assets: [{ ...image, alt: 1.5 }, image, { url: 'https://example.org/x.png' }] },
      {
        id: 2,
        assets: {
          b: {
            mime_type: 'image/gif',
            encoding: 'base64',
            data: small.toString('base64'),
            url: 'https://example.org/b',
          },
        },
        checker: {
          path: 'checkers/c.py',
          encoding: 'base64',
          data: Buffer.from('print(1)').toString('base64'),
        },
      },
      { id: 3, assets: [{ sha256: 'mine', byte_length: 1, url: 'assets' }] },
    ]);
    const text = await (
      await fetch(`${api.url}/datasets/${dataset}/items.jsonl`, { headers: HEADERS })
    ).text();
    expect(
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(whole.data.map(({ item }: Body) => item));

    const linkedImage = {
      mime_type: 'image/png',
      sha256: IMAGE_HASH,
      byte_length: 300_000,
      url: link(IMAGE_HASH),
      path: 'assets/a.png',
    };
    const linked = await getJson(`/datasets/${dataset}/items?assets=link`);
    // The entry has a url of its own, which is in the fragment.
    const url = `${link(hashOf(small))}#${encodeURIComponent('{"url":"https://example.org/b"}')}`;
    const b = { mime_type: 'image/gif', sha256: hashOf(small), byte_length: 5, url };
    const c = hashOf(FILES['checkers/c.py']);
    expect(linked.data.map(({ item }: Body) => item)).toEqual([
      { id: 1, assets: [{ ...linkedImage, alt: 1.5 }, linkedImage, { url: 'https://example.org/x.png' }] },
      { id: 2, assets: { b }, checker: { path: 'checkers/c.py', sha256: c, byte_length: 8, url: link(c) } },
      { id: 3, assets: [{ sha256: 'mine', byte_length: 1, url: 'assets' }] },
    ]);
    const lines = await (
      await fetch(`${api.url}/datasets/${dataset}/items.jsonl?assets=link`, { headers: HEADERS })
    ).text();
    expect(
      lines
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(linked.data.map(({ item }: Body) => item));
    expect(linked.data.map(({ item_hash }: Body) => item_hash)).toEqual(
      whole.data.map(({ item_hash }: Body) => item_hash),
    );
    for (const [url, bytes, type] of [
      [linkedImage.url, IMAGE, 'image/png'],
      [b.url, small, 'image/gif'],
      [link(c), FILES['checkers/c.py'], 'application/octet-stream'],
    ] as const) {
      const response = await fetch(api.url + url, { headers: HEADERS });
      expect([response.status, response.headers.get('content-type')]).toEqual([200, type]);
      expect((await bytesOf(response)).equals(bytes)).toBe(true);
    }
    expect((await fetch(`${api.url}/datasets/${dataset}/items?assets=x`, { headers: HEADERS })).status).toBe(
      400,
    );
  });

  it('have links where they would be too large, and where a file is gone', async () => {
    const [part] = await queryDatabase(api.databaseUrl, 'SELECT id FROM parts WHERE dataset_id = $1', [
      dataset,
    ]);
    const at = 'WHERE part_id = $1 AND ordinal = 0';
    await queryDatabase(api.databaseUrl, `UPDATE items SET linked_bytes = linked_bytes + 100000000 ${at}`, [
      part.id,
    ]);
    const first = (await getJson(`/datasets/${dataset}/items?limit=2`)).data;
    expect(first[0]).toMatchObject({
      truncated: true,
      item: { id: 1, assets: [{ url: link(IMAGE_HASH) }, {}, {}] },
    });
    expect(first[1]).toMatchObject({ item: { id: 2, assets: { b: { encoding: 'base64' } } } });
    expect(first[1]).not.toHaveProperty('truncated');
    await queryDatabase(api.databaseUrl, `UPDATE items SET linked_bytes = linked_bytes - 100000000 ${at}`, [
      part.id,
    ]);

    await queryDatabase(
      api.databaseUrl,
      `UPDATE assets SET bytes = NULL, object_key = 'gone' WHERE sha256 = decode($1, 'hex')`,
      [hashOf(small)],
    );
    const { data } = await getJson(`/datasets/${dataset}/items`);
    expect(data[0].item.assets[0].data).toBe(IMAGE.toString('base64'));
    expect(data[1]).toMatchObject({
      error: { code: 'asset_missing' },
      item: { id: 2, assets: { b: { url: expect.stringMatching(`^${link(hashOf(small))}#`) } } },
    });
    expect(data[2].item.id).toBe(3);
    const gone = await fetch(api.url + link(hashOf(small)), { headers: HEADERS });
    expect([gone.status, ((await gone.json()) as Body).code]).toEqual([500, 'asset_missing']);
    await queryDatabase(
      api.databaseUrl,
      `UPDATE assets SET bytes = $2, object_key = NULL WHERE sha256 = decode($1, 'hex')`,
      [hashOf(small), small],
    );
  });

  it('fill a page of 8 MiB, measured as they are sent', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 3 }, (_, index) => [`assets/${index}.png`, randomBytes(3_000_000)]),
    );
    const lines = Object.keys(files).map((path) => JSON.stringify({ assets: [{ path }] }));
    const id = await upload([...lines, JSON.stringify({ assets: Object.keys(files) })].join('\n'), files);
    const sizes: number[] = [];
    const items: Body[] = [];
    let cursor = '';
    do {
      const response = await fetch(`${api.url}/datasets/${id}/items${cursor}`, { headers: HEADERS });
      const text = await response.text();
      sizes.push(text.length);
      const { data, meta } = JSON.parse(text);
      items.push(...data);
      cursor = meta.next_cursor === null ? '' : `?cursor=${encodeURIComponent(meta.next_cursor)}`;
    } while (cursor !== '');
    expect(sizes.map((size) => Math.round(size / 1e6))).toEqual([8, 4, 12]);
    expect(sizes.slice(0, 2).every((size) => size <= 8 * 1024 * 1024)).toBe(true);
    expect(items.map(({ item }) => item.assets.length)).toEqual([1, 1, 1, 3]);
    expect((await getJson(`/datasets/${id}/items?assets=link`)).data).toHaveLength(4);
  });
});

function same(type: string): readonly [string, string] {
  return [type, type];
}

function unsafe(type: string | null): readonly [string | null, string] {
  return [type, 'application/octet-stream'];
}
