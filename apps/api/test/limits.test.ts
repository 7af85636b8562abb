import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { type FakeHub, startFakeHub } from '../../../packages/hub-client/test/fake-hub.ts';
import { makePackage, uploadForm } from './make-package.ts';
import { openConnection } from './raw-connection.ts';
import { startTestApi, type TestApi } from './start-test-api.ts';

let api: TestApi | undefined;
afterEach(async () => {
  await api?.[Symbol.asyncDispose]();
  api = undefined;
});

const UUID = '00000000-0000-4000-8000-000000000000';

async function start(env: Record<string, string>): Promise<TestApi> {
  api = await startTestApi(env);
  return api;
}

async function post(
  url: string,
  form: FormData,
): Promise<{ status: number; code: string | undefined; detail: string | undefined; headers: Headers }> {
  const response = await fetch(`${url}/datasets/upload`, { method: 'POST', body: form });
  const { code, detail } = (await response.json()) as { code?: string; detail?: string };
  return { status: response.status, code, detail, headers: response.headers };
}

/** Every limit of what a package may hold: its variable, a value, a package just within and one just beyond. */
const PACKAGE_LIMITS: readonly (readonly [
  variable: string,
  value: number,
  within: Readonly<Record<string, string | Uint8Array>>,
  beyond: Readonly<Record<string, string | Uint8Array>>,
  code: string,
])[] = [
  [
    'SVC_MAX_ARCHIVE_ENTRIES',
    // the folder is one of them
    3,
    { 'sections/a.jsonl': '{}', 'manifest.json': '{}' },
    { 'sections/a.jsonl': '{}', 'manifest.json': '{}', 'meta.json': '{}' },
    'package_limit',
  ],
  [
    'SVC_MAX_UNCOMPRESSED_BYTES',
    10_000,
    { 'sections/a.jsonl': '{"a":1}\n'.repeat(600), 'sections/b.jsonl': '{"a":1}\n'.repeat(600) },
    { 'sections/a.jsonl': '{"a":1}\n'.repeat(700), 'sections/b.jsonl': '{"a":1}\n'.repeat(700) },
    'package_limit',
  ],
  [
    'SVC_MAX_EXPANSION_RATIO',
    20,
    { 'sections/a.jsonl': `{"a":"${randomBytes(1_200_000).toString('base64')}"}` },
    { 'sections/a.jsonl': '{"a":1}\n'.repeat(200_000) },
    'package_limit',
  ],
  [
    'SVC_MAX_LINE_BYTES',
    1000,
    { 'sections/a.jsonl': `{"a":"${'x'.repeat(992)}"}\n{}` },
    { 'sections/a.jsonl': `{"a":"${'x'.repeat(993)}"}\n{}` },
    'package_limit',
  ],
  [
    'SVC_MAX_LINE_BYTES',
    1000,
    { 'sections/a.jsonl': '{}', 'manifest.json': `{"a":"${'x'.repeat(992)}"}` },
    { 'sections/a.jsonl': '{}', 'manifest.json': `{"a":"${'x'.repeat(993)}"}` },
    'package_limit',
  ],
  [
    'SVC_MAX_ASSET_BYTES',
    1000,
    { 'sections/a.jsonl': '{"assets":["assets/x.bin"]}', 'assets/x.bin': randomBytes(1000) },
    { 'sections/a.jsonl': '{"assets":["assets/x.bin"]}', 'assets/x.bin': randomBytes(1001) },
    'package_limit',
  ],
  [
    'SVC_MAX_JSON_DEPTH',
    5,
    { 'sections/a.jsonl': '{"a":[[[[1]]]]}' },
    { 'sections/a.jsonl': '{"a":[[[[[1]]]]]}' },
    'package_invalid_line',
  ],
];

describe('a limit of packages', () => {
  it.each(PACKAGE_LIMITS)('%s=%i', async (variable, value, within, beyond, code) => {
    const { url, stagedFiles } = await start({ [variable]: String(value) });
    expect(await post(url, uploadForm(await makePackage(within)))).toMatchObject({ status: 201 });
    const refused = await post(url, uploadForm(await makePackage(beyond)));
    expect([refused.status, refused.code]).toEqual([400, code]);
    await expect.poll(() => stagedFiles()).toEqual([]);
    const { meta } = (await (await fetch(`${url}/datasets`)).json()) as { meta: { total_items: number } };
    expect(meta.total_items).toBe(1);
  });
});

describe('a limit of requests', () => {
  const patch = (url: string, body: NonNullable<RequestInit['body']>): Promise<Response> =>
    fetch(`${url}/datasets/${UUID}`, {
      method: 'PATCH',
      headers: { 'Content-Type': 'application/json' },
      body,
      duplex: 'half',
    } as RequestInit);
  const code = async (response: Response): Promise<unknown[]> => [
    response.status,
    ((await response.json()) as { code: string }).code,
  ];

  it('SVC_MAX_JSON_BODY_BYTES, whether the length is declared or not', async () => {
    const { url } = await start({ SVC_MAX_JSON_BODY_BYTES: '1000' });
    const body = (bytes: number): Buffer => Buffer.from(`{"name":"x"}${' '.repeat(bytes - 12)}`);
    const chunked = (bytes: number): ReadableStream => ReadableStream.from([body(bytes)]);
    for (const make of [body, chunked]) {
      expect(await code(await patch(url, make(1000) as never))).toEqual([404, 'dataset_not_found']);
      expect(await code(await patch(url, make(1001) as never))).toEqual([413, 'body_too_large']);
    }
  });

  it('25,000 JSON values in a body, counted while it arrives', async () => {
    const { url } = await start({});
    const body = (values: number): string =>
      `{"x":[${Array(values - 2)
        .fill('0')
        .join()}]}`;
    expect(await code(await patch(url, body(25_000)))).toEqual([400, 'invalid_request']);
    expect(await code(await patch(url, body(25_001)))).toEqual([413, 'body_too_large']);
  });

  it('SVC_MAX_JSON_DEPTH', async () => {
    const { url } = await start({ SVC_MAX_JSON_DEPTH: '4' });
    expect(await code(await patch(url, '{"x":[[[]]]}'))).toEqual([400, 'invalid_request']);
    expect(await code(await patch(url, '{"x":[[[[]]]]}'))).toEqual([400, 'invalid_json']);
  });

  it('SVC_MAX_FORM_FIELDS and SVC_MAX_FORM_FIELD_BYTES', async () => {
    const { url } = await start({ SVC_MAX_FORM_FIELDS: '2', SVC_MAX_FORM_FIELD_BYTES: '100' });
    const archive = await makePackage({ 'sections/a.jsonl': '{}' });
    const form = (fields: [string, string][]): FormData => {
      const made = new FormData();
      for (const [name, value] of fields) made.append(name, value);
      made.append('file', new Blob([archive]), 'a.zip');
      return made;
    };
    expect(
      await post(
        url,
        form([
          ['name', 'x'],
          ['description', 'x'.repeat(100)],
        ]),
      ),
    ).toMatchObject({ status: 201 });
    for (const fields of [
      [
        ['name', 'x'],
        ['description', 'x'.repeat(101)],
      ],
      [
        ['name', 'x'],
        ['description', 'y'],
        ['name', 'z'],
      ],
      [['x'.repeat(200), 'x']],
    ] as [string, string][][]) {
      expect(await post(url, form(fields))).toMatchObject({ status: 400, code: 'invalid_request' });
    }
  });

  it('SVC_MAX_FORM_FIELDS counts parts of every kind, however many there are', async () => {
    const { url } = await start({});
    for (const part of ['Content-Disposition: form-data; name="name"', 'X-Other: part']) {
      using connection = await openConnection(url);
      connection.send(
        'POST /datasets/upload HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\n' +
          'Content-Length: 100000000\r\n\r\n',
      );
      const parts = `--b\r\n${part}\r\n\r\n1\r\n`.repeat(20);
      connection.send(parts);
      await connection.until(/^HTTP\/1\.1 400 [\s\S]*"code":"invalid_request"/);
    }
  });

  it('SVC_MAX_UPLOAD_BYTES is counted while the file arrives', async () => {
    const { url, stagedFiles } = await start({ SVC_MAX_UPLOAD_BYTES: '100000' });
    using connection = await openConnection(url);
    connection.send(
      'POST /datasets/upload HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\n' +
        'Content-Length: 150000\r\n\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n',
    );
    connection.send(Buffer.alloc(100_001));
    // 50,000 bytes have not been sent
    await connection.until(/^HTTP\/1\.1 413 [\s\S]*"code":"upload_too_large"/);
    await expect.poll(() => stagedFiles()).toEqual([]);
  });

  it('SVC_MAX_UPLOAD_BYTES also limits the bytes before, between and after the parts', async () => {
    const { url } = await start({ SVC_MAX_UPLOAD_BYTES: '100000', SVC_MAX_FORM_FIELD_BYTES: '100' });
    const file = '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nxx';
    const other = '--b\r\nX-Other: part\r\n\r\n';
    for (const start of ['', other, `${file}\r\n--b--\r\n`]) {
      using connection = await openConnection(url);
      connection.send(
        'POST /datasets/upload HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\n' +
          `Transfer-Encoding: chunked\r\n\r\n${start.length.toString(16)}\r\n`.replace('\r\n0\r\n', '\r\n') +
          start +
          (start === '' ? '' : '\r\n'),
      );
      connection.send(
        Buffer.concat([Buffer.from('30d40\r\n'), Buffer.alloc(200_000, 'y'), Buffer.from('\r\n')]),
      );
      await connection.until(/^HTTP\/1\.1 413 [\s\S]*"code":"upload_too_large"/);
    }
  });

  it('SVC_MAX_CONCURRENT_IMPORTS: the next waits, and is refused after SVC_IMPORT_WAIT_MS with Retry-After', async () => {
    const hub = await startFakeHub();
    try {
      const { url } = await start({
        SVC_MAX_CONCURRENT_IMPORTS: '1',
        SVC_IMPORT_WAIT_MS: '1500',
        HUB_ENDPOINT: hub.endpoint,
      });
      const held = await holdImport(hub, url);
      const archive = await makePackage({ 'sections/a.jsonl': '{}' });
      const refused = await post(url, uploadForm(archive));
      expect([refused.status, refused.code]).toEqual([503, 'unavailable']);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      const waiting = post(url, uploadForm(archive));
      held.abort();
      expect(await waiting).toMatchObject({ status: 201 });
    } finally {
      await hub.close();
    }
  });

  it('SVC_MAX_PREVIEW_BYTES bounds the answer of a preview by shortening cells and omitting rows', async () => {
    const hub = await startFakeHub();
    try {
      const row = JSON.stringify({ q: 'x'.repeat(3000), n: 1 });
      hub.add({ id: 'org/long', files: { 'train.jsonl': `${row}\n`.repeat(100) } });
      const { url } = await start({ SVC_MAX_PREVIEW_BYTES: '50000', HUB_ENDPOINT: hub.endpoint });
      const response = await fetch(`${url}/datasets/hub/preview`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ path: 'org/long', limit: 100 }),
      });
      expect(response.status).toBe(200);
      const text = await response.text();
      expect(text.length).toBeLessThanOrEqual(50_000);
      const { samples, truncated_cells } = JSON.parse(text);
      expect(samples.length).toBeGreaterThan(10);
      expect(samples.length).toBeLessThan(100);
      expect(truncated_cells).toContainEqual({ row: samples.length - 1, column: 'q', bytes: 3002 });
    } finally {
      await hub.close();
    }
  });

  it('headers are bounded in size and number', async () => {
    const { url } = await start({});
    using many = await openConnection(url);
    const headers = Array.from({ length: 1500 }, (_, index) => `X-${index}: 1\r\n`).join('');
    many.send(`GET /healthz HTTP/1.1\r\nHost: x\r\n${headers}Connection: close\r\n\r\n`);
    expect(await many.ended).toMatch(/^HTTP\/1\.1 (?:200|431) /);
    using long = await openConnection(url);
    long.send(`GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(await long.ended).toMatch(/^HTTP\/1\.1 431 /);
  });
});

/** Starts an import that runs until it is aborted: its hub gives no answer. */
async function holdImport(hub: FakeHub, url: string): Promise<AbortController> {
  hub.add({ id: 'org/held', files: { 'train.jsonl': '{"q":"x"}\n' } });
  hub.fail({ match: /^hub /, fault: { kind: 'silent' } });
  const abort = new AbortController();
  fetch(`${url}/datasets/hub/import`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'held', config: { path: 'org/held' }, mapping: { prompt_column: 'q' } }),
    signal: abort.signal,
  }).catch(() => undefined);
  await expect.poll(() => hub.requests.length).toBeGreaterThan(0);
  return abort;
}
