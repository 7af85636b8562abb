import { createHash } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { zstdDecompressSync } from 'node:zlib';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { makePackage, uploadForm } from './make-package.ts';
import { startTestApi, type TestApi } from './start-test-api.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const IMAGE = { mime_type: 'image/png', encoding: 'base64', data: PNG.toString('base64') };
const LINK = { mime_type: 'image/png', url: 'https://pictures.example/b.png' };
const ITEMS = {
  train: [
    {
      id: 1,
      inputs: { prompt: 'Capital of France?', choices: ['Paris', 'Rome'] },
      answer: 'Paris',
      meta: { level: 1, topic: 'geo', id: 'x', mixed: 1, score: 0.5, both: IMAGE },
      assets: { map: IMAGE, both: IMAGE },
      tags: ['a'],
    },
    {
      id: 'two',
      inputs: { prompt: '=1+1 😀' },
      answer: 2,
      meta: { level: 2, mixed: 'a', ok: true, list: [1, 2], big: 1 },
      assets: { both: LINK },
    },
    { inputs: { prompt: 'x' }, answer: null, meta: { level: null } },
  ],
  'with blank 😀': [{ inputs: { prompt: 'p' }, answer: 'y', assets: [IMAGE, LINK, IMAGE] }],
  all: [{ inputs: { prompt: 'q' } }],
};
const lines = (items: readonly object[]): string => items.map((item) => JSON.stringify(item)).join('\n');
const files = {
  'manifest.json': JSON.stringify({ name: 'Capitals "1"' }),
  'sections/empty.jsonl': '',
  ...Object.fromEntries(
    Object.entries(ITEMS).map(([name, items]) => [`sections/${name}.jsonl`, lines(items)]),
  ),
};

interface InspectTask {
  readonly id: string;
  readonly split: string;
  readonly field_spec: { readonly input: string; readonly target: string; readonly choices?: string };
  readonly solvers: readonly { readonly name: string }[];
  readonly scorers: readonly { readonly name: string }[];
}

/** The samples that Inspect's loader makes of a task, for rows of its split; a target that is nothing is left out. */
function samplesOf({ split, field_spec: spec }: InspectTask, rows: readonly Json[]): readonly Json[] {
  const parts = [...split.matchAll(/\[(\d+):(\d+)\]/g)];
  return parts
    .flatMap(([, from, to]) => rows.slice(Number(from), Number(to)))
    .map((row) => {
      const { [spec.input]: input, [spec.target]: target } = row;
      if (typeof input !== 'string') throw new TypeError('The input of a sample must be a text.');
      const choices = spec.choices === undefined ? null : row[spec.choices];
      return { input, ...(target ? { target } : {}), ...(choices ? { choices } : {}) };
    });
}

interface Uploaded {
  readonly id: string;
  readonly version_hash: string;
}

let api: TestApi;
let dataset: Uploaded;
let commit: string;
beforeAll(async () => {
  api = await startTestApi();
  const body = uploadForm(await makePackage(files), { handle: 'Capitals' });
  dataset = (await (await fetch(`${api.url}/datasets/upload`, { method: 'POST', body })).json()) as Uploaded;
  commit = dataset.version_hash.slice(0, 40);
});
afterAll(() => api[Symbol.asyncDispose]());

async function ask(path: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(`${api.url}${path}`, init);
  const bytes = Buffer.from(await response.arrayBuffer());
  const { status, headers } = response;
  return { status, headers, bytes, text: bytes.toString(), json: () => JSON.parse(bytes.toString()) };
}

type Json = Record<string, unknown>;
interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: each test knows what it asked for
  json(): any;
}
interface Entry {
  readonly type: string;
  readonly oid: string;
  readonly size: number;
  readonly path: string;
}

/** Rows of a table by another reader than ours. */
async function readTable(bytes: Buffer): Promise<Json[]> {
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
  const compressors = { ZSTD: (page: Uint8Array) => new Uint8Array(zstdDecompressSync(page)) };
  return (await parquetReadObjects({ file, compressors, utf8: false })) as Json[];
}

describe('requests as clients send them', () => {
  it('answers those of load_dataset, in its order', async () => {
    const at = '/datasets/svc/Capitals/resolve';
    const head = { method: 'HEAD', headers: { 'accept-encoding': 'identity' } };
    const card = await ask(`${at}/main/README.md`, head);
    expect(card.status).toBe(200);
    expect(card.headers.get('x-repo-commit')).toBe(commit);
    expect(card.headers.get('etag')).toMatch(/^"[0-9a-f]{64}"$/);
    const whole = await ask(`${at}/main/README.md`);
    expect(whole.bytes.byteLength).toBe(Number(card.headers.get('content-length')));
    expect(whole.text).toContain(dataset.version_hash);

    for (const path of ['Capitals.py', '.huggingface.yaml', 'dataset_infos.json']) {
      const absent = await ask(`${at}/${commit}/${path}`, head);
      expect([absent.status, absent.headers.get('x-error-code')]).toEqual([404, 'EntryNotFound']);
      expect(absent.headers.get('x-error-message')).toBe('Entry not found.');
      expect(absent.headers.get('x-repo-commit')).toBe(commit);
    }

    const info = (await ask(`/api/datasets/svc/Capitals/revision/${commit}`)).json();
    expect(info).toMatchObject({ id: 'svc/Capitals', sha: commit, gated: false, disabled: false });
    expect(info.siblings.map(({ rfilename }: { rfilename: string }) => rfilename)).toEqual([
      'README.md',
      'eval.yaml',
      'data/all_2-00000-of-00001.parquet',
      'data/empty-00000-of-00001.parquet',
      'data/train-00000-of-00001.parquet',
      'data/with_blank__-00000-of-00001.parquet',
      'items/all_2.jsonl',
      'items/empty.jsonl',
      'items/train.jsonl',
      'items/with_blank__.jsonl',
    ]);

    const tree = (
      await ask(`/api/datasets/svc/Capitals/tree/${commit}/data?recursive=false&expand=false`)
    ).json() as Entry[];
    expect(tree.map(({ path }) => path)).toContain('data/train-00000-of-00001.parquet');
    const table = tree.find(({ path }) => path.startsWith('data/train-')) as Entry;
    const length = await ask(`${at}/${commit}/${table.path}`, head);
    expect(length.headers.get('content-length')).toBe(String(table.size));
    expect(length.headers.get('accept-ranges')).toBe('bytes');
    const { bytes, headers } = await ask(`${at}/${commit}/${table.path}`);
    expect(bytes.byteLength).toBe(table.size);
    expect(headers.get('etag')).toBe(`"${createHash('sha256').update(bytes).digest('hex')}"`);
    const [first] = await readTable(bytes);
    expect(first).toMatchObject({ map: { path: null }, level: 1n, score: 0.5 });
    expect((first as { map: { bytes: Uint8Array } }).map.bytes).toEqual(new Uint8Array(PNG));
  });

  it('answers those of a snapshot, of file lists and of paths', async () => {
    expect((await ask('/api/datasets/svc/Capitals')).json()).toMatchObject({ sha: commit });
    const form = {
      method: 'POST',
      body: new URLSearchParams([
        ['paths', 'README.md'],
        ['paths', 'data'],
        ['paths', 'no'],
        ['expand', 'True'],
      ]),
    };
    const found = (await ask(`/api/datasets/svc/Capitals/paths-info/${commit}`, form)).json();
    expect(found).toMatchObject([
      { type: 'file', path: 'README.md', lastCommit: { id: commit } },
      { type: 'directory', path: 'data', size: 0 },
    ]);
    const asJson = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ paths: ['items/train.jsonl'], expand: false }),
    };
    const [one] = (await ask('/api/datasets/svc/Capitals/paths-info/main', asJson)).json();
    expect(one.lastCommit).toBeUndefined();
    const { bytes, headers } = await ask('/datasets/svc/Capitals/resolve/main/items/train.jsonl');
    expect(bytes.byteLength).toBe(one.size);
    const { text } = await ask(`/datasets/${dataset.id}/items.jsonl?section=train`);
    expect(bytes.toString()).toBe(text);

    const unchanged = await ask('/datasets/svc/Capitals/resolve/main/items/train.jsonl', {
      headers: { 'if-none-match': headers.get('etag') ?? '' },
    });
    expect([unchanged.status, unchanged.bytes.byteLength]).toEqual([304, 0]);
  });

  it('knows names, revisions, branches and commits', async () => {
    const byName = async (path: string): Promise<string> => (await ask(path)).json().sha;
    for (const path of [
      '/api/datasets/Capitals',
      '/api/datasets/svc/capitals',
      `/api/datasets/svc/${dataset.id}`,
      '/api/datasets/svc/Capitals/revision/v1',
      '/api/datasets/Capitals/revision/HEAD',
      `/api/datasets/svc/Capitals/revision/${dataset.version_hash.slice(0, 12)}`,
    ])
      expect([path, await byName(path)]).toEqual([path, commit]);
    expect((await ask('/api/datasets/svc/Capitals/refs')).json()).toMatchObject({
      branches: [{ name: 'main', targetCommit: commit }],
      tags: [{ name: 'v1', targetCommit: commit }],
    });
    expect((await ask('/api/datasets/svc/Capitals/commits/main')).json()).toMatchObject([{ id: commit }]);
    expect((await ask('/api/whoami-v2')).json()).toMatchObject({ name: 'anonymous' });
    for (const search of ['capitals', 'svc/Capitals', 'svc%2Fcap', dataset.id]) {
      expect((await ask(`/api/datasets?search=${search}&full=True`)).json()).toMatchObject([
        { id: 'svc/Capitals', sha: commit },
      ]);
    }
    expect((await ask('/api/datasets?author=openai')).json()).toEqual([]);
  });

  it('lists the commits of an old revision from its own on', async () => {
    const send = async (path: string, body: FormData | string, headers = {}): Promise<string> => {
      const { status, json } = await ask(path, { method: 'POST', body, headers });
      expect(status).toBe(201);
      return json().version_hash.slice(0, 40);
    };
    const line = (prompt: string): string => `${JSON.stringify({ inputs: { prompt } })}\n`;
    const form = new FormData();
    form.set('file', new Blob([line('first')]), 'lines.jsonl');
    form.set('handle', 'Grown');
    const first = await send('/datasets/upload', form);
    const append = (prompt: string): Promise<string> =>
      send('/datasets/Grown/items?mode=append', line(prompt), { 'content-type': 'application/jsonl' });
    const second = await append('second');
    await append('third');
    const page = await ask('/api/datasets/svc/Grown/commits/v2?limit=1');
    expect(page.json()).toMatchObject([{ id: second }]);
    const next = /^<http:\/\/[^/]+([^>]+)>; rel="next"$/.exec(page.headers.get('link') ?? '')?.[1] ?? '';
    const last = await ask(next);
    expect([last.json(), last.headers.get('link')]).toMatchObject([[{ id: first }], null]);
  });

  it('shows the scores of published runs in the card, which has another tag then and the same commit', async () => {
    const send = async (method: string, path: string, value: object | string): Promise<{ id: string }> => {
      const isLines = typeof value === 'string';
      const headers = { 'content-type': isLines ? 'application/jsonl' : 'application/json' };
      const { status, json } = await ask(path, {
        method,
        headers,
        body: isLines ? value : JSON.stringify(value),
      });
      expect(status, path).toBeLessThan(300);
      return json();
    };
    const card = '/datasets/svc/Capitals/resolve/main/README.md';
    const before = await ask(card);
    expect(before.text).toContain('size_categories:\n  - "n<1K"\n');
    expect(before.text).not.toContain('model-index');
    const config = { provider: 'external', label: 'm', allow_unscored: true };
    const { id } = await send('POST', '/runs', { dataset_id: dataset.id, name: 'Ours', config });
    const place = { section: 'train', order_index: 0, output: 'Paris' };
    await send(
      'POST',
      `/runs/${id}/results`,
      `${JSON.stringify({ ...place, scores: { main: { score: 1 } } })}\n`,
    );
    await send('POST', `/runs/${id}/finish`, { allow_missing: true });
    expect((await ask(card)).headers.get('etag')).toBe(before.headers.get('etag'));
    await send('PATCH', `/runs/${id}`, { labels: ['publish'] });
    const after = await ask(card);
    expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'));
    expect(after.headers.get('x-repo-commit')).toBe(commit);
    expect((await ask('/api/datasets/svc/Capitals')).json().cardData['model-index']).toEqual([
      {
        name: 'm',
        results: [
          {
            task: { type: 'text-generation' },
            dataset: { type: 'svc/Capitals', name: 'Capitals "1"', revision: commit },
            metrics: expect.arrayContaining([{ type: 'mean', name: 'mean', value: 1 }]),
            source: { name: `run ${id}` },
          },
        ],
      },
    ]);
  });

  it('pages lists by absolute links', async () => {
    const paths: string[] = [];
    let next: string | undefined = `${api.url}/api/datasets/svc/Capitals/tree/main?recursive=True&limit=2`;
    while (next !== undefined) {
      const response: Response = await fetch(next);
      paths.push(...((await response.json()) as Entry[]).map(({ path }) => path));
      next = /^<(http:[^>]+)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1];
    }
    expect(paths).toHaveLength(12);
    expect(paths).toEqual([...paths].sort());
  });

  it('refuses a cursor that is none where the document says so, and begins a tree anew', async () => {
    const { paths } = (await ask('/openapi.json')).json();
    const tree = '/api/datasets/svc/{repo}/tree/{revision}';
    for (const path of [
      '/api/datasets',
      '/api/datasets/svc/{repo}/commits/{revision}',
      tree,
      `${tree}/{folder}`,
    ]) {
      const url = path
        .replace('{repo}', 'Capitals')
        .replace('{revision}', 'main')
        .replace('{folder}', 'data');
      const { status, text } = await ask(`${url}?cursor=zzz`);
      const isListed = paths[path].get.description.includes('`invalid_cursor`');
      expect([path, status, text.includes('invalid_cursor')]).toEqual([path, isListed ? 400 : 200, isListed]);
      expect(isListed).toBe(!path.startsWith(tree));
    }
  });

  it('tells unknown repositories, revisions and paths apart', async () => {
    const codeOf = async (path: string): Promise<unknown> => {
      const { status, headers } = await ask(path);
      return [status, headers.get('x-error-code')];
    };
    for (const path of ['svc/Nothing', 'openai/gsm8k', 'gsm8k', 'svc', 'svc/%00']) {
      expect([path, await codeOf(`/api/datasets/${path}`)]).toEqual([path, [404, 'RepoNotFound']]);
      const file = `/datasets/${path}/resolve/main/README.md`;
      expect([file, await codeOf(file)]).toEqual([file, [404, 'RepoNotFound']]);
    }
    for (const repository of ['Capitals', 'svc/Capitals']) {
      for (const end of ['', '/']) {
        const path = `/datasets/${repository}/resolve/main${end}`;
        expect([path, await codeOf(path)]).toEqual([path, [404, 'EntryNotFound']]);
      }
      const wrong = `/datasets/${repository}/resolve/dev/`;
      expect([wrong, await codeOf(wrong)]).toEqual([wrong, [404, 'RevisionNotFound']]);
    }
    for (const revision of [
      'v2',
      'v0',
      'dev',
      'refs%2Fpr%2F1',
      '00000000',
      commit.toUpperCase(),
      '1',
      '%00',
    ]) {
      expect([revision, await codeOf(`/api/datasets/svc/Capitals/revision/${revision}`)]).toEqual([
        revision,
        [404, 'RevisionNotFound'],
      ]);
    }
    expect(await codeOf('/api/datasets/svc/Capitals/tree/main/nothing')).toEqual([404, 'EntryNotFound']);
    const body = uploadForm(await makePackage(files), { name: 'Rivers' });
    const unnamed = await fetch(`${api.url}/datasets/upload`, { method: 'POST', body });
    const { headers } = await ask('/api/datasets/svc/Rivers');
    expect([headers.get('x-error-code'), headers.get('x-error-message')]).toEqual([
      'RepoNotFound',
      'Repository not found. A dataset has this name, but not this handle: svc-pkg rename Rivers --handle Rivers',
    ]);
    await fetch(`${api.url}/datasets/${((await unnamed.json()) as Uploaded).id}`, { method: 'DELETE' });
    expect(await codeOf('/api/datasets/svc/Capitals/parquet')).toEqual([404, null]);
    expect(await codeOf('/api/telemetry/x')).toEqual([404, null]);
  });
});

describe('files', () => {
  const TRAIN = '/datasets/svc/Capitals/resolve/main/data/train-00000-of-00001.parquet';

  it('have the columns of items, of `meta` and of images', async () => {
    const rows = await readTable((await ask(TRAIN)).bytes);
    expect(Object.keys(rows[0] as Json)).toEqual([
      ...['section', 'order_index', 'item_hash', 'id', 'type', 'prompt', 'answer', 'choices', 'messages'],
      ...['system_prompt', 'criteria', 'tags', 'checker', 'meta', 'assets'],
      ...['target', 'choice_texts'],
      // in the order of their keys; one is a link somewhere, another has values of two types
      ...['big', 'both', 'meta.id', 'level', 'list', 'ok', 'score', 'topic'],
      ...['map', 'images'],
    ]);
    expect(rows.map((row) => row['answer'])).toEqual(['"Paris"', '2', null]);
    expect(rows.map((row) => [row['target'], row['choice_texts'] ?? null])).toEqual([
      ['A', ['Paris', 'Rome']],
      ['2', null],
      [null, null],
    ]);
  });

  it('have the tasks of Inspect, each with items of one kind', async () => {
    const { text, headers } = await ask('/datasets/svc/Capitals/resolve/main/eval.yaml');
    expect(headers.get('x-repo-commit')).toBe(commit);
    const { tasks } = parseYaml(text) as { tasks: InspectTask[] };
    expect(tasks.map(({ id, split, solvers, scorers }) => [id, split, solvers, scorers])).toEqual([
      ['all_2-match', 'all_2', [{ name: 'generate' }], [{ name: 'match' }]],
      ['train-multiple_choice', 'train[0:1]', [{ name: 'multiple_choice' }], [{ name: 'choice' }]],
      ['train-match', 'train[1:3]', [{ name: 'generate' }], [{ name: 'match' }]],
      ['with_blank__-match', 'with_blank__', [{ name: 'generate' }], [{ name: 'match' }]],
    ]);
    const rows = await readTable((await ask(TRAIN)).bytes);
    expect(tasks.slice(1, 3).map((task) => samplesOf(task, rows))).toEqual([
      [{ input: 'Capital of France?', target: 'A', choices: ['Paris', 'Rome'] }],
      [{ input: '=1+1 😀', target: '2' }, { input: 'x' }],
    ]);
  });

  it('give any range of themselves', async () => {
    const { bytes } = await ask(TRAIN);
    const size = bytes.byteLength;
    for (const [first, last] of [
      [0, 0],
      [0, 3],
      [2, 5],
      [4, size - 1],
      [size - 8, size - 1],
      [100, 2000],
      [0, size - 1],
    ]) {
      const part = await ask(TRAIN, { headers: { range: `bytes=${first}-${last}` } });
      expect(part.status).toBe(206);
      expect(part.headers.get('content-range')).toBe(`bytes ${first}-${last}/${size}`);
      expect(part.bytes.equals(bytes.subarray(first, (last ?? 0) + 1))).toBe(true);
    }
    const beyond = await ask(TRAIN, { headers: { range: `bytes=${size}-` } });
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, `bytes */${size}`]);
  });

  it('are made once for concurrent requests, and not again', async () => {
    const body = uploadForm(await makePackage({ 'sections/default.jsonl': lines(ITEMS.train) }), {
      handle: 'once',
    });
    await fetch(`${api.url}/datasets/upload`, { method: 'POST', body });
    const heads = Array.from({ length: 8 }, () =>
      ask('/datasets/svc/once/resolve/main/data/default-00000-of-00001.parquet', { method: 'HEAD' }),
    );
    const tags = (await Promise.all(heads)).map(({ headers }) => headers.get('etag'));
    expect(new Set(tags).size).toBe(1);
  });

  it('of a version or dataset that is deleted while they are made are not found, as any other', async () => {
    const items = Array.from({ length: 20_000 }, (_, id) =>
      JSON.stringify({ id, inputs: { prompt: `${id}` } }),
    );
    const body = uploadForm(await makePackage({ 'sections/default.jsonl': items.join('\n') }), {
      handle: 'gone',
    });
    await fetch(`${api.url}/datasets/upload`, { method: 'POST', body });
    const removal = { edits: [{ item_id: 7, remove: true }] };
    await fetch(`${api.url}/datasets/gone/items`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(removal),
    });
    const askWhileDeleting = async (path: string, deleted: string): Promise<unknown> => {
      const asked = ask(path);
      await delay(100);
      expect((await fetch(`${api.url}${deleted}`, { method: 'DELETE' })).status).toBe(204);
      expect([200, 404]).toContain((await asked).status);
      const { status, headers } = await ask(path);
      return [status, headers.get('x-error-code'), headers.get('x-error-message')];
    };
    expect(
      await askWhileDeleting('/datasets/svc/gone/resolve/v1/README.md', '/datasets/gone/versions/1'),
    ).toEqual([404, 'RevisionNotFound', 'Invalid rev id: v1']);
    expect(await askWhileDeleting('/api/datasets/svc/gone/tree/main', '/datasets/gone')).toEqual([
      404,
      'RepoNotFound',
      'Repository not found.',
    ]);
    expect(api.log().filter(({ event }) => event === 'hub.layout.fail')).toEqual([]);
  });

  it('have no rows for an empty section, but columns', async () => {
    const { bytes } = await ask('/datasets/svc/Capitals/resolve/main/data/empty-00000-of-00001.parquet');
    const metadata = parquetMetadata(
      bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer,
    );
    expect(metadata.num_rows).toBe(0n);
    const { value = '' } = metadata.key_value_metadata?.find(({ key }) => key === 'huggingface') ?? {};
    expect(JSON.parse(value).info.features).toMatchObject({
      map: { _type: 'Image' },
      images: { _type: 'List', feature: { _type: 'Image' } },
      level: { dtype: 'int64', _type: 'Value' },
    });
  });
});

describe('under keys', () => {
  it('needs a valid one, and gives errors that clients explain', async () => {
    const viewer = 'a-key-of-a-viewer-1';
    await using keyed = await startTestApi({ SVC_API_KEYS: `viewer:${viewer},editor:a-key-of-an-editor-1` });
    const body = uploadForm(await makePackage(files), { handle: 'Capitals' });
    const as = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });
    await fetch(`${keyed.url}/datasets/upload`, { method: 'POST', body, ...as('a-key-of-an-editor-1') });
    for (const path of [
      '/api/datasets/svc/Capitals',
      '/api/datasets/svc/Nothing',
      '/datasets/svc/Capitals/resolve/main/README.md',
      '/api/whoami-v2',
      '/api/nothing',
    ]) {
      for (const init of [{}, as('a-wrong-key')]) {
        const { status, headers } = await fetch(`${keyed.url}${path}`, init);
        expect([path, status, headers.get('x-error-code')]).toEqual([path, 401, 'RepoNotFound']);
      }
    }
    const { status } = await fetch(`${keyed.url}/datasets/svc/Capitals/resolve/main/README.md`, as(viewer));
    expect(status).toBe(200);
    const caller = await (await fetch(`${keyed.url}/api/whoami-v2`, as(viewer))).json();
    expect(caller).toMatchObject({ name: 'key 1', role: 'viewer' });
  });
});

describe('our own importer', () => {
  it('reads the items of a service from it', async () => {
    await using other = await startTestApi({ HUB_ENDPOINT: api.url });
    const prompts = ['Natalia sold clips. How many? 😀', 'a, "b"\n', '1.50'];
    const items = prompts.map((prompt, index) => {
      return { id: `train-${index}`, inputs: { prompt }, answer: `#### ${index}` };
    });
    const body = uploadForm(await makePackage({ 'sections/train.jsonl': lines(items) }), { handle: 'gsm8k' });
    const source = (await (
      await fetch(`${api.url}/datasets/upload`, { method: 'POST', body })
    ).json()) as Uploaded;
    const importFrom = async (path: string): Promise<Uploaded & { schema: { config: Json } }> => {
      const response = await fetch(`${other.url}/datasets/hub/import`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          name: 'Copy',
          config: { path },
          mapping: { prompt_column: 'prompt', answer_column: 'answer', id_column: 'id' },
        }),
      });
      return (await response.json()) as Awaited<ReturnType<typeof importFrom>>;
    };
    const copy = await importFrom('svc/gsm8k');
    expect(copy.schema?.config?.['resolved_revision']).toBe(source.version_hash.slice(0, 40));
    const linesOf = async (url: string, id: string): Promise<Json[]> =>
      (await (await fetch(`${url}/datasets/${id}/items.jsonl`)).text())
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Json);
    const copied = await linesOf(other.url, copy.id);
    expect(copied.map(({ type: _, ...item }) => item)).toEqual(await linesOf(api.url, source.id));
    // What an import made has the columns of items: importing that again gives the same hash.
    const again = uploadForm(await makePackage({ 'sections/default.jsonl': lines(copied) }), {
      handle: 'again',
    });
    await fetch(`${api.url}/datasets/upload`, { method: 'POST', body: again });
    const second = await importFrom('svc/again');
    expect(second.version_hash).toBe(copy.version_hash);
  });
});

describe('hostile requests', () => {
  const raw = (path: string): Promise<{ status: number | undefined; body: string }> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(api.url);
      httpRequest({ hostname, port, path }, (response) => {
        let body = '';
        response.setEncoding('utf8');
        response.on('data', (text) => {
          body += text;
        });
        response.on('end', () => resolve({ status: response.statusCode, body }));
      })
        .on('error', reject)
        .end();
    });

  it('reach nothing outside the dataset', async () => {
    const parts = [
      ...['..', '%2e%2e', '..%2f..', '%2e%2e%2fREADME.md', 'data/../README.md', 'data%2F..%2FREADME.md'],
      ...[
        '/etc/passwd',
        '%2Fetc%2Fpasswd',
        'C:%5Cwindows',
        '%5c..%5c',
        'README.md/',
        'README.md%00',
        '%00',
        'data/',
      ],
      ...[
        'data/train-00000-of-00001.parquet/x',
        'data//train-00000-of-00001.parquet',
        'items/../data',
        '.git/config',
      ],
      ...[
        "'%20OR%201=1--",
        '%27%3B%20DROP%20TABLE%20items%3B',
        'data/%25',
        'data/_%25.parquet',
        '*',
        'data/*.parquet',
      ],
      ...[
        '%f0%9f%98%80',
        '%c3%28',
        '%ed%a0%80',
        '%',
        '%zz',
        'a'.repeat(3000),
        'README.md?x=1&x=2',
        'readme.md',
      ],
    ];
    const requests: string[] = [];
    for (const part of parts) {
      requests.push(
        `/datasets/svc/Capitals/resolve/main/${part}`,
        `/datasets/Capitals/resolve/${part}/README.md`,
      );
      requests.push(`/api/datasets/svc/${part}`, `/api/datasets/svc/Capitals/tree/${part}`);
      requests.push(
        `/api/datasets/svc/Capitals/tree/main/${part}`,
        `/api/datasets/svc/Capitals/commits/${part}`,
      );
      requests.push(`/api/datasets/svc/Capitals/tree/main?cursor=${part}`);
    }
    expect(requests.length).toBeGreaterThan(200);
    const allowed = new Set(['/datasets/svc/Capitals/resolve/main/README.md?x=1&x=2']);
    for (const path of requests) {
      const { status, body } = await raw(path);
      const isPage =
        path.includes('?cursor=') || /tree\/main\/(?:\?|data\/$)/.test(path) || allowed.has(path);
      expect([
        path,
        isPage ||
          (status !== undefined && status >= 400 && status < 500) ||
          (status === 200 && body.startsWith('[')),
      ]).toEqual([path, true]);
      expect([path, status === 500]).toEqual([path, false]);
      expect(body).not.toContain('root:');
    }
    expect(api.log().filter(({ event }) => event === 'error.internal')).toEqual([]);
  });
});
