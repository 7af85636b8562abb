import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FakeHub, startFakeHub } from '../../../packages/hub-client/test/fake-hub.ts';
import { makePackage, uploadForm } from './make-package.ts';
import { startTestApi, type TestApi } from './start-test-api.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies have every shape
type Body = any;

const KEYS = {
  viewer: 'a-key-of-the-matrix-viewer',
  editor: 'a-key-of-the-matrix-editor',
  admin: 'a-key-of-the-matrix-admin',
  expired: 'a-key-of-the-matrix-expired',
  inside: 'a-key-of-the-matrix-inside',
  outside: 'a-key-of-the-matrix-outside',
};
type Caller = keyof typeof KEYS | 'nobody';
const CALLERS: readonly Caller[] = ['nobody', 'viewer', 'editor', 'admin', 'expired', 'inside', 'outside'];
const RANK = { viewer: 1, editor: 2, admin: 3 };
/** Those with handles are admins: only handles keep them from anything. */
const ROLE: Partial<Record<Caller, keyof typeof RANK>> = {
  ...{ viewer: 'viewer', editor: 'editor', admin: 'admin', inside: 'admin', outside: 'admin' },
};

/** What belongs to a dataset. */
interface World {
  readonly dataset: string;
  readonly handle: string;
  readonly run: string;
  /** Waits for results. */
  readonly waiting: string;
  readonly job: string;
  readonly asset: string;
}

let api: TestApi;
let hub: FakeHub;
let own: World;
let foreign: World;

beforeAll(async () => {
  const SVC_API_KEYS = [
    `viewer:${KEYS.viewer}:V,editor:${KEYS.editor}:E,admin:${KEYS.admin}:A`,
    `admin:${KEYS.expired}:X;expires=2026-01-01,admin:${KEYS.inside}:In;handles=team-a-;handles=shared-`,
    `admin:${KEYS.outside}:Out;handles=team-b-`,
  ].join(',');
  hub = await startFakeHub();
  api = await startTestApi({ SVC_API_KEYS, HUB_ENDPOINT: hub.endpoint });
  own = await makeWorld('team-a-set');
  foreign = await makeWorld('team-b-set');
});
afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await hub.close();
});

interface Asked {
  readonly method?: string;
  readonly path: string;
  readonly body?: object | string | FormData;
  readonly headers?: Readonly<Record<string, string>>;
}

async function send(caller: Caller, { method = 'GET', path, body, headers }: Asked) {
  const isJson = typeof body === 'object' && !(body instanceof FormData);
  const response = await fetch(`${api.url}${path}`, {
    method,
    signal: AbortSignal.timeout(20_000),
    headers: {
      ...(caller === 'nobody' ? {} : { authorization: `Bearer ${KEYS[caller]}` }),
      ...(isJson ? { 'content-type': 'application/json' } : {}),
      ...(typeof body === 'string' ? { 'content-type': 'application/jsonl' } : {}),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body) : (body as string | FormData) }),
  });
  const { status } = response;
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
    await response.body?.cancel();
    return { status, text: '', body: null as Body };
  }
  const text = await response.text();
  const body_: Body =
    text.startsWith('{') && /^\{.*\}\s*$/s.test(text) && !text.includes('}\n{') ? JSON.parse(text) : null;
  return { status, text, body: body_ };
}

async function made(asked: Asked, status: number): Promise<Body> {
  const response = await send('admin', asked);
  expect([response.status, response.text.slice(0, 300)]).toEqual([status, expect.anything()]);
  return response.body;
}

let worlds = 0;
const IMAGE = 'R0lGODlhAQABAAAAACw=';

/** A dataset with two versions, one run that has ended with a label, one that waits, and a job. */
async function makeWorld(handle: string): Promise<World> {
  worlds += 1;
  const item = (id: string) =>
    JSON.stringify({
      ...{ id, inputs: { prompt: `Which of ${worlds}?` }, answer: 'yes' },
      assets: { a: { mime_type: 'image/gif', encoding: 'base64', data: IMAGE } },
    });
  const archive = await makePackage({ 'sections/s.jsonl': `${item('1')}\n${item('2')}\n` });
  const upload = (more: object): Asked => {
    return {
      method: 'POST',
      path: '/datasets/upload',
      body: uploadForm(archive, { name: handle, handle }),
      ...more,
    };
  };
  const { id: dataset } = await made(upload({}), 201);
  await made({ method: 'POST', path: `/datasets/${dataset}/items?mode=append`, body: `${item('3')}\n` }, 201);
  const queued = await made(
    upload({ path: '/datasets/upload?if_exists=version', headers: { prefer: 'respond-async' } }),
    202,
  );
  const config = { provider: { type: 'external', label: 'x' } };
  const start = async (): Promise<string> =>
    (await made({ method: 'POST', path: '/runs', body: { dataset_id: dataset, config } }, 202)).id;
  const [run, waiting] = [await start(), await start()];
  const lines = [0, 1, 2].map((order_index) => JSON.stringify({ section: 's', order_index, output: 'yes' }));
  await made({ method: 'POST', path: `/runs/${run}/results`, body: lines.join('\n') }, 200);
  await made({ method: 'POST', path: `/runs/${run}/finish`, body: {} }, 200);
  await made({ method: 'PUT', path: `/runs/${run}/results/s/0/1/label`, body: { verdict: 'pass' } }, 200);
  const asset = createHash('sha256').update(Buffer.from(IMAGE, 'base64')).digest('hex');
  return { dataset, handle, run, waiting, job: queued.id, asset };
}

/** @param fresh a world of its own, for what is changed */
type Ask = (world: World, fresh: () => Promise<World>) => Asked | Promise<Asked>;
interface Decision {
  /**
   * `object`: of a dataset, and not found for keys that do not see that. `list`: shows what the key sees. `free`: of no
   * dataset. `hidden`: of all datasets, and not there for a key that sees some.
   */
  readonly kind: 'object' | 'list' | 'free' | 'hidden';
  readonly ask: Ask;
}
const object = (ask: Ask): Decision => ({ kind: 'object', ask });
const list = (path: string): Decision => ({ kind: 'list', ask: () => ({ path }) });
const free = (ask: Ask): Decision => ({ kind: 'free', ask });
const ofDataset = (path: string): Decision =>
  object(({ dataset }) => ({ path: `/datasets/${dataset}${path}` }));
const ofRun = (path: string): Decision => object(({ run }) => ({ path: `/runs/${run}${path}` }));
const post = (path: string, body: Asked['body'] = {}): Asked => ({ method: 'POST', path, body });
const newRun = ({ dataset }: World): object => ({
  dataset_id: dataset,
  config: { provider: 'echo', checker: 'exact_match', checker_mode: 'override' },
});
const ITEM = '{"inputs":{"prompt":"New?"}}\n';
const edit = { edits: [{ item_id: '1', item: { id: '1', inputs: { prompt: 'Edited?' } } }] };
const ofRepository = (path: string): Decision =>
  object(({ handle }) => ({ path: `/api/datasets/svc/${handle}${path}` }));
const hubImport = (handle: string): object => {
  return { name: 'x', handle, config: { path: 'a/b' }, mapping: { prompt_column: 'q' } };
};
const uploaded = async ({ handle }: World, path: string): Promise<Asked> => {
  return post(
    path,
    uploadForm(await makePackage({ 'sections/s.jsonl': ITEM }), {
      handle: `${handle}-${randomUUID().slice(0, 8)}`,
    }),
  );
};

/** What each operation of the document is about: a new one needs a decision here. */
const DECISIONS: Readonly<Record<string, Decision>> = {
  previewUpload: free(async () =>
    post('/datasets/upload/preview', uploadForm(await makePackage({ 'sections/s.jsonl': ITEM }))),
  ),
  previewHubDataset: free(() => post('/datasets/hub/preview', { path: 'a/b' })),
  findHubDatasets: free(() => ({ path: '/hub/datasets?q=a' })),
  importHubDataset: free(({ handle }) => post('/datasets/hub/import', hubImport(`${handle}-hub`))),
  uploadDataset: free((world) => uploaded(world, '/datasets/upload')),
  listDatasets: list('/datasets?limit=100'),
  getDataset: ofDataset(''),
  updateDataset: object(({ dataset }) => ({
    method: 'PATCH',
    path: `/datasets/${dataset}`,
    body: { notes: 'n' },
  })),
  deleteDataset: object(async (_, fresh) => ({
    method: 'DELETE',
    path: `/datasets/${(await fresh()).dataset}`,
  })),
  listSections: ofDataset('/sections'),
  changeItems: object(async (_, fresh) =>
    post(`/datasets/${(await fresh()).dataset}/items?mode=append`, ITEM),
  ),
  editItems: object(async (_, fresh) => ({
    method: 'PATCH',
    path: `/datasets/${(await fresh()).dataset}/items`,
    body: edit,
  })),
  listItems: ofDataset('/items'),
  listVersions: ofDataset('/versions'),
  restoreVersion: object(async (_, fresh) =>
    post(`/datasets/${(await fresh()).dataset}/restore`, { version: 1 }),
  ),
  deleteVersion: object(async (_, fresh) => ({
    method: 'DELETE',
    path: `/datasets/${(await fresh()).dataset}/versions/1`,
  })),
  streamItems: ofDataset('/items.jsonl'),
  diffDatasets: object(({ dataset }) => ({ path: `/datasets/${dataset}/diff/${dataset}` })),
  downloadItemsCsv: ofDataset('/items.csv'),
  downloadItemsParquet: ofDataset('/items.parquet'),
  getAsset: object(({ dataset, asset }) => ({ path: `/datasets/${dataset}/assets/${asset}` })),
  exportDataset: ofDataset('/export'),
  createRun: object((world) => post('/runs', newRun(world))),
  listRuns: list('/runs?limit=100'),
  tryRun: object(({ dataset }) =>
    post('/runs/try', { dataset_id: dataset, config: { provider: { type: 'external', label: 'x' } } }),
  ),
  updateRun: object(({ run }) => ({ method: 'PATCH', path: `/runs/${run}`, body: { note: 'n' } })),
  deleteRun: object(async (_, fresh) => ({ method: 'DELETE', path: `/runs/${(await fresh()).run}` })),
  getRun: ofRun(''),
  cancelRun: object(async (_, fresh) => post(`/runs/${(await fresh()).waiting}/cancel`)),
  retryRun: object(({ run }) => post(`/runs/${run}/retry`, { only: 'failed' })),
  finishRun: object(({ run }) => post(`/runs/${run}/finish`)),
  rescoreRun: object(({ run }) => post(`/runs/${run}/rescore`, { checker: 'exact_match' })),
  compareRuns: object(({ run, waiting }) => ({ path: `/runs/${run}/compare/${waiting}` })),
  compareRunSlices: object(({ run, waiting }) => ({
    path: `/runs/${run}/compare/${waiting}/slices?by=tag`,
  })),
  listPendingResults: object(({ waiting }) => ({ path: `/runs/${waiting}/pending` })),
  claimPendingResults: object(({ waiting }) => post(`/runs/${waiting}/pending`)),
  pushResults: object(({ waiting }) =>
    post(`/runs/${waiting}/results`, '{"section":"s","order_index":0,"output":"x"}'),
  ),
  listRunResults: ofRun('/results'),
  pushScores: object(({ run }) =>
    post(`/runs/${run}/scores`, '{"section":"s","order_index":0,"scores":{"m":{"score":1}}}'),
  ),
  sliceRun: ofRun('/slices?by=section'),
  listRunErrors: ofRun('/errors'),
  getResultRequest: ofRun('/results/s/0/1/request'),
  labelResult: object(({ run }) => ({
    method: 'PUT',
    path: `/runs/${run}/results/s/0/1/label`,
    body: { verdict: 'fail' },
  })),
  listRunLabels: ofRun('/labels'),
  downloadLabelsCsv: ofRun('/labels.csv'),
  getRunAgreement: ofRun('/agreement'),
  listProviders: free(() => ({ path: '/providers' })),
  watchRun: ofRun('/events'),
  downloadResultsJsonl: ofRun('/results.jsonl'),
  downloadResultsCsv: ofRun('/results.csv'),
  downloadResultsParquet: ofRun('/results.parquet'),
  exportRun: ofRun('/export?format=inspect'),
  listJobs: list('/jobs?limit=100'),
  getJob: object(({ job }) => ({ path: `/jobs/${job}` })),
  cancelJob: object(async (_, fresh) => post(`/jobs/${(await fresh()).job}/cancel`)),
  watchJob: object(({ job }) => ({ path: `/jobs/${job}/events` })),
  getSettings: free(() => ({ path: '/settings' })),
  updateSettings: {
    kind: 'hidden',
    ask: () => ({ method: 'PATCH', path: '/settings', body: { cancellation_check_interval_ms: 3000 } }),
  },
  listAudit: list('/audit?limit=100'),
  downloadAuditCsv: list('/audit.csv'),
  downloadAuditJsonl: list('/audit.jsonl'),
  getStatus: free(() => ({ path: '/status' })),
  sendOnboardingTelemetry: free(() => post('/telemetry/onboarding')),
  createSession: free(() => post('/session', { key: KEYS.viewer })),
  getSession: free(() => ({ path: '/session' })),
  endSession: free(() => ({ method: 'DELETE', path: '/session' })),
  getHealth: free(() => ({ path: '/healthz' })),
  getReadiness: free(() => ({ path: '/readyz' })),
  getMetrics: { kind: 'hidden', ask: () => ({ path: '/metrics' }) },
  checkUpload: free((world) => uploaded(world, '/datasets/upload/check')),
  checkHubImport: free(({ handle }) => post('/datasets/hub/check', hubImport(`${handle}-hub`))),
  checkChange: object(({ dataset }) => post(`/datasets/${dataset}/items/check?mode=append`, ITEM)),
  checkEdit: object(({ dataset }) => ({
    method: 'PATCH',
    path: `/datasets/${dataset}/items/check`,
    body: edit,
  })),
  planRun: object((world) => post('/runs/plan', newRun(world))),
  listHubDatasets: list('/api/datasets'),
  getHubCaller: free(() => ({ path: '/api/whoami-v2' })),
  getHubDataset: ofRepository(''),
  getHubDatasetRevision: ofRepository('/revision/main'),
  listHubFiles: ofRepository('/tree/main'),
  listHubFolder: ofRepository('/tree/main/data'),
  findHubFiles: object(({ handle }) =>
    post(`/api/datasets/svc/${handle}/paths-info/main`, { paths: ['README.md'] }),
  ),
  listHubRefs: ofRepository('/refs'),
  listHubCommits: ofRepository('/commits/main'),
  downloadHubFile: object(({ handle }) => ({ path: `/datasets/svc/${handle}/resolve/main/README.md` })),
  getConsoleFile: free(() => ({ path: '/console/assets/none.js' })),
  getConsole: free(() => ({ path: '/console' })),
  getConsolePage: free(() => ({ path: '/console/runs' })),
  getConsoleEntry: free(() => ({ path: '/console/runs/x' })),
  getRoot: free(() => ({ path: '/' })),
  getOpenApi: free(() => ({ path: '/openapi.json' })),
  getDocs: free(() => ({ path: '/docs' })),
  getDocsFile: free(() => ({ path: '/docs/none' })),
};

it('decides every operation for every kind of caller', async () => {
  const { body: document } = await send('nobody', { path: '/openapi.json' });
  const operations = Object.values<Body>(document.paths).flatMap((methods) => Object.values<Body>(methods));
  expect.soft(operations.map(({ operationId }) => operationId).sort()).toEqual(Object.keys(DECISIONS).sort());
  for (const { operationId, 'x-access': access } of operations) {
    const { kind, ask } = DECISIONS[operationId] as Decision;
    for (const caller of CALLERS) {
      const at = `${operationId} by ${caller}`;
      const changes = ['editor', 'admin', 'inside'].includes(caller);
      const fresh = () => (changes ? makeWorld(`team-a-${worlds}`) : Promise.resolve(own));
      const asked = await ask(caller === 'outside' && kind === 'free' ? foreign : own, fresh);
      const { status, body, text } = await send(caller, asked);
      const answer = `${at}: ${status} ${text.slice(0, 300)}`;
      if (access === 'public') {
        expect.soft([401, 403], answer).not.toContain(status);
        continue;
      }
      if (access === 'anyone') {
        if (operationId !== 'getSession') expect.soft(status, answer).toBe(204);
        else if (caller === 'nobody') expect.soft(body.code, answer).toBe('unauthenticated');
        else if (caller === 'expired') expect.soft(body.code, answer).toBe('key_expired');
        else expect.soft(status, answer).toBe(200);
        continue;
      }
      if (caller === 'nobody' || caller === 'expired') {
        expect
          .soft([status, body.code], answer)
          .toEqual([401, caller === 'nobody' ? 'unauthenticated' : 'key_expired']);
        continue;
      }
      const role = ROLE[caller] as keyof typeof RANK;
      if (access !== 'metrics' && RANK[role] < RANK[access as keyof typeof RANK]) {
        expect.soft([status, body.code], answer).toEqual([403, 'forbidden']);
        continue;
      }
      if (
        (kind === 'hidden' && (caller === 'inside' || caller === 'outside')) ||
        (kind === 'object' && caller === 'outside')
      ) {
        expect.soft(status, answer).toBe(404);
        for (const id of [own.handle, 'Which of'])
          expect.soft(text.replaceAll(asked.path, ''), answer).not.toContain(`"${id}"`);
        continue;
      }
      // The run asks no model; the hub has no dataset.
      const may =
        operationId === 'getResultRequest' || (kind === 'free' && /Hub/.test(operationId)) ? [404] : [];
      expect
        .soft(
          [401, 403, 404, 500].filter((one) => !may.includes(one)),
          answer,
        )
        .not.toContain(status);
      expect.soft(String(body?.code), answer).not.toMatch(/^(?:dataset|run|job|version)_not_found$/);
      if (kind !== 'list') continue;
      expect
        .soft(
          text.includes(own.dataset) ||
            text.includes(own.handle) ||
            text.includes(own.run) ||
            text.includes(own.job),
          answer,
        )
        .toBe(caller !== 'outside');
      if (caller === 'inside')
        for (const id of Object.values(foreign))
          if (id !== own.asset) expect.soft(text, at).not.toContain(id);
    }
  }
}, 120_000);

it('finds nothing of other datasets by any id that a request can hold', async () => {
  const outside = (asked: Asked) => send('outside', asked);
  const config = { provider: 'echo', checker: 'exact_match', checker_mode: 'override' };
  const link = `/datasets/${own.handle}/assets/${own.asset}`;
  const withLink = JSON.stringify({
    inputs: { prompt: 'x' },
    assets: { a: { mime_type: 'image/gif', url: link } },
  });
  const { next_cursor: cursor } = (await send('admin', { path: '/datasets?limit=1' })).body.meta;
  const same = '{"section":"s","order_index":0,"output":"yes"}';
  const model = { type: 'openai_compatible', base_url: 'http://127.0.0.1:9/v1', model: 'm' };
  const bar = { metric: 'mean', max_drop: 0.1, baseline: own.run };
  const waiting = { provider: { type: 'external', label: 'x' } };
  const { id: compared } = await made(
    post('/runs', { dataset_id: foreign.dataset, config: waiting, bar }),
    202,
  );
  await made(post(`/runs/${compared}/finish`, { allow_missing: true }), 200);
  const absent: readonly (readonly [string, Asked])[] = [
    ['the other dataset of a diff', { path: `/datasets/${foreign.dataset}/diff/${own.dataset}` }],
    [
      'the other dataset of a diff by handle',
      { path: `/datasets/${foreign.dataset}/diff/${own.handle.toUpperCase()}` },
    ],
    ['the other run of a comparison', { path: `/runs/${foreign.run}/compare/${own.run}` }],
    ['the other run of compared slices', { path: `/runs/${foreign.run}/compare/${own.run}/slices?by=tag` }],
    ['a version of a dataset', { path: `/datasets/${own.dataset}?version=1` }],
    ['a version that is not there', { path: `/datasets/${own.handle}?version=99` }],
    ['the runs of a dataset', { path: `/runs?dataset_id=${own.handle}` }],
    ['the run of an export', { path: `/datasets/${foreign.dataset}/export?run_id=${own.run}` }],
    [
      'a run to reuse',
      post('/runs', {
        dataset_id: foreign.dataset,
        config: { ...config, provider: model, reuse: { run_id: own.run } },
      }),
    ],
    [
      'a run as a baseline',
      post('/runs', { dataset_id: foreign.dataset, config, bar: { ...bar, baseline: own.run } }),
    ],
    [
      'the baseline of a run',
      { path: `/datasets/${foreign.dataset}/export?run_id=${compared}&include_baseline=true` },
    ],
    ['a run in upper case', { path: `/runs/${own.run.toUpperCase()}` }],
    ['a dataset without its prefix', { path: `/api/datasets/${own.handle}` }],
    ['a file of a dataset without its prefix', { path: `/datasets/${own.dataset}/resolve/main/README.md` }],
  ];
  for (const [what, asked] of absent) {
    const { status, text } = await outside(asked);
    expect.soft(status, `${what}: ${text}`).toBe(404);
    // The same as for what has never been.
    const never = asked.path.replaceAll(own.run, randomUUID()).replaceAll(own.dataset, randomUUID());
    if (never !== asked.path) expect((await outside({ ...asked, path: never })).status, what).toBe(status);
  }
  const links = await outside(post(`/datasets/${foreign.dataset}/items?mode=append`, `${withLink}\n`));
  expect([links.status, links.text]).toEqual([400, expect.stringContaining('there is no dataset')]);
  const next = await outside({ path: `/datasets?limit=100&cursor=${cursor}` });
  expect(next.text).not.toContain(own.dataset);
  expect((await outside({ path: `/datasets?q=${own.dataset}` })).body.meta.total_items).toBe(0);
  expect((await outside({ path: `/audit?object=${own.dataset}` })).body.meta.total_items).toBe(0);
  expect((await outside({ path: '/providers' })).status).toBe(200);

  // The log of another tool joins the dataset that has its items, if the key sees that.
  const exported = await fetch(`${api.url}/runs/${own.run}/export?format=inspect`, {
    headers: { authorization: `Bearer ${KEYS.inside}` },
  });
  const log = new Uint8Array(await exported.arrayBuffer());
  const uploadAs = (caller: Caller) =>
    send(caller, post('/datasets/upload', uploadForm(log, {}, 'log.eval')));
  expect((await uploadAs('inside')).body).toMatchObject({ id: own.dataset, run_id: expect.any(String) });
  const refused = await uploadAs('outside');
  expect(refused.body).toMatchObject({
    code: 'invalid_request',
    detail: expect.stringContaining('"team-b-"'),
  });
  expect(refused.text).not.toContain(own.dataset);

  // A label of the same output of the same item.
  const question = JSON.stringify({ id: 'same', inputs: { prompt: 'Same?' } });
  const runOf = async (handle: string): Promise<string> => {
    const first = question.replace('same', 'first');
    const archive = await makePackage({ 'sections/s.jsonl': `${first}\n${question}\n` });
    const { id } = await made(post('/datasets/upload', uploadForm(archive, { handle })), 201);
    const { id: run } = await made(
      post('/runs', { dataset_id: id, config: { provider: { type: 'external', label: 'x' } } }),
      202,
    );
    await made(post(`/runs/${run}/results`, `${same}\n${same.replace('0', '1')}`), 200);
    return run;
  };
  const [mine, theirs] = [await runOf('team-a-same'), await runOf('team-b-same')];
  const label = {
    method: 'PUT',
    path: `/runs/${mine}/results/s/1/1/label`,
    body: { verdict: 'fail', note: 'secret note' },
  };
  expect((await send('inside', label)).status).toBe(200);
  for (const path of [
    '/labels',
    '/labels.csv',
    '/results',
    '/agreement',
    '/results?label=fail',
    '/results.jsonl',
  ]) {
    expect((await outside({ path: `/runs/${theirs}${path}` })).text, path).not.toMatch(/secret note|"In"/);
    if (!path.includes('agreement'))
      expect((await send('inside', { path: `/runs/${mine}${path}` })).text, path).toMatch(/secret note/);
  }
  const byLabel = async (caller: Caller, run: string): Promise<number[]> => {
    const { body } = await send(caller, { path: `/runs/${run}/results?sort=label` });
    return body.data.map(({ order_index }: Body) => order_index);
  };
  expect(await byLabel('inside', mine)).toEqual([1, 0]);
  expect(await byLabel('outside', theirs)).toEqual([0, 1]);
});

it('lets such a key make datasets under its handles only, and rename none away', async () => {
  const archive = await makePackage({ 'sections/s.jsonl': ITEM });
  const upload = (handle: string | undefined, query = '') =>
    send(
      'outside',
      post(`/datasets/upload${query}`, uploadForm(archive, handle === undefined ? {} : { handle })),
    );
  for (const query of ['', '?if_exists=reuse', '?if_exists=error', '?dry_run=true']) {
    expect((await upload(undefined, query)).body, query).toMatchObject({ code: 'invalid_request' });
    expect((await upload('team-a-new', query)).body, query).toMatchObject({ code: 'invalid_request' });
  }
  expect((await upload(own.handle, '?if_exists=version')).status).toBe(400);
  const { status, body } = await upload('Team-B-new');
  expect(status).toBe(201);
  const rename = (handle: string | null) =>
    send('outside', { method: 'PATCH', path: `/datasets/${body.id}`, body: { handle } });
  expect((await rename('team-a-new')).status).toBe(400);
  expect((await rename(null)).status).toBe(400);
  expect((await rename('team-b-newer')).status).toBe(200);
  await made({ method: 'PATCH', path: `/datasets/${body.id}`, body: { handle: 'team-c-new' } }, 200);
  expect((await send('outside', { path: `/datasets/${body.id}` })).status).toBe(404);
});
