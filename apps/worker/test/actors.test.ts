import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '../../../tools/vitest/until.ts';
import { type Body, type LogLine, startTestService, type TestService } from './start-test-service.ts';

let cleanUp: AsyncDisposableStack;
let service: TestService;
let datasetId: string;

const KEYS = {
  Ada: 'key-of-ada-of-the-tests',
  'Ben M.': 'key-of-ben-of-the-tests',
  'key 3': 'key-without-a-name-1',
};
type Name = keyof typeof KEYS;

beforeAll(async () => {
  cleanUp = new AsyncDisposableStack();
  const SVC_API_KEYS = `admin:${KEYS.Ada}:Ada,editor:${KEYS['Ben M.']}:Ben M.,admin:${KEYS['key 3']}`;
  service = cleanUp.use(await startTestService({ env: { SVC_API_KEYS } }));
  datasetId = await service.importItems([{ id: 'q', inputs: { prompt: 'What?' }, answer: 'What?' }]);
});
afterAll(() => cleanUp.disposeAsync());

async function send(name: Name | null, method: string, path: string, init: RequestInit = {}): Promise<Body> {
  const headers = new Headers(init.headers);
  if (name !== null) headers.set('authorization', `Bearer ${KEYS[name]}`);
  const response = await fetch(`${service.url}${path}`, { ...init, method, headers });
  const text = await response.text();
  return { status: response.status, body: text === '' ? null : JSON.parse(text) };
}

const lineOf = (lines: () => LogLine[], which: LogLine): Promise<LogLine | undefined> =>
  until(
    async () => lines().find((line) => Object.entries(which).every(([name, value]) => line[name] === value)),
    (found) => found !== undefined,
  );

it('says who started a run, in the run and in the lines of API and worker', async () => {
  for (const name of ['Ada', 'key 3', 'Ben M.'] as const) {
    const config = { provider: 'echo', checker: 'exact_match', checker_mode: 'override' };
    const init = {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ dataset_id: datasetId, config }),
    };
    const { status, body: run } = await send(name, 'POST', '/runs', init);
    expect([status, run.created_by]).toEqual([202, name]);
    const ended = await lineOf(service.workerLog, { event: 'worker.run.finish', run_id: run.id });
    expect(ended).toMatchObject({ actor: name });
    expect(await lineOf(service.apiLog, { event: 'run.create', run_id: run.id })).toMatchObject({
      actor: name,
    });
    expect((await send('Ada', 'GET', `/runs/${run.id}`)).body.created_by).toBe(name);
    expect((await send('Ada', 'GET', `/runs?dataset_id=${datasetId}`)).body.data[0].created_by).toBe(name);
  }
});

it('says who uploaded, changed and deleted, also where a worker does it', async () => {
  const form = new FormData();
  form.set('file', new Blob(['{"inputs":{"prompt":"Why?"}}\n']), 'new.jsonl');
  const { body: job } = await send('Ben M.', 'POST', '/datasets/upload', {
    ...{ body: form, headers: { prefer: 'respond-async' } },
  });
  const uploaded = { event: 'job.finish', kind: 'upload', job_id: job.id };
  expect(await lineOf(service.workerLog, uploaded)).toMatchObject({ actor: 'Ben M.' });
  const { body: after } = await send('Ada', 'GET', `/jobs/${job.id}`);
  expect((await send('key 3', 'DELETE', `/datasets/${after.dataset_id}`)).status).toBe(204);
  const deleted = { event: 'http.request', method: 'DELETE' };
  expect(await lineOf(service.apiLog, deleted)).toMatchObject({ actor: 'key 3', status_code: 204 });
  expect((await send(null, 'DELETE', `/datasets/${datasetId}`)).status).toBe(401);
  const refused = { ...deleted, status_code: 401 };
  expect(await lineOf(service.apiLog, refused)).toMatchObject({ actor: 'anonymous' });
  for (const key of Object.values(KEYS)) {
    expect(JSON.stringify([service.apiLog(), service.workerLog()])).not.toContain(key);
  }
});
