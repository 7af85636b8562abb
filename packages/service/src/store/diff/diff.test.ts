import { itemHash, parseItem } from '@svc/jsonl-v23';
import { canonicalJson, type JsonObject, type JsonValue, parseJson } from '@svc/jsonl-v23/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { times } from '../../../../../tools/vitest/long.ts';
import { importItems, metaOf, writeSections } from '../../../test/store/import-items.ts';
import { openTestStore, type TestStore } from '../../../test/store/open-test-store.ts';
import { type Content, referenceDiff } from '../../../test/store/reference-diff.ts';
import type { Store } from '../create-store.ts';
import type { ComparedDataset } from '../datasets/diff-datasets.ts';
import type { Pool } from '../postgres/pool.ts';
import type { ChangedDataset, DatasetChange } from '../versions/change-dataset.ts';
import type { ItemChange } from './compare-sections.ts';
import type { ChangedEntry, ChangedField, DiffEntry } from './read-differences.ts';

let opened: TestStore;
let store: Store;
let pool: Pool;
beforeAll(async () => {
  opened = await openTestStore();
  ({ store, pool } = opened);
});
afterAll(() => opened[Symbol.asyncDispose]());

async function change(sections: Content, request: Omit<DatasetChange, 'staged'>): Promise<ChangedDataset> {
  const { edits, ...change } = request;
  await using draft = await store.datasets.begin({ target: { kind: 'version', change, edits } });
  await writeSections(draft, sections);
  return (await draft.commit({ dataset: metaOf() })).changed as ChangedDataset;
}

/** All pages of a diff. */
async function entriesOf(
  from: ComparedDataset,
  to: ComparedDataset,
  { limit, only }: { readonly limit: number; readonly only?: ItemChange },
): Promise<DiffEntry[]> {
  const entries: DiffEntry[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await store.datasets.diff(from, to, { limit, cursor, only });
    entries.push(...page.data);
    expect(page.data.length).toBeLessThanOrEqual(limit);
    if (page.nextCursor === null) {
      expect(page.totalItems).toBe(entries.length);
      return entries;
    }
    cursor = page.nextCursor;
  }
}

/** The item after its fields have changed. */
function withFields(text: string, fields: readonly ChangedField[]): string {
  const item = parseJson(text);
  // Elements that are removed from an array leave holes: the last ones first.
  for (const { pointer, from, to, isTruncated } of [...fields].reverse()) {
    expect(isTruncated).toBe(false);
    const steps = pointer.split('/').slice(1);
    const last = (steps.pop() ?? '').replaceAll('~1', '/').replaceAll('~0', '~');
    let at = item;
    for (const step of steps)
      at = (at as JsonObject)[step.replaceAll('~1', '/').replaceAll('~0', '~')] as JsonValue;
    const target = at as Record<string, JsonValue>;
    expect(target[last] === undefined ? null : canonicalJson(target[last] as JsonValue)).toBe(from);
    if (to === null && Array.isArray(at)) at.splice(Number(last), 1);
    else if (to === null) delete target[last];
    else target[last] = parseJson(to);
  }
  return canonicalJson(item);
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

describe('diff', () => {
  it('counts random changes as a reference in memory does, and lists them', {
    timeout: 600_000,
  }, async () => {
    const steps = Number(process.env['STEPS'] ?? times(40, 16));
    const pick = random(Number(process.env['SEED'] ?? 11));
    const item = (): string =>
      canonicalJson({
        ...(pick(3) === 0 ? {} : { id: pick(4) === 0 ? `${pick(4)}` : pick(9) }),
        inputs:
          pick(5) === 0
            ? { messages: [{ content: `p${pick(2)}`, role: 'user' }] }
            : { prompt: `p${pick(4)}` },
        ...(pick(2) === 0 ? {} : { answer: pick(3) }),
        ...(pick(3) === 0 ? { 'meta/~': [pick(2), pick(2)].slice(pick(2)) } : {}),
      });
    const list = (length: number): string[] => Array.from({ length }, item);
    const mixed = (texts: readonly string[]): string[] => {
      const copy = [...texts];
      for (let swaps = pick(4); swaps > 0 && copy.length > 0; swaps -= 1) {
        const [one] = copy.splice(pick(copy.length), 1);
        copy.splice(pick(copy.length + 1), 0, one as string);
      }
      return copy.flatMap((text) => (pick(6) === 0 ? (pick(2) === 0 ? [] : [text, item()]) : [text]));
    };
    let current: Content = { a: list(12), b: list(4) };
    const { id } = await importItems(store.datasets, current);
    const kept = [current];
    for (let step = 0; step < steps; step += 1) {
      const kind = pick(8);
      const [a = [], b = []] = [current['a'], current['b']];
      let next: Content = current;
      let changed: ChangedDataset;
      if (kind === 0) {
        const added = list(1 + pick(2));
        next = { ...current, b: [...b, ...added] };
        changed = await change({ b: added }, { datasetId: id, mode: 'append' });
      } else if (kind === 1) {
        const version = 1 + pick(kept.length);
        next = kept[version - 1] as Content;
        ({ changed } = await store.datasets.restore({ datasetId: id, version }));
      } else if (kind < 4) {
        const places = [...new Set([pick(a.length), pick(a.length)])].filter(
          (at) => at < a.length && a.filter((text) => text === a[at]).length === 1,
        );
        const edits = places.map((at) => ({ at, text: pick(3) === 0 ? null : item() }));
        next = {
          ...current,
          a: a.flatMap(
            (text, at) => edits.find((edit) => edit.at === at)?.text ?? (places.includes(at) ? [] : [text]),
          ),
        };
        const body = edits.flatMap(({ text }) => (text === null ? [] : [text]));
        changed = await change(body.length === 0 ? {} : { x: body }, {
          datasetId: id,
          mode: 'edit',
          edits: edits.map(({ at, text }) => ({
            section: 'a',
            item: { hash: Buffer.from(itemHash(parseItem(parseJson(a[at] as string)))).toString('hex') },
            isRemoval: text === null,
          })),
        });
      } else {
        const at = pick(3) === 0 ? pick(a.length) : -1;
        const staying = a.filter((_, index) => index !== at);
        const moving = a.filter((_, index) => index === at);
        next = { a: mixed(staying).slice(0, 16), b: [...mixed(b).slice(0, 8), ...moving] };
        if (pick(6) === 0) next = { c: next['b'] ?? [], a: next['a'] ?? [] };
        changed = await change(next, { datasetId: id, mode: 'replace' });
      }
      const expected = referenceDiff(current, next);
      expect(changed.change, `step ${step}, kind ${kind}`).toEqual(expected.counts);
      if (!changed.isNew) continue;
      expect(changed.version).toBe(kept.push(next));
      const [from, to] = [changed.version - 1, changed.version].map((version) => ({ id, version })) as [
        ComparedDataset,
        ComparedDataset,
      ];
      const { counts, sections } = await store.datasets.diff(from, to, { limit: 1 });
      const reordered = sections.filter((section) => section.isOrderChanged).map(({ name }) => name);
      expect(reordered.toSorted(), `step ${step}`).toEqual(expected.reordered.toSorted());
      const total = Object.values(current).flat().length;
      const { added: _, ...ofFirst } = expected.counts;
      expect(counts).toEqual({
        ...expected.counts,
        unchanged: total - Object.values(ofFirst).reduce((sum, count) => sum + count, 0),
      });
      const entries = await entriesOf(from, to, { limit: 3 });
      expect(entries).toEqual(await entriesOf(from, to, { limit: 100 }));
      const listed: Record<string, unknown[]> = { added: [], removed: [], changed: [] };
      for (const entry of entries) {
        if (entry.change === 'changed') {
          listed['changed']?.push([entry.section, entry.orderIndex, entry.otherOrderIndex]);
          const [before, after] = [current, next].map((content, side) =>
            (content[entry.section] ?? []).at(side === 0 ? entry.orderIndex : entry.otherOrderIndex),
          ) as [string, string];
          expect(withFields(before, entry.fields)).toBe(after);
          continue;
        }
        const place = entry.to ?? entry.from;
        listed[entry.change]?.push([place?.section, place?.orderIndex]);
      }
      for (const name of ['added', 'removed', 'changed'] as const) {
        expect(new Set(listed[name]?.map((one) => JSON.stringify(one))), name).toEqual(
          new Set(expected[name].map((one) => JSON.stringify(one))),
        );
        expect(await entriesOf(from, to, { limit: 100, only: name })).toEqual(
          entries.filter((entry) => entry.change === name),
        );
      }
      current = next;
    }
  });

  const changedOf = (entries: readonly DiffEntry[]): ChangedEntry[] =>
    entries.filter((entry): entry is ChangedEntry => entry.change === 'changed');

  it('shows both values of a member with every digit, and shortens long ones', async () => {
    const long = 'é'.repeat(2_000);
    const from = await importItems(store.datasets, {
      s: [`{"id":1,"inputs":{"prompt":"a"},"meta":{"n":10000000000000000000000001,"x":"${long}"}}`],
    });
    const to = await importItems(store.datasets, {
      s: ['{"answer":1,"id":1,"inputs":{"prompt":"b"},"meta":{"n":10000000000000000000000002,"x":[]}}'],
    });
    const [entry] = changedOf(await entriesOf(from, to, { limit: 10 }));
    expect(entry).toMatchObject({ section: 's', orderIndex: 0, otherOrderIndex: 0, itemId: '1' });
    expect(entry?.fields).toEqual([
      { pointer: '/inputs/prompt', from: '"a"', to: '"b"', isTruncated: false },
      {
        pointer: '/meta/n',
        from: '10000000000000000000000001',
        to: '10000000000000000000000002',
        isTruncated: false,
      },
      { pointer: '/meta/x', from: `"${'é'.repeat(1024)}"`, to: '[]', isTruncated: true },
      { pointer: '/answer', from: null, to: '1', isTruncated: false },
    ]);
  });

  it('pairs items without a common id by their prompts or messages', async () => {
    const asked = ['{"prompt":"a"}', '{"messages":[{"content":"b","role":"user"}]}', '{"prompt":"c"}'];
    const [from, to] = await Promise.all(
      ['old', 'new'].map((name) =>
        importItems(store.datasets, {
          s: asked.map(
            (inputs, at) => `{"id":"${name}-${at}","inputs":${at < 2 ? inputs : `{"prompt":"${name}"}`}}`,
          ),
        }),
      ),
    );
    const entries = await entriesOf(from as ComparedDataset, to as ComparedDataset, { limit: 10 });
    expect(entries.map(({ change }) => change).toSorted()).toEqual([
      'added',
      'changed',
      'changed',
      'removed',
    ]);
    expect(changedOf(entries).map(({ fields }) => fields)).toEqual(
      [0, 1].map((at) => [{ pointer: '/id', from: `"old-${at}"`, to: `"new-${at}"`, isTruncated: false }]),
    );
  });

  it('compares a huge item as a whole', async () => {
    const item = (text: string): string => `{"id":1,"meta":{"x":"${text.repeat(300_000)}"}}`;
    const from = await importItems(store.datasets, { s: [item('a')] });
    const to = await importItems(store.datasets, { s: [item('b')] });
    const [entry] = changedOf(await entriesOf(from, to, { limit: 10 }));
    expect(entry?.fields).toMatchObject([{ pointer: '', isTruncated: true }]);
    expect(entry?.fields[0]?.from).toContain('aaa');
    expect(Buffer.byteLength(entry?.fields[0]?.to ?? '')).toBeLessThan(3_000);
  });

  it('does not read sections that both sides have', async () => {
    const { id } = await importItems(store.datasets, { large: ['{"id":1}', '{"id":2}'], s: ['{"id":1}'] });
    await change({ s: ['{"answer":1,"id":1}'] }, { datasetId: id, mode: 'upsert' });
    await pool.query(
      `UPDATE items SET item_hash = '\\x00' WHERE part_id = (SELECT part_ids[1] FROM version_sections
       WHERE dataset_id = $1 AND version = 1 AND name = 'large')`,
      [id],
    );
    const { counts } = await store.datasets.diff({ id, version: 1 }, { id, version: 2 }, { limit: 1 });
    expect(counts).toEqual({ added: 0, removed: 0, changed: 1, unchanged: 2 });
  });

  it('continues in the versions in which it began', async () => {
    const { id } = await importItems(store.datasets, { s: ['{"id":1}', '{"id":2}'] });
    const other = await importItems(store.datasets, {});
    const { data, nextCursor } = await store.datasets.diff({ id }, other, { limit: 1 });
    await change({ s: ['{"id":3}'] }, { datasetId: id, mode: 'replace' });
    const cursor = nextCursor ?? undefined;
    const next = await store.datasets.diff({ id }, other, { limit: 1, cursor });
    expect([...data, ...next.data].map((entry) => entry.change)).toEqual(['removed', 'removed']);
    await expect(store.datasets.diff({ id, version: 2 }, other, { limit: 1, cursor })).rejects.toMatchObject({
      code: 'invalid_cursor',
    });
    await expect(store.datasets.diff({ id, version: 9 }, other, { limit: 1 })).rejects.toMatchObject({
      code: 'version_not_found',
    });
  });
});
