import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DATASET, type FakeService, fakeService, json, problem } from './fake-service.ts';
import { svcPkg } from './run-svc-pkg.ts';
import { temporaryFolder } from './temporary-folder.ts';

const RUN = '0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d';
const REFUSED = { code: 'provider_error', message: 'Cannot connect to 127.0.0.1:9: connection refused.' };
const LIMITED = { code: 'provider_error', message: 'The provider returned status 429.' };

/** A service with a run that has ended with these errors, among 4 items. */
function ended(errors: readonly object[], mean: number | null = 0.5): Promise<FakeService> {
  const run = {
    id: RUN,
    name: null,
    dataset_id: DATASET.id,
    status: 'completed',
    counts: { total: 4, done: 4, ok: 4 - errors.length, failed: errors.length, unscored: 0, truncated: 0 },
    scores: { mean, passed: 1, pass_rate: 0.25 },
    error: null,
    created_at: '2026-01-01T00:00:00.000Z',
    finished_at: '2026-01-01T00:00:00.000Z',
  };
  return fakeService({
    'POST /runs': json({ ...run, status: 'queued' }, 202),
    [`POST /runs/${RUN}/retry`]: json(run, 202),
    [`POST /runs/${RUN}/rescore`]: json(run, 202),
    [`GET /runs/${RUN}`]: json(run),
    [`GET /runs/${RUN}/results`]: (request, response, raw) => {
      const isSecond = request.url.includes('cursor=two');
      const data = (isSecond ? errors.slice(2) : errors.slice(0, 2)).map((error) => ({ error }));
      const meta = { limit: 2, next_cursor: errors.length > 2 && !isSecond ? 'two' : null, total_items: 4 };
      return json({ data, meta })(request, response, raw);
    },
  });
}

const run = (service: FakeService, ...argv: string[]) =>
  svcPkg(['run', DATASET.id, '--set', 'provider.type=echo', ...argv, '--api-url', service.url]);

it('says first which run it is, and that it waits for results from outside', async () => {
  const begun = { id: RUN, dataset_id: DATASET.id, counts: { total: 1, done: 0 }, scores: { mean: null } };
  const waiting = { ...begun, name: null, status: 'waiting', error: null };
  const handlers = { [`GET /datasets/${DATASET.id}`]: json(DATASET), 'POST /runs': json(waiting, 202) };
  const stopped = new AbortController();
  const service = await fakeService({
    ...handlers,
    [`GET /runs/${RUN}`]: (...request) => {
      stopped.abort();
      return json(waiting)(...request);
    },
  });
  const argv = ['run', DATASET.id, '--set', 'provider.type=external', '--api-url', service.url];
  const [waits, returns] = [
    await svcPkg(argv, { signal: stopped.signal }),
    await svcPkg([...argv, '--no-wait']),
  ];
  expect(waits.stderr).toMatch(
    `Run ${RUN} waits for results from outside: send them with "svc-pkg results push ${RUN} <file>"`,
  );
  expect(waits.stderr).toContain('--no-wait');
  expect(returns).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(`^Run ${RUN} waits`) });
  expect((await svcPkg(['--json', ...argv, '--no-wait'])).stderr).toBe('');
});

describe('a run whose items failed', () => {
  it('fails, and shows each error with its number', async () => {
    const outcome = await run(await ended([REFUSED, LIMITED, REFUSED]));
    expect(outcome.exitCode).toBe(1);
    expect(outcome.stdout).toMatch(/^status +completed$/m);
    expect(outcome.stderr.split('\n')).toEqual([
      `Run ${RUN} is queued`,
      'svc-pkg: 3 of 4 items failed (items_failed)',
      'svc-pkg: 2 x Cannot connect to 127.0.0.1:9: connection refused (provider_error)',
      'svc-pkg: 1 x The provider returned status 429 (provider_error)',
      `Its results: svc-pkg results ${RUN}. To run the failed items again: svc-pkg retry ${RUN}`,
      '',
    ]);
  });

  it.each([
    ['as many as --max-failed allows', [REFUSED], '1', 0],
    ['more than --max-failed allows', [REFUSED, REFUSED], '1', 1],
    ['all, whatever --max-failed allows', [REFUSED, REFUSED, REFUSED, REFUSED], '100', 1],
  ])('%s', async (_name, errors, maxFailed, exitCode) => {
    expect(await run(await ended(errors), '--max-failed', maxFailed)).toMatchObject({ exitCode });
  });

  it('fails after retry and rescore too', async () => {
    const service = await ended([REFUSED]);
    for (const command of ['retry', 'rescore'])
      expect(await svcPkg([command, RUN, '--api-url', service.url])).toMatchObject({ exitCode: 1 });
  });

  it('sends rescore --add with its scorers', async () => {
    const service = await ended([]);
    const scorers = '[{"name":"short","checker":"includes"}]';
    const argv = ['rescore', RUN, '--add', '--set', `scorers=${scorers}`, '--api-url', service.url];
    expect(await svcPkg(argv)).toMatchObject({ exitCode: 0 });
    const sent = service.requests.find(({ url }) => url === `/runs/${RUN}/rescore`);
    expect(JSON.parse(String(sent?.body))).toEqual({ add: true, scorers: JSON.parse(scorers) });
  });

  it('is not checked with --no-wait', async () => {
    expect(await run(await ended([REFUSED]), '--no-wait', '--min-score', '1')).toMatchObject({ exitCode: 0 });
  });

  it('has its errors in the document', async () => {
    const outcome = await run(await ended([REFUSED, REFUSED]), '--json');
    expect(outcome.error()).toMatchObject({
      code: 'items_failed',
      errors: [{ ...REFUSED, count: 2 }],
      errors_total: 1,
    });
  });
});

it.each([
  ['0.5', 0.5, 0, ''],
  ['0.8', 0.5, 1, 'svc-pkg: The mean score is 0.5, and --min-score is 0.8 (score_too_low)\n'],
  ['0', null, 1, 'svc-pkg: The run has no score, and --min-score is 0 (score_too_low)\n'],
])('with --min-score %s, a mean of %s ends with %i', async (minScore, mean, exitCode, line) => {
  const outcome = await run(await ended([], mean), '--min-score', minScore);
  expect(outcome.exitCode).toBe(exitCode);
  const begun = `Run ${RUN} is queued\n`;
  const said = outcome.stderr.slice(begun.length);
  expect([outcome.stderr.slice(0, begun.length), said.slice(0, line.length || undefined)]).toEqual([
    begun,
    line,
  ]);
});

it('refuses a --min-score that is not a number', async () => {
  expect(await run(await ended([]), '--min-score', 'high')).toMatchObject({ exitCode: 2 });
});

it('names options of the command line instead of members of the request', async () => {
  const message = 'Invalid run configuration: /config/provider is missing. There is 1 more problem.';
  const service = await fakeService({
    'POST /runs': problem(400, 'invalid_request', message, {
      errors: [
        { message: '/config/provider is missing.', path: '/config/provider' },
        { message: '/config/judge/params must be an object.', path: '/config/judge/params' },
      ],
    }),
  });
  const outcome = await svcPkg(['run', DATASET.id, '--api-url', service.url]);
  expect(outcome.stderr).toContain('--set provider.type=... is missing at /config/provider');
  expect(outcome.stderr).toContain('--set judge.params must be an object');

  const unscored =
    'Cannot start the run. Set config.checker or config.judge, or config.allow_unscored to run it.';
  const other = await fakeService({ 'POST /runs': problem(400, 'invalid_request', unscored) });
  const refused = await svcPkg(['run', DATASET.id, '--api-url', other.url]);
  expect(refused.stderr).toContain(
    'Use --set checker.type=... or --set judge.model=..., or --set allow_unscored=true to run it',
  );
});

it('ends with 4 when the budget of a run stopped it, and says how to continue', async () => {
  const stopped = {
    ...{
      id: RUN,
      name: null,
      dataset_id: DATASET.id,
      status: 'stopped',
      finished_at: '2026-01-01T00:00:00.000Z',
    },
    counts: { total: 30, done: 9, ok: 9, failed: 0, unscored: 0, truncated: 0 },
    scores: { mean: 1, passed: 9, pass_rate: 1 },
    error: { code: 'budget_spent', message: 'The next request could take the run beyond max_cost.' },
    created_at: '2026-01-01T00:00:00.000Z',
  };
  const service = await fakeService({
    'POST /runs': json({ ...stopped, status: 'queued', finished_at: null }, 202),
    [`POST /runs/${RUN}/retry`]: json(stopped, 202),
    [`GET /runs/${RUN}`]: json(stopped),
  });
  const outcomes = [
    await run(service, '--max-cost', '2.5'),
    await svcPkg(['retry', RUN, '--only', 'missing', '--max-cost', '3', '--api-url', service.url]),
  ];
  for (const { exitCode, stderr } of outcomes) {
    expect(exitCode).toBe(4);
    expect(stderr).toContain(`The budget of run ${RUN} stopped it after 9 of 30 results (run_stopped)`);
    expect(stderr).toContain(`svc-pkg retry ${RUN} --only missing --max-cost <amount>`);
  }
  const sent = service.requests
    .filter(({ method }) => method === 'POST')
    .map(({ body }) => JSON.parse(String(body)));
  expect(sent).toMatchObject([{ config: { max_cost: { amount: 2.5 } } }, { max_cost: { amount: 3 } }]);
});

it('tries some items, shows what they give, and starts no run', async () => {
  const tried = {
    data: [
      {
        ...{ section: 'one', order_index: 0, item_id: 'q-0', output: 'It is 4.', error: null },
        request: { method: 'POST', url: 'https://h/v1/chat/completions', headers: {}, body: { model: 'm' } },
        scores: {
          main: { score: 1, passed: true, explanation: null, scored_by: 'checker' },
          style: { score: 0.25, passed: false, explanation: null, scored_by: 'judge' },
        },
      },
      {
        ...{ section: 'one', order_index: 1, item_id: null, output: null, request: null, scores: {} },
        error: { code: 'provider_error', message: 'The provider returned status 500.' },
      },
    ],
  };
  const service = await fakeService({ 'POST /runs/try': json(tried) });
  const shown = await run(service, '--try', '2');
  expect(shown.exitCode).toBe(0);
  expect(shown.stdout).toMatch(/^item +one 0 \(q-0\)$/m);
  expect(shown.stdout).toMatch(/^output +It is 4\.$/m);
  expect(shown.stdout).toMatch(/^score +1, passed$/m);
  expect(shown.stdout).toMatch(/^score style +0\.25$/m);
  expect(shown.stdout).toContain('The provider returned status 500. (provider_error)');
  expect(JSON.parse((await run(service, '--try', '2', '--json')).stdout)).toEqual(tried);
  const asked = service.requests.filter(({ method }) => method === 'POST').map(({ url }) => url);
  expect(asked).toEqual(['/runs/try?items=2', '/runs/try?items=2']);
  expect(await run(service, '--try', '21')).toMatchObject({ exitCode: 2 });
});

it('lists results by the score of one scorer', async () => {
  const result = {
    ...{ section: 'one', order_index: 3, repetition: 1, item_id: 'q-3', status: 'ok', latency_ms: 12.5 },
    ...{ score: 1, scores: { style: { score: 0.25 } } },
  };
  const meta = { limit: 50, next_cursor: null, total_items: 1 };
  const service = await fakeService({ [`GET /runs/${RUN}/results`]: json({ data: [result], meta }) });
  const filters = ['--sort=-scorer:style', '--scorer', 'style', '--min-score', '0.2', '--max-score=1'];
  const listed = await svcPkg(['results', 'list', RUN, ...filters, '--api-url', service.url]);
  expect(listed).toMatchObject({ exitCode: 0 });
  expect(listed.stdout).toMatch(/one +q-3 +1 +ok +0\.25 +12\.5/);
  const query = new URL(service.requests.at(-1)?.url ?? '', service.url).searchParams;
  expect(Object.fromEntries(query)).toMatchObject({
    ...{ sort: '-scorer:style', scorer: 'style', min_score: '0.2', max_score: '1' },
  });
});

it('lists runs with the filters and the order that are stated', async () => {
  const meta = { limit: 50, next_cursor: null, total_items: 0 };
  const service = await fakeService({ 'GET /runs': json({ data: [], meta }) });
  const filters = ['--status', 'failed', '--label', 'baseline', '--model', 'm', '--sort=-score'];
  expect(await svcPkg(['runs', ...filters, '--api-url', service.url])).toMatchObject({ exitCode: 0 });
  const query = new URL(service.requests.at(-1)?.url ?? '', service.url).searchParams;
  expect(Object.fromEntries(query)).toMatchObject({
    ...{ status: 'failed', label: 'baseline', model: 'm', sort: '-score' },
  });
});

it('names members of the file, where a configuration is a file', async () => {
  const message = 'Invalid run configuration: /config/provider/type must be one of echo.';
  const at = { path: '/config/provider/type' };
  const errors = [{ message: '/config/provider/type must be one of echo.', ...at }];
  const refused = problem(400, 'invalid_request', message, { errors });
  const baseline = { id: RUN, status: 'completed', config: {}, scores: { mean: 1 } };
  const service = await fakeService({
    [`GET /datasets/${DATASET.id}`]: json(DATASET),
    [`GET /runs/${RUN}`]: json(baseline),
    'POST /runs': refused,
    'POST /runs/plan': refused,
    [`POST /runs/${RUN}/rescore`]: refused,
  });
  const file = join(await temporaryFolder(), 'run.json');
  await writeFile(file, '{"provider": {"type": "x"}}');
  const gate = ['gate', DATASET.id, '--baseline', RUN, '--max-drop', '0.02'];
  for (const command of [gate, ['run', DATASET.id], ['rescore', RUN]]) {
    const outcome = await svcPkg([...command, '--config', file, '--api-url', service.url]);
    expect(outcome.stderr).toBe(
      'svc-pkg: Invalid run configuration: /provider/type must be one of echo (invalid_request)\n' +
        `${file}: /provider/type must be one of echo\n`,
    );
  }
  const mixed = ['--config', file, '--set', 'provider.type=x', '--api-url', service.url];
  expect((await svcPkg(['run', DATASET.id, ...mixed])).stderr).toContain(
    '--set provider.type must be one of',
  );

  await writeFile(file, '{"provider":\n  x}');
  const broken = await svcPkg([...gate, '--config', file, '--api-url', service.url]);
  expect(broken.stderr).toContain(`${file}:2:3: --config must be a JSON object: `);
  expect(await svcPkg(['run', 'x', '--set', 'nothing'])).toMatchObject({ exitCode: 2 });
  expect(await svcPkg(['run', 'x', '--config', '/nowhere.json'])).toMatchObject({ exitCode: 3 });
});
