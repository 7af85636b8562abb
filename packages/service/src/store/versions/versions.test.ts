import { randomUUID } from 'node:crypto';
import { createSectionHasher, itemHash, parseItem, versionHash } from '@svc/jsonl-v23';
import { canonicalJson, type JsonObject, parseJson } from '@svc/jsonl-v23/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { times } from '../../../../../tools/vitest/long.ts';
import { importItems, metaOf, type Sections, writeSections } from '../../../test/store/import-items.ts';
import { openTestStore, type TestStore } from '../../../test/store/open-test-store.ts';
import type { Store } from '../create-store.ts';
import { inTransaction, type Pool } from '../postgres/pool.ts';
import { type ChangedDataset, changeDataset, type DatasetChange } from './change-dataset.ts';
import type { Edit } from './place-items.ts';
import type { ItemRange } from './ranges.ts';

let opened: TestStore;
let store: Store;
let pool: Pool;
beforeAll(async () => {
  opened = await openTestStore();
  ({ store, pool } = opened);
});
afterAll(() => opened[Symbol.asyncDispose]());

type Content = Record<string, readonly string[]>;

async function change(
  sections: Sections,
  request: Omit<DatasetChange, 'staged'>,
  options?: { readonly dryRun?: boolean },
): Promise<ChangedDataset> {
  const { edits, ...change } = request;
  await using draft = await store.datasets.begin({ target: { kind: 'version', change, edits }, ...options });
  await writeSections(draft, sections);
  return (await draft.commit({ dataset: metaOf() })).changed as ChangedDataset;
}

const textOf = (id: number | null, prompt: string): string =>
  canonicalJson({ ...(id === null ? {} : { id }), inputs: { prompt } });

function hashOf(content: Content): string {
  const sections = Object.entries(content).map(([name, texts]) => {
    const hasher = createSectionHasher(name);
    for (const text of texts) hasher.add(itemHash(parseItem(parseJson(text))));
    return hasher.digest();
  });
  return versionHash(sections);
}

/** The items of a version as pages show them. */
async function read(id: string, version?: number): Promise<Content> {
  const dataset = await store.datasets.get(id, { version: version ?? null });
  const content: Record<string, string[]> = Object.fromEntries(
    dataset.sections.map(({ name }) => [name, []]),
  );
  let positions: number[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await store.datasets.listItems(id, { limit: 7, cursor, version });
    page.release();
    for (const item of page.data) {
      positions.push(item.orderIndex);
      content[item.section]?.push(item.payload ?? '');
    }
    expect(page.totalItems).toBe(dataset.itemCount);
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  expect(positions).toEqual(Object.values(content).flatMap((texts) => texts.map((_, index) => index)));
  positions = [];
  const exported: Record<string, string[]> = Object.fromEntries(
    dataset.sections.map(({ name }) => [name, []]),
  );
  await using open = await store.datasets.open(id, version === undefined ? {} : { version });
  for await (const batch of open.items())
    for (const item of batch) exported[item.section]?.push(item.payload);
  expect(exported).toEqual(content);
  return content;
}

/** A generator of equally distributed numbers (Mulberry32). */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

describe('versions', () => {
  it('a random sequence of changes is what a list in memory becomes', { timeout: 600_000 }, async () => {
    const steps = Number(process.env['STEPS'] ?? times(70, 35));
    const pick = random(7);
    let nextId = 100;
    const fresh = (): string => textOf(nextId++, `p${pick(1_000_000)}`);
    let current: Content = { a: Array.from({ length: 20 }, fresh), b: [fresh()] };
    const dataset = await importItems(store.datasets, current);
    const { id } = dataset;
    const kept = new Map<number, Content>([[1, current]]);
    let newest = 1;
    for (let step = 0; step < steps; step++) {
      const names = Object.keys(current);
      const name = pick(12) === 0 ? `s${pick(4)}` : (names[pick(names.length)] as string);
      const old = current[name] ?? [];
      const next: Record<string, readonly string[]> = { ...current };
      let changed: ChangedDataset | undefined;
      const kind = pick(12);
      if (kind < 4) {
        const added = Array.from({ length: 1 + pick(3) }, fresh);
        next[name] = [...old, ...added];
        changed = await change({ [name]: added }, { datasetId: id, mode: 'append' });
        expect(changed.change, 'append').toEqual({ added: added.length, changed: 0, removed: 0 });
      } else if (kind < 7) {
        const positions = old.length === 0 ? [] : [...new Set([pick(old.length), pick(old.length)])];
        const idOf = (text: string): unknown => (JSON.parse(text) as JsonObject)['id'];
        const replaced = positions.map(
          (at) => [at, textOf(idOf(old[at] as string) as number, `u${pick(3)}`)] as const,
        );
        const added = Array.from({ length: pick(2) }, fresh);
        next[name] = [...old.map((text, at) => replaced.find(([one]) => one === at)?.[1] ?? text), ...added];
        const body = [...added, ...replaced.map(([, text]) => text)];
        if (body.length === 0) continue;
        changed = await change({ [name]: body }, { datasetId: id, mode: 'upsert' });
      } else if (kind < 10) {
        if (old.length === 0) continue;
        const at = [...new Set([pick(old.length), pick(old.length)])];
        const edits = at.map((position): [number, Edit, string | null] => {
          const isRemoval = pick(2) === 0;
          const text = old[position] as string;
          const item =
            pick(2) === 0
              ? { id: canonicalJson((JSON.parse(text) as JsonObject)['id'] as number) }
              : { hash: Buffer.from(itemHash(parseItem(parseJson(text)))).toString('hex') };
          return [position, { section: name, item, isRemoval }, isRemoval ? null : fresh()];
        });
        next[name] = old.flatMap((text, position) => {
          const edit = edits.find(([one]) => one === position);
          return edit === undefined ? [text] : edit[2] === null ? [] : [edit[2]];
        });
        const body = edits.flatMap(([, , text]) => (text === null ? [] : [text]));
        changed = await change(body.length === 0 ? {} : { x: body }, {
          datasetId: id,
          mode: 'edit',
          edits: edits.map(([, edit]) => edit),
        });
      } else if (kind === 10) {
        const versions = [...kept.keys()];
        const wanted = versions[pick(versions.length)] as number;
        const before = kept.get(wanted) as Content;
        ({ changed } = await store.datasets.restore({ datasetId: id, version: wanted }));
        for (const key of Object.keys(next)) delete next[key];
        Object.assign(next, before);
      } else {
        const items = Object.values(current).flat();
        for (const key of Object.keys(next)) delete next[key];
        const shuffled = items.filter(() => pick(3) > 0);
        if (pick(2) === 0) shuffled.push(fresh());
        next['a'] = shuffled.slice(0, 12);
        next['z'] = shuffled.slice(12, 40);
        changed = await change(next, { datasetId: id, mode: 'replace' });
      }
      const hash = hashOf(next);
      const isNew = hash !== hashOf(current);
      expect(changed, `step ${step}`).toMatchObject({
        versionHash: hash,
        isNew,
        version: newest + Number(isNew),
      });
      newest = changed.version;
      current = next;
      kept.set(newest, current);
      if (kept.size > 6) {
        const gone = [...kept.keys()].filter((version) => version !== newest)[pick(kept.size - 1)] as number;
        kept.delete(gone);
        await store.datasets.deleteVersion(id, gone, { withRuns: false });
        await store.datasets.collect();
      }
      expect(await read(id), `step ${step}`).toEqual(current);
      const [older] = kept.keys();
      expect(await read(id, older), `step ${step}, version ${older}`).toEqual(kept.get(older as number));
    }
    const { rows } = await pool.query<{ items: string; used: string }>(
      `SELECT (SELECT count(*) FROM items) AS items, (SELECT count(DISTINCT (i.part_id, i.ordinal)) FROM version_sections s
         CROSS JOIN LATERAL unnest(s.part_ids, s.starts, s.firsts, s.starts[2:] || s.item_count) AS r (part_id, start, first, stop)
         JOIN items i ON i.part_id = r.part_id AND i.ordinal >= r.first AND i.ordinal < r.first + r.stop - r.start) AS used`,
    );
    expect(rows[0]?.items).toBe(rows[0]?.used);
    await store.datasets.delete(id);
    await store.datasets.collect();
    for (const table of ['items', 'parts', 'sections', 'versions', 'loose_parts']) {
      expect((await pool.query(`SELECT FROM ${table}`)).rowCount, table).toBe(0);
    }
  });

  it('a section of too many ranges is stored as one part', async () => {
    const items = Array.from({ length: 9_000 }, (_, index) => textOf(index, `p${index}`));
    const { id } = await importItems(store.datasets, { s: items });
    const changes = items.map((text, index) => (index % 2 === 0 ? text : textOf(index, 'changed')));
    const odd = changes.filter((_, index) => index % 2 === 1);
    const changed = await change({ s: odd }, { datasetId: id, mode: 'upsert' });
    expect(changed).toMatchObject({ versionHash: hashOf({ s: changes }), change: { changed: 4_500 } });
    const more = [...changes, textOf(9_000, 'more')];
    const appended = await change({ s: more.slice(-1) }, { datasetId: id, mode: 'append' });
    expect(appended.versionHash).toBe(hashOf({ s: more }));
    await using open = await store.datasets.open(id);
    const stored = (await Array.fromAsync(open.items())).flat();
    expect(stored.map(({ payload }) => payload)).toEqual(more);
    await store.datasets.deleteVersion(id, 1, { withRuns: false });
    await store.datasets.collect();
    const { rows } = await pool.query(
      'SELECT sum(item_count)::int AS items FROM parts WHERE dataset_id = $1',
      [id],
    );
    expect(rows).toEqual([{ items: 9_001 }]);
    await store.datasets.delete(id);
    await store.datasets.collect();
  });

  it('an upsert keeps what is stored of items that are the same', async () => {
    const { id } = await importItems(store.datasets, { s: [1, 2, 3].map((n) => textOf(n, 'a')) });
    await change({ s: [textOf(1, 'a'), textOf(3, 'b')] }, { datasetId: id, mode: 'upsert' });
    const { rows } = await pool.query(
      'SELECT starts FROM version_sections WHERE dataset_id = $1 AND version = 2',
      [id],
    );
    expect(rows).toEqual([{ starts: [0, 2] }]);
    await store.datasets.delete(id);
    await store.datasets.collect();
  });

  it('an upsert of several parts into one section hashes what it replaced', async () => {
    const content = { s: [textOf(1, 'a'), textOf(2, 'b')] };
    const { id } = await importItems(store.datasets, content);
    const target = { kind: 'version', change: { datasetId: id, mode: 'upsert' } } as const;
    await using draft = await store.datasets.begin({ target });
    await writeSections(draft, { x: [textOf(1, 'new')] }, { isNamed: false });
    await writeSections(draft, { y: [textOf(3, 'c')] }, { isNamed: false });
    const { changed } = await draft.commit({ dataset: metaOf() });
    const expected = { s: [textOf(1, 'new'), textOf(2, 'b'), textOf(3, 'c')] };
    expect(changed?.versionHash).toBe(hashOf(expected));
    expect(await read(id)).toEqual(expected);
    await store.datasets.delete(id);
    await store.datasets.collect();
  });

  it('an upsert of ids that repeat on both sides is refused before their pairs are formed', async () => {
    const alike = (prompt: string): Content => ({
      s: Array.from({ length: 20_000 }, (_, n) => textOf(1, `${prompt}${n}`)),
    });
    const { id } = await importItems(store.datasets, alike('old'));
    const upsert = change(alike('new'), { datasetId: id, mode: 'upsert' });
    await expect(upsert).rejects.toMatchObject({ code: 'ambiguous_id' });
    await store.datasets.delete(id);
    await store.datasets.collect();
  });

  it('a body that is staged as several parts is one body', async () => {
    const { id } = await importItems(store.datasets, { s: [1, 2, 3, 4].map((n) => textOf(n, 'a')) });
    const expectAfter = async (
      body: readonly string[],
      request: Pick<DatasetChange, 'mode' | 'edits'>,
      items: readonly string[],
    ): Promise<void> => {
      const source = await importItems(store.datasets, { x: body });
      const changed = await inTransaction(pool, async (client) => {
        const ranges: ItemRange[] = [];
        for (let first = 0; first < body.length; first += 2) {
          const partId = randomUUID();
          const { rowCount } = await client.query(
            `INSERT INTO items (part_id, ordinal, byte_length, item_hash, type, payload, item_id)
             SELECT $1, ordinal - $3, byte_length, item_hash, type, payload, item_id FROM items
             WHERE part_id = $2 AND ordinal >= $3 AND ordinal < $3 + 2`,
            [partId, await onlyPartOf(source.id), first],
          );
          ranges.push({ partId, first: 0, count: Number(rowCount) });
        }
        return await changeDataset(client, {
          datasetId: id,
          staged: [{ section: null, ranges }],
          ...request,
        });
      });
      expect(changed.versionHash, request.mode).toBe(hashOf({ s: items }));
      expect(await read(id), request.mode).toEqual({ s: items });
      await store.datasets.delete(source.id);
    };
    const items = (ids: readonly number[], prompt: string): string[] => ids.map((n) => textOf(n, prompt));
    const appended = [...items([1, 2, 3, 4], 'a'), ...items([5, 6, 7, 8, 9], 'a')];
    await expectAfter(appended.slice(4), { mode: 'append' }, appended);
    const upserted = [
      ...items([1], 'a'),
      ...items([2, 3, 4, 5], 'b'),
      ...items([6, 7, 8, 9], 'a'),
      ...items([10, 11, 12], 'b'),
    ];
    await expectAfter(items([10, 2, 3, 11, 4, 5, 12], 'b'), { mode: 'upsert' }, [
      ...upserted.slice(0, 9),
      ...items([10, 11, 12], 'b'),
    ]);
    const edits = [12, 1, 7].map((n): Edit => ({ item: { id: String(n) }, isRemoval: false }));
    const edited = upserted.with(11, textOf(12, 'c')).with(0, textOf(1, 'c')).with(6, textOf(7, 'c'));
    await expectAfter(items([12, 1, 7], 'c'), { mode: 'edit', edits }, edited);
    const replaced = [...edited.slice(3), textOf(20, 'd'), ...edited.slice(0, 2)];
    await expectAfter(replaced, { mode: 'replace' }, replaced);
    await store.datasets.delete(id);
    await store.datasets.collect();
    expect((await pool.query('SELECT FROM items')).rowCount).toBe(0);
  });
});

async function onlyPartOf(datasetId: string): Promise<string | undefined> {
  const { rows } = await pool.query<{ id: string }>('SELECT id FROM parts WHERE dataset_id = $1', [
    datasetId,
  ]);
  return rows[0]?.id;
}
