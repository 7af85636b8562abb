import { afterAll, beforeAll, expect, it } from 'vitest';
import { runEnded, startTestService, type TestService } from './start-test-service.ts';

let cleanUp: AsyncDisposableStack;
let service: TestService;
let first: string;
let second: string;

beforeAll(async () => {
  cleanUp = new AsyncDisposableStack();
  service = cleanUp.use(await startTestService());
  const dataset = await service.importItems([{ type: 'exact', inputs: { prompt: 'yes' }, answer: 'yes' }]);
  const start = async (name: string, provider: object): Promise<string> => {
    const { body } = await service.post('/runs', { dataset_id: dataset, name, config: { provider } });
    await runEnded(service, body.id);
    return body.id;
  };
  const model = { type: 'openai_compatible', base_url: 'http://127.0.0.1:9', model: 'a-model' };
  first = await start('First of ALL', { type: 'echo' });
  second = await start('the second', model);
});
afterAll(() => cleanUp.disposeAsync());

const found = async (query: string): Promise<string[]> => {
  const { body } = await service.get(`/runs?${query}`);
  expect(body.meta.total_items).toBe(body.data.length);
  return body.data.map((run: { id: string }) => run.id);
};

it('labels runs, takes notes, and leaves what a request does not state', async () => {
  const labels = ['baseline', 'team/a', 'baseline'];
  const { status, body } = await service.patch(`/runs/${first}`, { labels, note: 'with the old prompt' });
  expect(status).toBe(200);
  const changed = { name: 'First of ALL', labels: ['baseline', 'team/a'], note: 'with the old prompt' };
  expect(body).toMatchObject(changed);
  expect((await service.get(`/runs/${first}`)).body).toMatchObject(changed);
  expect((await service.get(`/runs/${second}`)).body).toMatchObject({ labels: [], note: null });
  const renamed = await service.patch(`/runs/${first}`, { name: 'First' });
  expect(renamed.body).toMatchObject({ ...changed, name: 'First' });
  expect(await found('label=baseline')).toEqual([first]);
  expect(await found('label=base')).toEqual([]);
  const cleared = await service.patch(`/runs/${first}`, { labels: [], note: null });
  expect(cleared.body).toMatchObject({ name: 'First', labels: [], note: null });
});

it.each<[string, object]>([
  ['nothing', {}],
  ['a label with a blank', { labels: ['a b'] }],
  ['an empty label', { labels: [''] }],
  ['a long label', { labels: ['a'.repeat(65)] }],
  ['21 labels', { labels: Array.from({ length: 21 }, (_, index) => `l${index}`) }],
  ['labels that are a text', { labels: 'a' }],
  ['a long note', { note: 'a'.repeat(10_001) }],
  ['a note with a NUL', { note: 'a\0b' }],
])('refuses %s', async (_, body) => {
  expect((await service.patch(`/runs/${first}`, body)).status).toBe(400);
});

it('finds runs by name, model and version', async () => {
  expect(await found('name=SECOND')).toEqual([second]);
  expect(await found('name=%25')).toEqual([]);
  expect(await found('name=%00')).toEqual([]);
  expect(await found('model=a-model')).toEqual([second]);
  expect(await found('model=%00')).toEqual([]);
  expect(await found('version=1')).toEqual([second, first]);
  expect(await found('version=2')).toEqual([]);
  expect(await found('version=1&model=a-model&status=completed')).toEqual([second]);
});
