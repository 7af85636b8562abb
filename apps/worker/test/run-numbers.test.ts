import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FakeProvider, type Reply, startFakeProvider } from './fake-provider.ts';
import { close, computeScores, hasPython, resultsOf } from './independent-scores.ts';
import { type Body, runEnded, startTestService, type TestService } from './start-test-service.ts';

let cleanUp: AsyncDisposableStack;
let service: TestService;
let provider: FakeProvider;
let datasetId: string;
/** What the provider does; tests change it. */
let reply: (prompt: string, attempt: number) => Reply;

const COUNT = 60;
/** Questions about twelve passages at three levels; some have no passage, one a long one, another two a number and a text. */
const items = Array.from({ length: COUNT }, (_, index) => ({
  id: `q${index}`,
  type: index % 2 === 0 ? 'numeric' : 'exact',
  inputs: { prompt: `Item ${index}` },
  answer: String(index),
  meta: {
    level: index % 3,
    ...(index % 10 === 9 ? {} : { passage: passageOf(index) }),
  },
  tags: index % 3 === 0 ? ['third', 'all'] : ['all'],
}));

function passageOf(index: number): unknown {
  const number = index % 12;
  if (number === 3) return 'A long passage. '.repeat(40);
  return number === 4 ? 5 : number === 5 ? '5' : number === 6 ? { text: 'NUL \0' } : `p${number}`;
}

const numberOf = (prompt: string): number => Number(/Item (\d+)/.exec(prompt)?.[1]);

/** Passages are easy or hard; some requests fail. */
function byPassage(prompt: string, attempt: number): Reply {
  const number = numberOf(prompt);
  if (number % 17 === 8 || (number + attempt) % 19 === 5) return { status: 400 };
  return { text: String(number + ((number % 12) + attempt > 9 ? 1 : 0)) };
}

beforeAll(async () => {
  cleanUp = new AsyncDisposableStack();
  service = cleanUp.use(await startTestService());
  provider = cleanUp.use(await startFakeProvider((prompt, attempt) => reply(prompt, attempt)));
  datasetId = await service.importItems(items);
});
afterAll(() => cleanUp.disposeAsync());

async function run(more: object = {}): Promise<Body> {
  const config = { provider: { type: 'openai_compatible', base_url: provider.baseUrl, model: 'm' }, ...more };
  const { status, body } = await service.post('/runs', { dataset_id: datasetId, config });
  expect(status, JSON.stringify(body)).toBe(202);
  await runEnded(service, body.id);
  return (await service.get(`/runs/${body.id}`)).body;
}

/** The cluster of each item by its passage; an item without one is on its own. */
const clusters = (results: readonly Body[]): unknown[] =>
  results.map(({ section, order_index }) => {
    const passage = items[order_index]?.meta.passage;
    const cluster = passage === undefined ? `alone ${order_index}` : JSON.stringify(passage);
    return [section, order_index, cluster];
  });

it.skipIf(!hasPython)('clusters items by their passage, as another program does', async () => {
  reply = byPassage;
  for (const repetitions of [1, 3]) {
    const ended = await run({ repetitions, cluster_by: '/meta/passage' });
    const results = await resultsOf(service, ended.id);
    const computed = await computeScores({ results, repetitions, clusters: clusters(results) });
    expect(ended.scores).toMatchObject(close(computed.scores, 9) as object);
    expect(ended.scores.no_output).toBeGreaterThan(0);
    expect(ended.scores.wrong).toBeGreaterThan(0);
    const alone = await computeScores({ results, repetitions });
    expect(ended.scores.stderr).toBeGreaterThan(1.3 * alone.scores.stderr);
    const { scores } = await run({ repetitions });
    expect(scores.stderr).toBeLessThan(ended.scores.stderr);
  }
});

it('weighs results alike in means and their errors where the repetitions of items fail unequally', async () => {
  // ten items pass three times; twelve fail their check once, and give no output twice
  const asked = new Set<number>();
  reply = (prompt) => {
    const number = numberOf(prompt);
    if (number < 10) return { text: String(number) };
    if (asked.has(number)) return { status: 400 };
    asked.add(number);
    return { text: 'wrong' };
  };
  const more = { repetitions: 3, max_retries: 0, max_consecutive_failures: 1000, select: { limit: 22 } };
  // 30 of 42 scored results have passed: 5/7. Squared sums by item: 10 · (3 - 15/7)² + 12 · (0 - 5/7)² = 660/49
  const stderr = Math.sqrt(((22 / 21) * 660) / 49) / 42;
  expect(stderr).toBeCloseTo(0.08944, 5);
  // 30 of 66 due results: 5/11. Squared sums: 10 · (3 - 15/11)² + 12 · (0 - 15/11)² = 5940/121
  const dueError = Math.sqrt(((22 / 21) * 5940) / 121) / 66;
  const wilson = (share: number, n: number): unknown[] => {
    const z2 = 1.959963984540054 ** 2;
    const half = Math.sqrt(z2 * ((share * (1 - share)) / n + z2 / (4 * n * n)));
    return [-half, half].map((side) => expect.closeTo((share + z2 / (2 * n) + side) / (1 + z2 / n), 9));
  };
  const ci95 = wilson(5 / 7, (5 / 7) * (2 / 7) * stderr ** -2);
  const numbers = {
    ...{ mean: expect.closeTo(5 / 7, 12), stderr: expect.closeTo(stderr, 12), ci95 },
    ...{ passed: 30, wrong: 12, no_output: 24, pass_rate_scored_ci95: ci95 },
    pass_rate_ci95: wilson(5 / 11, (5 / 11) * (6 / 11) * dueError ** -2),
  };
  // each item is a cluster of its own by its id too
  for (const clustered of [{}, { cluster_by: '/id' }]) {
    asked.clear();
    expect((await run({ ...more, ...clustered })).scores).toMatchObject(numbers);
  }
});

it('shows the same numbers in lists, also of a run that came with a package', async () => {
  reply = byPassage;
  const ended = await run({ repetitions: 2, cluster_by: '/meta/passage' });
  const archive = await fetch(`${service.url}/datasets/${datasetId}/export?run_id=${ended.id}`);
  const form = new FormData();
  form.set('file', new Blob([await archive.arrayBuffer()]), 'numbers.pkg.zip');
  const { body: imported } = await service.post('/datasets/upload', form);
  for (const id of [datasetId, imported.id as string]) {
    const { body } = await service.get(`/runs?dataset_id=${id}&limit=1`);
    const [listed] = body.data;
    const { body: one } = await service.get(`/runs/${listed.id}`);
    const { by_section: _, by_type: __, by_tag: ___, ...scores } = one.scores;
    expect(listed.scores).toEqual(scores);
    expect(listed.imported).toBe(id !== datasetId);
    expect(scores).toMatchObject({
      ...{
        results: 2 * COUNT,
        pass_rate_ci95: [expect.any(Number), expect.any(Number)],
        warnings: expect.any(Array),
      },
      stderr: ended.scores.stderr,
    });
  }
});

it.skipIf(!hasPython)(
  'slices a run by one and by two values of its items, as another program does',
  async () => {
    reply = byPassage;
    const repetitions = 2;
    const ended = await run({ repetitions, cluster_by: '/meta/passage' });
    const results = await resultsOf(service, ended.id);
    const slices = async (query: string): Promise<Body> =>
      (await service.get(`/runs/${ended.id}/slices?${query}`)).body;
    const levels = await slices('by=/meta/level');
    expect(levels.data.map(({ values }: Body) => values)).toEqual([[0], [1], [2]]);
    for (const slice of levels.data) {
      const of = results.filter(({ order_index }) => items[order_index]?.meta.level === slice.values[0]);
      const computed = await computeScores({ results: of, repetitions, clusters: clusters(of) });
      const { by_section: _, ...scores } = computed.scores;
      expect(slice).toMatchObject(close(scores, 9) as object);
    }
    const both = await slices('by=/meta/passage&by=/type');
    expect(both.meta).toEqual({ by: ['/meta/passage', '/type'], total_items: both.data.length });
    for (const { values, results: count } of both.data) {
      const of = results.filter(({ order_index }) => {
        const item = items[order_index];
        return JSON.stringify([item?.meta.passage ?? null, item?.type]) === JSON.stringify(values);
      });
      expect(of).toHaveLength(count);
    }
    expect(both.data.reduce((sum: number, slice: Body) => sum + slice.results, 0)).toBe(results.length);
    const { scores } = (await service.get(`/runs/${ended.id}`)).body;
    const [all] = (await slices('by=/meta/nothing')).data;
    const { by_section: _, by_type: __, by_tag: ___, ...whole } = scores;
    expect(all).toEqual(close({ values: [null], ...whole }, 9));

    for (const [query, message] of [
      ['by=/id', 'more than 50 values'],
      ['by=/meta/level&by=/inputs/prompt', 'Cannot slice by /inputs/prompt'],
      ['by=meta', 'JSON Pointer'],
      ['', 'by is missing'],
      ['by=/a&by=/b&by=/c', 'at most 2'],
    ]) {
      const { status, body } = await service.get(`/runs/${ended.id}/slices?${query}`);
      expect([status, body.code]).toEqual([400, 'invalid_request']);
      expect(JSON.stringify(body)).toContain(message);
    }
    expect((await service.get(`/runs/${datasetId}/slices?by=/type`)).status).toBe(404);
  },
);

it('finds values by keys of every kind, and elements by their index alone', async () => {
  const meta = { list: ['first', 'last'], byKey: { '-1': 'minus one' }, 'a\0b': 'NUL' };
  const dataset_id = await service.importItems([{ inputs: { prompt: '?' }, meta }]);
  const config = { provider: 'echo', allow_unscored: true };
  const { id } = (await service.post('/runs', { dataset_id, config })).body;
  await runEnded(service, id);
  for (const [pointer, value] of [
    ['list/1', 'last'],
    ['list/-1', null],
    ['list/+1', null],
    ['list/01', null],
    ['byKey/-1', 'minus one'],
    ['a%00b', 'NUL'],
  ]) {
    const { status, body } = await service.get(`/runs/${id}/slices?by=/meta/${pointer}`);
    expect([pointer, status, body.data]).toMatchObject([pointer, 200, [{ values: [value] }]]);
    const { body: found } = await service.get(`/runs/${id}/results?meta./${pointer}=${value}`);
    expect([pointer, found.data.length]).toEqual([pointer, value === null ? 0 : 1]);
  }
});

it('compares two runs by tags and values of their items, clustered as the runs are', async () => {
  reply = byPassage;
  const one = await run({ cluster_by: '/meta/passage' });
  reply = (prompt) => ({ text: String(numberOf(prompt) + (numberOf(prompt) % 5 === 0 ? 1 : 0)) });
  const other = await run({ cluster_by: '/meta/passage' });
  const [before, after] = await Promise.all([resultsOf(service, one.id), resultsOf(service, other.id)]);
  const scoreOf = (results: readonly Body[], at: number): number | null =>
    results.find(({ order_index }) => order_index === at)?.score ?? null;
  const expected = (has: (item: (typeof items)[number]) => boolean): object => {
    const at = items.flatMap((item, index) => (has(item) ? [index] : []));
    const pairs = at.flatMap((index) => {
      const [a, b] = [scoreOf(before, index), scoreOf(after, index)];
      const passage = JSON.stringify(items[index]?.meta.passage) ?? `alone ${index}`;
      return a === null || b === null ? [] : [{ difference: b - a, passage }];
    });
    const mean = pairs.reduce((sum, { difference }) => sum + difference, 0) / pairs.length;
    const groups = [...Map.groupBy(pairs, ({ passage }) => passage).values()];
    const squares = groups.reduce(
      (sum, of) => sum + of.reduce((all, { difference }) => all + difference - mean, 0) ** 2,
      0,
    );
    return close(
      {
        paired: pairs.length,
        mean_difference: mean,
        stderr: Math.sqrt((groups.length / (groups.length - 1)) * squares) / pairs.length,
        wins: pairs.filter(({ difference }) => difference > 0).length,
        losses: pairs.filter(({ difference }) => difference < 0).length,
      },
      9,
    ) as object;
  };
  const path = `/runs/${one.id}/compare/${other.id}/slices`;
  const slices = async (query: string): Promise<Body[]> => (await service.get(`${path}?${query}`)).body.data;
  const levels = await slices('by=/meta/level');
  expect(levels.map(({ values: [value] }) => value).toSorted()).toEqual([0, 1, 2]);
  for (const slice of levels)
    expect(slice).toMatchObject(expected(({ meta }) => meta.level === slice.values[0]));
  const tags = await slices('by=tag');
  expect(tags.map(({ values: [value] }) => value)).toEqual(['all', 'third']);
  for (const slice of tags)
    expect(slice).toMatchObject(expected(({ tags: of }) => of.includes(slice.values[0])));
  const [all] = await slices('by=/meta/none&cluster_by=none');
  const whole = (await service.get(`/runs/${one.id}/compare/${other.id}?cluster_by=none`)).body;
  expect(all).toMatchObject(
    close({ values: [null], paired: whole.paired, stderr: whole.stderr, ci95: whole.ci95 }, 9) as object,
  );
  for (const [query, message] of [
    ['by=/id', 'more than 50 values'],
    ['by=meta', 'JSON Pointer'],
    ['scorer=none', 'scorer'],
  ]) {
    const { status, body } = await service.get(`${path}?${query}`);
    expect([query, status]).toEqual([query, 400]);
    expect(JSON.stringify(body)).toContain(message);
  }
});

it('groups errors by what providers say, and stores their words with results and runs', async () => {
  const words = (number: number): string =>
    number % 2 === 0
      ? JSON.stringify({
          error: { message: `Rate limit ${number} of ${number}.5k, request req_${'a1'.repeat(8)}${number}` },
        })
      : JSON.stringify({ detail: `Bad item ${number}` });
  reply = (prompt) =>
    numberOf(prompt) < 6
      ? { status: 400, body: words(numberOf(prompt)) }
      : { text: 'x', finishReason: 'stop' };
  const ended = await run({ max_retries: 0 });
  const { data } = (await service.get(`/runs/${ended.id}/errors`)).body;
  expect(data).toMatchObject([
    { code: 'provider_rejected', count: 3, message: expect.any(String) },
    { code: 'provider_rejected', count: 3 },
  ]);
  expect(data.map(({ message }: Body) => message).toSorted()).toEqual([
    'Bad item <n>',
    'Rate limit <n> of <n>k, request req_<id>',
  ]);
  for (const { group, examples, message } of data) {
    const first = message.startsWith('Bad') ? 1 : 0;
    expect(examples.map(({ order_index }: Body) => order_index)).toEqual([first, first + 2, first + 4]);
    expect(examples[0].item_id).toBe(`q${first}`);
    const page = (await service.get(`/runs/${ended.id}/results?error=${group}`)).body;
    expect(page.data.map(({ order_index }: Body) => order_index)).toEqual([first, first + 2, first + 4]);
    for (const { error } of page.data) {
      expect(error.message).toContain('status 400');
      expect(error.provider_message).toMatch(/^(Bad item|Rate limit) \d/);
    }
  }
  expect((await service.get(`/runs/${ended.id}/results?q=Bad+item`)).body.meta.total_items).toBe(3);

  reply = () => ({ status: 401, body: '{"error":"This key is not yours: sk-1234567890abcdef"}' });
  const failed = await run({ concurrency: 1 });
  expect(failed).toMatchObject({
    status: 'failed',
    error: { code: 'provider_unauthorized', provider_message: 'This key is not yours: [redacted]' },
    counts: { done: 1, failed: 1 },
  });
  const [result] = await resultsOf(service, failed.id);
  expect(result.error).toEqual(failed.error);
  // both travel in a package
  const archive = await fetch(
    `${service.url}/datasets/${datasetId}/export?run_id=${failed.id}&allow_incomplete=true`,
  );
  const form = new FormData();
  form.set('file', new Blob([await archive.arrayBuffer()]), 'failed.pkg.zip');
  const { body: imported } = await service.post('/datasets/upload', form);
  const [copy] = (await service.get(`/runs?dataset_id=${imported.id}`)).body.data;
  expect(copy.error).toEqual(failed.error);
  expect((await resultsOf(service, copy.id))[0].error).toEqual(failed.error);
  expect((await service.get(`/runs/${copy.id}/errors`)).body.data).toMatchObject([{ count: 1 }]);
});

it('lists results in any order and by values of their items, page after page', async () => {
  reply = (prompt, attempt) => {
    const number = numberOf(prompt);
    if (number % 7 === 3) return { status: 400 };
    return { text: `${number}${'!'.repeat((number * 13) % 10)}${attempt}`, delayMs: number % 5 };
  };
  const price = { input_per_million: 1, output_per_million: 5 };
  const ended = await run({ repetitions: 2, price, checker: 'includes', checker_mode: 'override' });
  const results = await resultsOf(service, ended.id);
  const list = async (query: string, limit = 17): Promise<Body[]> => {
    const found: Body[] = [];
    for (let cursor = ''; ; ) {
      const { status, body } = await service.get(
        `/runs/${ended.id}/results?limit=${limit}&${query}${cursor}`,
      );
      expect(status, JSON.stringify(body)).toBe(200);
      found.push(...body.data);
      if (body.meta.next_cursor === null) {
        expect(found).toHaveLength(body.meta.total_items);
        return found;
      }
      cursor = `&cursor=${body.meta.next_cursor}`;
    }
  };
  const sortedBy: Record<string, (result: Body) => number | null> = {
    score: ({ score }) => score,
    latency: ({ latency_ms }) => latency_ms,
    output_tokens: ({ usage }) => usage?.completion_tokens ?? null,
    cost: ({ cost }) => cost,
  };
  const at = ({ order_index, repetition }: Body): number => order_index * 10 + repetition;
  for (const [name, of] of Object.entries(sortedBy)) {
    for (const sign of [1, -1]) {
      const sorted = results.toSorted((one, two) => {
        const [a, b] = [of(one), of(two)];
        if ((a === null) !== (b === null)) return a === null ? 1 : -1;
        return sign * ((a ?? 0) - (b ?? 0) || at(one) - at(two));
      });
      expect((await list(`sort=${sign === 1 ? '' : '-'}${name}`)).map(at), name).toEqual(sorted.map(at));
    }
  }
  expect((await list('sort=-order')).map(at)).toEqual(results.map(at).reverse());
  const [first] = results;
  expect(first.cost).toBeCloseTo((first.usage.prompt_tokens + 5 * first.usage.completion_tokens) / 1e6, 15);
  expect(ended.cost.amount).toBeCloseTo(
    results.reduce((sum, { cost }) => sum + (cost ?? 0), 0),
    12,
  );

  // by texts, which no index has: numbers by size before other texts
  const textOf: Record<string, (result: Body) => unknown> = {
    question: ({ order_index }) => items[order_index]?.inputs.prompt,
    expected: ({ order_index }) => items[order_index]?.answer,
    got: ({ output }) => output,
    tags: ({ order_index }) => items[order_index]?.tags.join(', '),
    type: ({ order_index }) => (items[order_index] as Body).type ?? null,
    label: () => null,
    'meta./level': ({ order_index }) => items[order_index]?.meta.level,
    'meta./passage': ({ order_index }) => items[order_index]?.meta.passage,
    'meta./none': () => null,
  };
  const rank = (value: unknown): string => {
    if (value == null) return '';
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
    return /^\d+$/.test(text) ? `1${text.padStart(9, '0')}` : `2${text.toLowerCase()}`;
  };
  for (const [name, of] of Object.entries(textOf)) {
    for (const sign of [1, -1]) {
      const sorted = results.toSorted((one, two) => {
        const [a, b] = [rank(of(one)), rank(of(two))];
        if ((a === '') !== (b === '')) return a === '' ? 1 : -1;
        return sign * (a < b ? -1 : a > b ? 1 : at(one) - at(two));
      });
      const order = `sort=${sign === 1 ? '' : '-'}${name}`;
      expect((await list(order, 70)).map(at), order).toEqual(sorted.map(at));
      const { body } = await service.get(`/runs/${ended.id}/results?limit=3&offset=4&${order}`);
      expect(body.data.map(at), order).toEqual(sorted.slice(4, 7).map(at));
    }
  }

  expect((await list('sort=-meta./level&passed=true&q=item', 50)).length).toBe(
    results.filter(({ passed }) => passed).length,
  );

  const where = (test: (result: Body) => boolean): number[] => results.filter(test).map(at);
  const bounds: Record<string, (result: Body) => number | null> = {
    latency: ({ latency_ms }) => latency_ms,
    output_tokens: ({ usage }) => usage?.completion_tokens ?? null,
    cost: ({ cost }) => cost,
  };
  for (const [name, of] of Object.entries(bounds)) {
    const middle = of(results[5] as Body) ?? 0;
    const isIn = (test: (value: number) => boolean) => (result: Body) => {
      const value = of(result);
      return value !== null && test(value);
    };
    expect((await list(`min_${name}=${middle}`)).map(at)).toEqual(where(isIn((value) => value >= middle)));
    expect((await list(`max_${name}=${middle}`)).map(at)).toEqual(where(isIn((value) => value <= middle)));
  }
  expect((await list('expected=5')).map(at)).toEqual(
    where(({ order_index }) => String(items[order_index]?.answer) === '5'),
  );
  const { output } = results[5] as Body;
  expect((await list(`got=${encodeURIComponent(output)}`)).map(at)).toEqual(
    where((result) => result.output === output),
  );
  const metaOf = ({ order_index }: Body): Body => items[order_index]?.meta;
  expect((await list('min_score=0.5')).map(at)).toEqual(where(({ score }) => score !== null && score >= 0.5));
  expect((await list('max_score=0.5&min_score=-1e0')).map(at)).toEqual(where(({ score }) => score === 0));
  expect((await list('meta./level=2')).map(at)).toEqual(where((result) => metaOf(result).level === 2));
  expect((await list('meta.passage=5')).map(at)).toEqual(
    where((result) => metaOf(result).passage === 5 || metaOf(result).passage === '5'),
  );
  expect((await list('meta./passage=p1&meta.level=1&sort=-score')).length).toBe(
    where((result) => metaOf(result).passage === 'p1' && metaOf(result).level === 1).length,
  );
  // the question, and the expected answer
  expect((await list('q=ITEM+17')).map(at)).toEqual(where(({ order_index }) => order_index === 17));
  expect(await list('q=passage.%20A')).toEqual([]);
  const cursor = (await service.get(`/runs/${ended.id}/results?limit=2&sort=score`)).body.meta.next_cursor;
  for (const query of [`cursor=${cursor}`, `cursor=${cursor}&sort=-score`]) {
    expect(await service.get(`/runs/${ended.id}/results?${query}`)).toMatchObject({
      body: { code: 'invalid_cursor' },
    });
  }
  for (const query of [
    'sort=note',
    'sort=meta.a',
    'sort=meta./~2',
    'min_score=x',
    'error=1',
    'meta.=1',
    'meta=1',
    'meta./~2=1',
    'metal.a=1',
  ]) {
    const { status } = await service.get(`/runs/${ended.id}/results?${query}`);
    expect(status, query).toBe(400);
  }
});

it('compares runs by hash, id or prompt, clustered, with what else differs', async () => {
  const price = { input_per_million: 1, output_per_million: 5, currency: 'EUR' };
  reply = (prompt) => ({ text: String(numberOf(prompt)) });
  const base = await run({ price, cluster_by: '/meta/passage' });
  reply = (prompt) => {
    const number = numberOf(prompt);
    return { text: number % 12 < 4 ? `${number}77` : number % 12 < 6 ? `${number} ` : String(number) };
  };
  const params = { temperature: 1 };
  const provider_ = { type: 'openai_compatible', base_url: provider.baseUrl, model: 'n', params };
  const other = await run({ price, cluster_by: '/meta/passage', provider: provider_ });
  const compare = async (one: Body, two: Body, query = ''): Promise<Body> =>
    (await service.get(`/runs/${one.id}/compare/${two.id}?limit=100${query}`)).body;
  const found = await compare(base, other);
  const [worse, changed] = [COUNT / 3, COUNT / 2];
  expect(found).toMatchObject({
    ...{ paired: COUNT, losses: worse, wins: 0, changed_outputs: changed, reason: null },
    ...{ cluster_by: '/meta/passage', pair_by: 'hash' },
    meta: { total_items: worse },
    config_differences: [
      { path: '/provider/model', value: 'm', other_value: 'n' },
      { path: '/provider/params/temperature', other_value: 1 },
    ],
    input_tokens: { mean: 7, other_mean: 7, mean_difference: 0 },
    output_tokens: { mean_difference: expect.closeTo((2 * worse + (changed - worse)) / COUNT, 9) },
    cost: { currency: 'EUR' },
    latency_ms: { mean: expect.any(Number), mean_difference: expect.any(Number) },
  });
  expect(found.config_differences[1]).not.toHaveProperty('value');
  expect(found.cost.mean_difference).toBeCloseTo((5 * found.output_tokens.mean_difference) / 1e6, 12);
  expect(found.cost.mean).toBeCloseTo(base.cost.amount / COUNT, 12);
  const only = await compare(base, other, '&only=changed_output');
  expect(only.meta.total_items).toBe(changed);
  expect(only.data).toHaveLength(changed);
  expect(only.data.every(({ output_changed }: Body) => output_changed)).toBe(true);
  const placed = await compare(base, other, '&only=changed_output&offset=3');
  expect(placed.data).toEqual(only.data.slice(3));
  const path = `/runs/${base.id}/compare/${other.id}?limit=2&offset=3`;
  const { body: part } = await service.get(path);
  expect(part.data).toEqual(found.data.slice(3, 5));
  // what follows is not left out again
  const { body: next } = await service.get(`${path}&cursor=${part.meta.next_cursor}`);
  expect(next.data).toEqual(found.data.slice(5, 7));

  // clustered by the passages, whose items differ alike
  const alone = await compare(base, other, '&cluster_by=none');
  expect(alone).toMatchObject({ cluster_by: null, mean_difference: found.mean_difference });
  expect(found.stderr).toBeGreaterThan(1.5 * alone.stderr);
  for (const one of [found, alone]) {
    const { paired, mean, other_mean, mean_difference, stderr, ci95, wins, losses, ties, p_value } = one;
    const ofAll = { paired, mean, other_mean, mean_difference, stderr, ci95, wins, losses, ties, p_value };
    expect(one.by_section).toEqual({ default: close(ofAll, 9) });
  }
  const scores = items.map((_, index) => (index % 12 < 4 ? -1 : 0));
  if (hasPython) {
    const { differences } = await computeScores({
      differences: [
        {
          values: scores,
          clusters: clusters(items.map((_, order_index) => ({ section: 's', order_index }))).map(
            (of) => (of as unknown[])[2],
          ),
        },
        { values: scores, clusters: scores.map((_, index) => index) },
      ],
    });
    const [both, single] = differences;
    expect(found).toMatchObject(close(both, 9) as object);
    expect(alone).toMatchObject(close(single, 9) as object);
  }
  const unclustered = await run({ price: { ...price, currency: 'USD' } });
  const refused = await service.get(`/runs/${base.id}/compare/${unclustered.id}`);
  expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  expect(await compare(base, unclustered, '&cluster_by=/meta/level')).toMatchObject({
    cluster_by: '/meta/level',
    cost: null,
  });

  // the same questions with other answers and ids
  const copy = async (change: (item: (typeof items)[number]) => object): Promise<Body> => {
    const dataset_id = await service.importItems(items.map(change));
    const { body } = await service.post('/runs', {
      dataset_id,
      config: { provider: 'echo', checker: 'includes', checker_mode: 'override' },
    });
    await runEnded(service, body.id);
    return body;
  };
  const same = await copy((item) => item);
  const renamed = await copy((item) => ({ ...item, id: `x${item.id}` }));
  const reworded = await copy((item) => ({ ...item, inputs: { prompt: `Please: ${item.inputs.prompt}` } }));
  expect(await compare(same, renamed)).toMatchObject({
    ...{ paired: 0, mean_difference: null, ci95: null, p_value: null, data: [] },
    reason: `No scored items of the two runs have the same hash. pair_by=prompt pairs ${COUNT} items.`,
  });
  expect(await compare(same, renamed, '&pair_by=prompt')).toMatchObject({ paired: COUNT, ties: COUNT });
  expect((await compare(same, reworded)).reason).toContain(`pair_by=id pairs ${COUNT} items`);
  const byId = await compare(same, reworded, '&pair_by=id&only=changed_output');
  expect(byId).toMatchObject({ paired: COUNT, changed_outputs: COUNT, meta: { total_items: COUNT } });
  expect((await compare(renamed, reworded)).reason).toContain('No other way pairs them either');
  reply = () => ({ status: 400 });
  const nothing = await run({ max_retries: 0, max_consecutive_failures: 1000 });
  expect((await compare(nothing, unclustered)).reason).toBe('This run has no scored results.');
});

it('refuses a pointer to nothing in particular', async () => {
  for (const cluster_by of ['', 'meta/passage', '/a~2', 5]) {
    const config = { provider: 'echo', cluster_by };
    expect(await service.post('/runs', { dataset_id: datasetId, config })).toMatchObject({
      status: 400,
      body: { errors: [{ path: '/config/cluster_by' }] },
    });
  }
});
