import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '../../../tools/vitest/until.ts';
import { makePackage, uploadForm } from '../../api/test/make-package.ts';
import { type Body, startTestService, type TestService } from './start-test-service.ts';

const KEYS = {
  Ada: 'key-of-ada-of-the-audit',
  'Ben M.': 'key-of-ben-of-the-audit',
  'key 3': 'key-without-a-name-of-it',
  Cleo: 'key-of-cleo-with-handles',
};
type Name = keyof typeof KEYS;
const NAMES = Object.keys(KEYS) as Name[];

let service: TestService;
beforeAll(async () => {
  const SVC_API_KEYS = `admin:${KEYS.Ada}:Ada,admin:${KEYS['Ben M.']}:Ben M.,admin:${KEYS['key 3']},admin:${KEYS.Cleo}:Cleo;handles=of-3-`;
  service = await startTestService({ env: { SVC_API_KEYS } });
});
afterAll(() => service[Symbol.asyncDispose]());

interface Asked {
  readonly method?: string;
  readonly path: string;
  readonly body?: object | string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly status: number;
}

let requests = 0;

/** Sends a request. @returns what it answers, and its id */
async function send(
  name: Name,
  { method = 'POST', path, body, headers, status }: Asked,
): Promise<{ body: Body; id: string }> {
  requests += 1;
  const id = `request-${requests}`;
  const isJson = typeof body === 'object' && !(body instanceof FormData);
  const response = await fetch(`${service.url}${path}`, {
    method,
    headers: {
      ...{ authorization: `Bearer ${KEYS[name]}`, 'x-request-id': id },
      ...(isJson ? { 'content-type': 'application/json' } : {}),
      ...(typeof body === 'string' ? { 'content-type': 'application/jsonl' } : {}),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body) : (body as string | FormData) }),
  });
  const text = await response.text();
  expect([response.status, method, path, text.slice(0, 300)]).toEqual([
    status,
    method,
    path,
    expect.anything(),
  ]);
  return {
    body: /\/json(?:;|$)/.test(response.headers.get('content-type') ?? '') ? JSON.parse(text) : text,
    id,
  };
}

const audit = async (query = ''): Promise<Body[]> => {
  const { body } = await send('Ada', { method: 'GET', path: `/audit?limit=100${query}`, status: 200 });
  return body.data;
};
const total = async (): Promise<number> =>
  (await send('Ada', { method: 'GET', path: '/audit?limit=1', status: 200 })).body.meta.total_items;

const item = (id: number, text = `${id}`) =>
  `{"id":${id},"type":"exact","inputs":{"prompt":"${text}"},"answer":"${text}"}\n`;
const packageOf = async (handle: string, text: string) =>
  uploadForm(await makePackage({ 'sections/s.jsonl': item(1, text) + item(2, text) }), {
    handle,
    name: `Set ${handle}`,
  });
const config = { provider: 'echo', checker: 'exact_match', checker_mode: 'override' };
const external = { ...config, provider: { type: 'external', label: 'x' } };
const line = (order_index: number) => `{"section":"s","order_index":${order_index},"output":"x"}\n`;

/** Waits for a run or a job to end. */
const ended = async (name: Name, path: string): Promise<Body> =>
  await until(
    async () => (await send(name, { method: 'GET', path, status: 200 })).body,
    ({ finished_at }) => finished_at !== null,
  );

it('has each change of four keys once, by whom and by which request, and nothing else', async () => {
  const expected: { actor: string; action: string; request_id: string }[] = [];
  for (const [index, name] of NAMES.entries()) {
    const handle = `of-${index}-set`;
    /** Makes a change that these rows tell of. */
    const change = async (actions: string, asked: Asked): Promise<Body> => {
      const { body, id } = await send(name, asked);
      for (const action of actions.split(' ')) expected.push({ actor: name, action, request_id: id });
      return body;
    };
    const nothing = async (asked: Asked): Promise<Body> => (await send(name, asked)).body;
    const upload = async (more: Partial<Asked> = {}, as = handle): Promise<Asked> => {
      return { path: '/datasets/upload', body: await packageOf(as, name), status: 201, ...more };
    };
    const { id: dataset } = await change('dataset.create', await upload());
    const of = `/datasets/${dataset}`;
    await nothing(await upload({ status: 409 }));
    await nothing(await upload({ path: '/datasets/upload?if_exists=reuse', status: 200 }));
    await nothing(await upload({ path: '/datasets/upload?dry_run=true', status: 200 }, `${handle}-dry`));
    await nothing({ path: `${of}/items/check?mode=append`, body: item(9), status: 200 });
    await change('dataset.change', { path: `${of}/items?mode=append`, body: item(3), status: 201 });
    await nothing({ path: `${of}/items?mode=upsert`, body: item(3), status: 200 });
    const edits = [{ item_id: 3, item: { id: 3, type: 'exact', inputs: { prompt: 'new' }, answer: 'new' } }];
    await change('dataset.change', { method: 'PATCH', path: `${of}/items`, body: { edits }, status: 201 });
    await nothing({
      method: 'PATCH',
      path: `${of}/items`,
      body: { edits: [{ item_id: 99, remove: true }] },
      status: 404,
    });
    const patch = (body: object, status = 200): Asked => ({ method: 'PATCH', path: of, body, status });
    await change('dataset.update', patch({ description: 'Questions' }));
    await nothing(patch({ description: 'Questions' }));
    await change('dataset.rename', patch({ name: 'Other' }));
    await change('dataset.rename', patch({ handle: `${handle}-2` }));
    await nothing(patch({ handle: 'no handle' }, 400));
    await change('dataset.rename dataset.update', patch({ name: 'Third', notes: 'n' }));
    await change('dataset.restore', { path: `${of}/restore`, body: { version: 1 }, status: 201 });
    await nothing({ path: `${of}/restore`, body: { version: 1 }, status: 200 });
    await change('version.delete', { method: 'DELETE', path: `${of}/versions/2`, status: 204 });
    await nothing({ method: 'DELETE', path: `${of}/versions/2`, status: 404 });

    const start = (of: object, more: Partial<Asked> = {}): Asked => {
      return { path: '/runs', body: { dataset_id: dataset, config: of }, status: 202, ...more };
    };
    await nothing(start(config, { path: '/runs/plan', status: 200 }));
    const { id: run } = await change('run.create', start(external));
    await change('results.push', { path: `/runs/${run}/results`, body: line(0), status: 200 });
    await nothing({ path: `/runs/${run}/results`, body: line(7), status: 200 });
    await nothing({ path: `/runs/${run}/finish`, body: {}, status: 409 });
    await change('run.finish', { path: `/runs/${run}/finish`, body: { allow_missing: true }, status: 200 });
    await nothing({ path: `/runs/${run}/finish`, body: { allow_missing: true }, status: 200 });
    await change('run.retry', { path: `/runs/${run}/retry`, body: { only: 'missing' }, status: 202 });
    await change('results.push', { path: `/runs/${run}/results`, body: line(0) + line(1), status: 200 });
    await change('run.finish', { path: `/runs/${run}/finish`, body: {}, status: 200 });
    const scores = '{"section":"s","order_index":0,"scores":{"mine":{"score":1}}}';
    await change('scores.push', { path: `/runs/${run}/scores`, body: scores, status: 200 });
    const label = (body: object): Asked => ({
      method: 'PUT',
      path: `/runs/${run}/results/s/0/1/label`,
      body,
      status: 200,
    });
    await change('label.set', label({ verdict: 'pass' }));
    await nothing(label({ verdict: 'pass' }));
    await change('label.set', label({ verdict: 'pass', note: 'why', types: ['t'] }));
    await change('label.delete', label({ verdict: null }));
    await nothing(label({ verdict: null }));
    const rename = (body: object): Asked => ({ method: 'PATCH', path: `/runs/${run}`, body, status: 200 });
    await change('run.update', rename({ name: 'A run', labels: ['best'] }));
    await nothing(rename({ name: 'A run' }));

    const once = { 'idempotency-key': 'a key' };
    const asked = await change('run.create run.finish', start(config, { headers: once }));
    await nothing(start(config, { headers: once }));
    await ended(name, `/runs/${asked.id}`);
    const again = await change('run.create run.finish', {
      path: `/runs/${run}/rescore`,
      body: { checker: 'includes' },
      status: 202,
    });
    await ended(name, `/runs/${again.id}`);
    const add = {
      path: `/runs/${asked.id}/rescore`,
      body: { add: true, scorers: [{ name: 'c', checker: 'includes' }] },
      status: 202,
    };
    await change('run.rescore run.finish', add);
    await ended(name, `/runs/${asked.id}`);
    const { id: waiting } = await change('run.create', start(external));
    await change('run.cancel', { path: `/runs/${waiting}/cancel`, status: 202 });
    await nothing({ path: `/runs/${waiting}/cancel`, status: 202 });
    await change('run.delete', { method: 'DELETE', path: `/runs/${waiting}`, status: 204 });

    const job = await change(
      'dataset.create',
      await upload({ status: 202, headers: { prefer: 'respond-async' } }, `${handle}-later`),
    );
    const { dataset_id: later } = await ended(name, `/jobs/${job.id}`);
    await nothing({ path: `/jobs/${job.id}/cancel`, status: 202 });
    await change('dataset.delete', { method: 'DELETE', path: `/datasets/${later}`, status: 204 });
    const settings = (status: number, value = 1_000 + index): Asked => {
      return { method: 'PATCH', path: '/settings', body: { cancellation_check_interval_ms: value }, status };
    };
    if (name === 'Cleo') await nothing(settings(404));
    else {
      await change('settings.update', settings(200));
      await nothing(settings(200));
    }
    await change('dataset.delete', { method: 'DELETE', path: of, status: 204 });
    await nothing({ method: 'DELETE', path: of, status: 404 });
  }
  expect(expected.length).toBeGreaterThan(120);
  const found: Body[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body }: Body = await send('Ada', {
      method: 'GET',
      path: `/audit?limit=100${cursor && `&cursor=${cursor}`}`,
      status: 200,
    });
    found.push(...body.data);
    cursor = body.meta.next_cursor;
  }
  const brief = ({ actor, action, request_id }: Body) => `${request_id} ${action} ${actor.name ?? actor}`;
  expect(found.map(brief).sort()).toEqual(expected.map(brief).sort());
  expect(new Set(found.map(({ actor }) => actor.role))).toEqual(new Set(['admin']));
  expect(found.map(({ at }) => at)).toEqual(
    found
      .map(({ at }) => at)
      .toSorted()
      .reverse(),
  );
  const texts = JSON.stringify(found.map(({ details }) => details));
  expect(texts).not.toMatch(/Questions|why|new|A run/);

  // Filters, tables, and what keys with handles read.
  expect((await audit('&actor=Ben%20M.&action=run.cancel')).map(brief)).toHaveLength(1);
  const last = found[0];
  expect(last).toMatchObject({
    action: 'dataset.delete',
    object: { kind: 'dataset', name: 'Third', handle: 'of-3-set-2', version: 4 },
  });
  const ofOne = await audit(`&object=${last.object.id}`);
  expect(ofOne.map(({ action }) => action)).toEqual([
    'dataset.delete',
    'version.delete',
    'dataset.restore',
    ...Array(2)
      .fill(0)
      .flatMap(() => ['dataset.update', 'dataset.rename'])
      .slice(0, 2),
    'dataset.rename',
    'dataset.rename',
    'dataset.update',
    'dataset.change',
    'dataset.change',
    'dataset.create',
  ]);
  expect(await audit(`&from=${last.at}&to=${last.at}`)).toEqual([]);
  const { body: csv } = await send('Ada', { method: 'GET', path: '/audit.csv?actor=Ada', status: 200 });
  expect(csv.trim().split('\n')).toHaveLength(1 + found.filter(({ actor }) => actor.name === 'Ada').length);
  const { body: own } = await send('Cleo', { method: 'GET', path: '/audit.jsonl', status: 200 });
  const lines = own
    .trim()
    .split('\n')
    .map((one: string) => JSON.parse(one));
  expect(lines.map(brief).sort()).toEqual(
    expected
      .filter(({ actor }) => actor === 'Cleo')
      .map(brief)
      .sort(),
  );
}, 120_000);

it('forgets what is older than it keeps, and nothing for 0 days', async () => {
  const before = await total();
  expect(await service.store.audit.purge(0)).toBe(0);
  expect(await service.store.audit.purge(1)).toBe(0);
  expect(await total()).toBe(before);
});
