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
  for (const filter of ['label', 'name', 'model']) expect(await found(`${filter}=%00`)).toEqual([]);
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

it('sorts runs, page after page', async () => {
  const dataset = await service.importItems(
    ['yes', 'no', 'no'].map((answer) => ({ type: 'exact', inputs: { prompt: 'yes' }, answer })),
  );
  const nobody = { type: 'openai_compatible', base_url: 'http://127.0.0.1:9', model: 'm' };
  const unanswered = { provider: nobody, max_retries: 0 };
  const started: [string | null, object][] = [
    ['beta', { provider: 'echo', select: { limit: 1 } }],
    [null, unanswered],
    ['Alpha', { provider: 'echo' }],
    ['alpha', { provider: 'echo', select: { limit: 2 } }],
    [null, { provider: 'echo', select: { limit: 1 } }],
    ['gamma', unanswered],
  ];
  const runs: { id: string; at: number; name: string | null; score: number | null }[] = [];
  for (const [at, [name, config]] of started.entries()) {
    const { body } = await service.post('/runs', { dataset_id: dataset, name, config });
    const { id, scores } = await runEnded(service, body.id);
    runs.push({ id, at, name: name?.toLowerCase() ?? null, score: scores.mean });
  }
  expect(runs.map(({ score }) => score)).toContain(null);
  expect(new Set(runs.map(({ score }) => score)).size).toBeGreaterThan(2);
  const page = async (query: string): Promise<Awaited<ReturnType<typeof service.get>>> =>
    await service.get(`/runs?dataset_id=${dataset}&limit=1${query}`);
  for (const sort of ['created_at', 'score', 'name']) {
    const key = { created_at: 'at', score: 'score', name: 'name' }[sort] as 'at' | 'score' | 'name';
    for (const sign of [1, -1]) {
      const expected = runs.toSorted((one, other) => {
        const [left, right] = [one[key], other[key]];
        if (left === right) return sign * (one.at - other.at);
        if (left === null || right === null) return left === null ? 1 : -1;
        return left < right ? -sign : sign;
      });
      const query = `&sort=${sign === 1 ? '' : '-'}${sort}`;
      const listed: string[] = [];
      for (let cursor = ''; ; ) {
        const { body } = await page(query + cursor);
        expect(body.meta.total_items).toBe(runs.length);
        listed.push(...body.data.map(({ id }: { id: string }) => id));
        if (body.meta.next_cursor === null) break;
        cursor = `&cursor=${body.meta.next_cursor}`;
      }
      expect(listed, query).toEqual(expected.map(({ id }) => id));
    }
  }
  const { body } = await page('&sort=score');
  expect((await page(`&sort=-score&cursor=${body.meta.next_cursor}`)).body.code).toBe('invalid_cursor');
  expect((await page('&sort=note')).status).toBe(400);
  // whatever a cursor states, it is no error of the service
  const [list] = JSON.parse(Buffer.from(body.meta.next_cursor, 'base64url').toString()) as [string];
  for (const value of ['1e-999', 'null', '-0']) {
    const made = Buffer.from(JSON.stringify([list, 1, value, '0', runs[0]?.id])).toString('base64url');
    expect((await page(`&sort=score&cursor=${made}`)).status).toBe(200);
  }
});

it('finds outputs without text, and those in which the checker found nothing to compare', async () => {
  const numeric = { type: 'numeric', inputs: { prompt: 'p' }, answer: 1 };
  const choice = { type: 'multiple_choice', inputs: { prompt: 'p', choices: ['one', 'two'] }, answer: 'one' };
  const json = { type: 'code', inputs: { prompt: 'p' }, checker: { type: 'json_equal' }, answer: '[1]' };
  const outputs: readonly (readonly [id: string, item: object, output: unknown])[] = [
    ['right', numeric, 'It is 1.'],
    ['wrong', numeric, '2'],
    ['no text', numeric, ''],
    ['blank', choice, ' \n\t\r '],
    ['null', json, null],
    ['quotes', numeric, '" "'],
    ['no number', numeric, 'I do not know.'],
    ['no choice', choice, 'three'],
    ['no JSON', json, '[1'],
  ];
  const dataset = await service.importItems(
    outputs.map(([id, item, output]) => ({ id, ...item, meta: { output } })),
  );
  const provider = { type: 'item_field', pointer: '/meta/output' };
  const { body: run } = await service.post('/runs', { dataset_id: dataset, config: { provider } });
  await runEnded(service, run.id);
  const idsOf = async (output: string): Promise<readonly string[]> => {
    const { body } = await service.get(`/runs/${run.id}/results?output=${output}`);
    expect(body.meta.total_items).toBe(body.data.length);
    return body.data.map(({ item_id: id }: { readonly item_id: string }) => id);
  };
  expect(await idsOf('empty')).toEqual(['no text', 'blank', 'null']);
  expect(await idsOf('unreadable')).toEqual(['quotes', 'no number', 'no choice', 'no JSON']);
  expect((await service.get(`/runs/${run.id}/results?output=short`)).status).toBe(400);
  expect((await service.get(`/runs/${run.id}/results?output=empty&sample=blind`)).status).toBe(400);
});
