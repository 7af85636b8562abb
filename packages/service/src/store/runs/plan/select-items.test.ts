import { createHash, randomUUID } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { importItems } from '../../../../test/store/import-items.ts';
import { queryDatabase } from '../../../../test/store/query-database.ts';
import { createTestDatabase } from '../../../../test/store/template-db.ts';
import type { RunSelection } from '../../../evaluation/index.ts';
import { createStore } from '../../create-store.ts';

it('samples a dataset of many parts by its rule, for a run, a plan and a preview', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  await using store = createStore({ url: database.url });
  // Each section is a part, which on a cluster are on several nodes.
  const names = Array.from({ length: 8 }, (_, section) => `s${section}`);
  const itemsOf = (name: string): string[] =>
    Array.from(
      { length: 5 },
      (_, item) => `{"answer":"${name} ${item}","id":${item},"inputs":{"prompt":"${item}"}}`,
    );
  const { id: datasetId } = await importItems(
    store.datasets,
    Object.fromEntries(names.map((name) => [name, itemsOf(name)])),
  );
  const selection = { sample: { n: 7, seed: 'a' } };
  const keyOf = ([section, item]: readonly number[]): string =>
    createHash('sha256').update(`a:${section}:${item}`).digest('hex');
  const expected = names
    .flatMap((name, section) => itemsOf(name).map((_, item) => [section, item] as const))
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
    .slice(0, 7)
    .sort(([a, b], [c, d]) => a - c || b - d);

  const run = { id: randomUUID(), datasetId, name: null, config: '{}', repetitions: 1, requestId: null };
  expect((await store.runs.create({ ...run, selection })).counts.total).toBe(7);
  const stored = await queryDatabase(
    database.url,
    'SELECT section_order_index AS section, order_index AS item FROM run_items WHERE run_id = $1 ORDER BY 1, 2',
    [run.id],
  );
  expect(stored.map(({ section, item }) => [section, item])).toEqual(expected);
  const { signal } = new AbortController();
  const deciding = store.runs.readDeciding({ datasetId, version: 1, selection, signal });
  const answers = (await Array.fromAsync(deciding)).flat().map(({ answer }) => answer);
  expect(answers).toEqual(expected.map(([section, item]) => `"s${section} ${item}"`));
  const sampled = await store.runs.sample({ datasetId, version: 1, selection, signal });
  expect(sampled.map(({ sectionOrderIndex, orderIndex }) => [sectionOrderIndex, orderIndex])).toEqual(
    expected,
  );

  // A limit counts the items of the whole version, also those of sections that are left out.
  for (const [limitedTo, total] of [
    [{ limit: 7 }, 7],
    [{ limit: 7, sections: ['s1', 's2'] }, 2],
  ] satisfies [RunSelection, number][]) {
    const limited = { ...run, id: randomUUID(), selection: limitedTo };
    expect((await store.runs.create(limited)).counts.total).toBe(total);
  }
});
