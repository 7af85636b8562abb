import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  changesMixedLocations,
  type QueryFacts,
  queryFacts,
} from '../../../prisma/test/distribution/check-queries.ts';
import { unsupportedSchema } from '../../../prisma/test/distribution/check-schema.ts';
import { recordStatements } from '../../../prisma/test/distribution/record-statements.ts';
import { makePackage, uploadForm } from '../../api/test/make-package.ts';
import { type FakeProvider, startFakeProvider } from './fake-provider.ts';
import { runEnded, startTestService, type TestService, until } from './start-test-service.ts';

/** Statements that ask every shard, by a part of their text, and why that is right. */
const ADMITTED_FANOUTS: readonly (readonly [text: RegExp, reason: string])[] = [];

describe('distributed PostgreSQL', () => {
  let cleanUp: AsyncDisposableStack;
  let service: TestService;
  let provider: FakeProvider;
  let statements: ReadonlySet<string>;
  const facts = new Map<string, QueryFacts>();

  beforeAll(async () => {
    cleanUp = new AsyncDisposableStack();
    ({ statements } = cleanUp.use(recordStatements()));
    service = cleanUp.use(await startTestService());
    provider = cleanUp.use(await startFakeProvider((prompt) => ({ text: prompt })));
    await useEverything();
    for (const text of statements) facts.set(text, await queryFacts(text));
  });
  afterAll(() => cleanUp.disposeAsync());

  /** Calls what reads and writes the large tables. */
  async function useEverything(): Promise<void> {
    const data = Buffer.from('an image').toString('base64');
    const lines = Array.from({ length: 30 }, (_, id) =>
      JSON.stringify({
        answer: `a${id}`,
        ...(id % 2 === 0 ? { assets: { f: { data, encoding: 'base64', mime_type: 'image/png' } } } : {}),
        ...{ id, inputs: { prompt: `a${id % 20}` }, tags: ['t'], type: 'exact' },
      }),
    );
    const archive = await makePackage({ 'sections/s.jsonl': `${lines.join('\n')}\n` });
    const { body: dataset } = await service.post('/datasets/upload', uploadForm(archive, { name: 'one' }));
    const { body: job } = await service.post('/datasets/upload', uploadForm(archive, { name: 'two' }), {
      prefer: 'respond-async',
      'idempotency-key': 'once',
    });
    const { body: ended } = await until(
      () => service.get(`/jobs/${job.id}`),
      ({ body }) => body.finished_at !== null,
    );
    const select = { types: ['exact'], tags: ['t'], limit: 20, sample: { n: 10, seed: 's' } };
    const config = { provider: { type: 'item_field', pointer: '/inputs/prompt' } };
    const start = async (body: object): Promise<string> => {
      const { body: run } = await service.post('/runs', { dataset_id: dataset.id, ...body });
      await runEnded(service, run.id);
      return run.id;
    };
    const one = await start({ config });
    await service.post('/runs?dry_run=true', { dataset_id: dataset.id, config: { ...config, select } });
    const two = await start({ config: { ...config, select } });
    const asked = { provider: { type: 'openai_compatible', base_url: provider.baseUrl, model: 'm' } };
    const price = { input_per_million: 1, output_per_million: 1 };
    await start({ config: asked });
    await start({
      config: { ...asked, select, price, reuse: { run_id: 'latest' }, max_cost: { amount: 1 } },
    });
    await service.post('/runs?try=1', { dataset_id: dataset.id, config: asked });
    const { body: rescored } = await service.post(`/runs/${one}/rescore`, { checker: 'includes' });
    await runEnded(service, rescored.id);
    const many = lines.concat(Array.from({ length: 4_100 }, (_, id) => `{"id":${id}}`)).join('\n');
    const { body: larger } = await service.post(
      '/datasets/upload',
      uploadForm(await makePackage({ 'sections/s.jsonl': many })),
    );
    expect(await service.store.datasets.indexHashes()).toBe(4_130);
    await service.delete(`/datasets/${larger.id}`);
    const paths = [
      ...[
        '/datasets?q=one',
        `/datasets/${dataset.id}/sections`,
        `/datasets/${dataset.id}/diff/${ended.dataset_id}`,
      ],
      ...[
        '',
        '?q=a1',
        '?type=exact',
        '?tag=t',
        '?item_id=3',
        `?item_hash=${'0'.repeat(64)}`,
        '?section=s',
        '?from=0-5',
      ].map((query) => `/datasets/${dataset.id}/items${query}`),
      `/datasets/${dataset.id}/items?type=none`,
      ...['.jsonl', '.csv', '.parquet'].map((format) => `/datasets/${dataset.id}/items${format}`),
      ...[`/datasets/${dataset.id}/export?run_id=${one}`, `/datasets/${dataset.id}/items?assets=link`],
      ...['', '?include=item', '?status=ok', '?q=a1', '?passed=true', `?item_hash=${'0'.repeat(64)}`].map(
        (query) => `/runs/${one}/results${query}`,
      ),
      ...['.jsonl', '.csv', '.parquet'].map((format) => `/runs/${one}/results${format}`),
      ...[
        `/runs/${one}`,
        '/runs',
        `/runs/${one}/compare/${two}`,
        '/jobs',
        '/settings',
        '/readyz',
        '/metrics',
      ],
    ];
    for (const path of paths) await service.get(path);
    const { body: page } = await service.get(`/datasets/${dataset.id}/items?assets=link&limit=1`);
    await service.get(page.data[0].item.assets.f.url);
    await service.patch(`/datasets/${dataset.id}`, { name: 'three' });
    await service.patch('/settings', { cancellation_check_interval_ms: 1_000 });
    await service.post(`/runs/${one}/retry`, { only: 'failed' });
    await service.post(`/runs/${one}/cancel`);
    await service.patch(`/runs/${two}`, { name: 'second' });
    await service.delete(`/runs/${rescored.id}`);
    await service.delete(`/datasets/${dataset.id}`);
    await service.store.assets.collect();
    await service.store.datasets.collect();
  }

  it('supports the keys of the schema', async () => {
    expect(await unsupportedSchema(service.databaseUrl)).toEqual([]);
  });

  it('reads and writes shards by the column that distributes them', () => {
    const fanouts = [...facts].filter(([, { accesses }]) => accesses.some(({ reach }) => reach === 'all'));
    const reached = [...facts.values()].flatMap(({ accesses }) => accesses.map(({ table }) => table));
    expect([...new Set(reached)].sort()).toEqual([
      'hash_blocks',
      'items',
      'run_differences',
      'run_items',
      'run_results',
    ]);
    expect(facts.size).toBeGreaterThan(60);
    const left = fanouts.filter(([text]) => !ADMITTED_FANOUTS.some(([part]) => part.test(text)));
    expect(left.map(([text]) => text)).toEqual([]);
    const unused = ADMITTED_FANOUTS.filter(([part]) => !fanouts.some(([text]) => part.test(text)));
    expect(unused).toEqual([]);
  });

  it('changes tables of one location per statement', () => {
    const mixed = [...facts].filter(([, of]) => changesMixedLocations(of)).map(([text]) => text);
    expect(mixed).toEqual([]);
  });
});
