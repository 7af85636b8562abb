import { hash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { joinItem } from '@svc/jsonl-v23';
import { type LineBatch, splitLines } from '@svc/jsonl-v23/lines';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { allPages } from '../../../test/store/all-pages.ts';
import { importItems, LINES, linesOf, metaOf, writeSections } from '../../../test/store/import-items.ts';
import { streamItems } from '../../../test/store/stream-items.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/store/template-db.ts';
import { createStore, type Store } from '../create-store.ts';
import type { ItemsPage, ItemsRequest, StoredItem } from '../items/list-items.ts';

let database: TestDatabase;
let store: Store;
let plain: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  store = createStore({ url: database.url, poolSize: 12, importWaitMs: 1000, exportWaitMs: 1000 });
  plain = new pg.Pool({ connectionString: database.url });
});
afterAll(async () => {
  await store.close();
  await plain.end();
  await database.drop();
});
afterEach(async () => {
  await plain.query('TRUNCATE datasets, items CASCADE');
});

const counted = async (table: string): Promise<number> =>
  Number((await plain.query<{ count: string }>(`SELECT count(*) FROM ${table}`)).rows[0]?.count);

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** Every page of a list, one after the other. */
async function collect<T>(batches: AsyncIterable<readonly T[]>): Promise<T[]> {
  const found: T[] = [];
  for await (const batch of batches) found.push(...batch);
  return found;
}

const items = (count: number, prefix = 'item'): string[] =>
  Array.from({ length: count }, (_, index) => `{"id":"${prefix}-${index}","inputs":{"prompt":"p ${index}"}}`);

describe('begin', () => {
  it('stores dataset, sections and items, and answers with the summary', async () => {
    const saved = await importItems(
      store.datasets,
      { easy: items(3, 'e'), hard: items(2, 'h'), none: [] },
      {
        name: 'Ünïcode ✓',
        description: 'd',
        notes: null,
        source: 'hub',
        schema: '{"source":"hub","x":1e400}',
      },
    );
    expect(saved).toMatchObject({
      name: 'Ünïcode ✓',
      description: 'd',
      notes: null,
      source: 'hub',
      schema: '{"source":"hub","x":1e400}',
      sectionCount: 3,
      itemCount: 5,
      assetCount: 0,
    });
    expect(saved.versionHash).toMatch(/^[0-9a-f]{64}$/);
    expect(saved.sections.map(({ name, orderIndex, itemCount }) => [name, orderIndex, itemCount])).toEqual([
      ['easy', 0, 3],
      ['hard', 1, 2],
      ['none', 2, 0],
    ]);
    expect(saved.createdAt).toEqual(saved.updatedAt);
    expect(await store.datasets.get(saved.id)).toEqual(saved);
    const { rows } = await plain.query('SELECT octet_length(item_hash) AS length FROM items GROUP BY 1');
    expect(rows).toEqual([{ length: 32 }]);
  });

  it.each([
    ['escapes that a text format would need', String.raw`{"inputs":{"prompt":"a\\b\tc\nd\re\\N"}}`],
    ['NUL and lone surrogates', String.raw`{"inputs":{"prompt":"a\u0000b\ud800c\udfff"}}`],
    ['a NUL in the type', String.raw`{"type":"x\u0000y"}`],
    [
      'numbers that a double would lose',
      '{"answer":12345678901234567890.12345,"meta":{"n":9007199254740993}}',
    ],
    ['keys of objects', '{"answer":null,"meta":{"":1,"__proto__":{"constructor":2},"toString":3}}'],
    ['text outside of the first plane', '{"inputs":{"prompt":"😀 漢字 é"},"checker":"🙂"}'],
    ['all the parts', '{"answer":[],"assets":{"a":{"url":"https://x.example/y"}},"checker":null,"zz":{}}'],
    ['nothing', '{}'],
  ])('keeps %s', async (_, text) => {
    const saved = await importItems(store.datasets, { s: [text] });
    const page = await store.datasets.listItems(saved.id, { limit: 1 });
    const [listed] = page.data;
    const [streamed] = await collect(streamItems(store.datasets, saved.id));
    // the parts come back byte for byte: joined they are the canonical text, and that is made of the given one
    expect({ isTruncated: false, ...streamed }).toEqual({
      ...listed,
      itemHash: Uint8Array.from(listed?.itemHash ?? []),
    });
    const again = await importItems(store.datasets, { s: [joinItem(streamed!)] });
    expect(again.versionHash).toBe(saved.versionHash);
    const [listedAgain] = (await store.datasets.listItems(again.id, { limit: 1 })).data;
    expect(joinItem(listedAgain as StoredItem)).toBe(joinItem(streamed!));
  });

  it('notes the size and the hash of the canonical lines of a section', async () => {
    const large = `{"inputs":{"prompt":"${'é😀'.repeat(400_000)}"}}`;
    const texts = [
      ...items(2_000),
      '{"A":1,"answer":"first","checker":{"type":"😀"},"zz":[]}',
      `{"answer":null,${large.slice(1)}`,
      '{}',
      '{"assets":{"a":{"url":"https://x.example/y"}}}',
      ...items(2_000, 'é'),
    ];
    const saved = await importItems(store.datasets, { none: [], s: texts });
    await using open = await store.datasets.open(saved.id);
    for (const section of open.sections) {
      const items = (await Array.fromAsync(open.items([section]))).flat();
      const bytes = Buffer.from(items.map((item) => `${joinItem(item)}\n`).join(''));
      const found = { bytes: bytes.byteLength, sha256: hash('sha256', bytes, 'buffer') };
      expect(found).toEqual(section.exportFile);
      expect(bytes.toString()).toBe(section.itemCount === 0 ? '' : `${texts.join('\n')}\n`);
    }
  });

  it('keeps absent and null apart', async () => {
    const saved = await importItems(store.datasets, { s: ['{"answer":null}', '{}'] });
    const { data } = await store.datasets.listItems(saved.id, { limit: 10 });
    expect(data.map(({ answer, checker }) => [answer, checker])).toEqual([
      ['null', null],
      [null, null],
    ]);
  });

  it('stores a row that is larger than many chunks', async () => {
    const large = 'é'.repeat(3_000_000);
    const saved = await importItems(store.datasets, { s: [`{"inputs":{"prompt":"${large}"}}`, '{"id":1}'] });
    const [first, second] = await collect(streamItems(store.datasets, saved.id));
    expect(first?.payload).toBe(`{"inputs":{"prompt":"${large}"}}`);
    expect(second?.payload).toBe('{"id":1}');
  });

  it('shows nothing of an import before it is committed', async () => {
    await using draft = await store.datasets.begin();
    await writeSections(draft, { s: items(250) });
    expect((await counted('items')) + (await counted('datasets'))).toBe(0);
    await draft.commit({ dataset: metaOf() });
    expect(await counted('items')).toBe(250);
  });

  it('rolls back a draft that is disposed without a commit', async () => {
    {
      await using draft = await store.datasets.begin();
      await writeSections(draft, { s: items(5) });
    }
    expect([await counted('items'), await counted('datasets')]).toEqual([0, 0]);
  });

  it('copies nothing in a dry run, but counts and hashes', async () => {
    const stored = await importItems(store.datasets, { s: items(20) });
    await using draft = await store.datasets.begin({ dryRun: true });
    await writeSections(draft, { s: items(20) });
    expect(draft.hashes.versionHash).toBe(stored.versionHash);
    expect(draft.progress.items).toBe(20);
    expect(await counted('items')).toBe(20);
  });

  /** Lines of 500 items, and then whatever `rest` does. */
  const linesThen = async function* (
    count: number,
    rest: () => AsyncGenerator<Uint8Array, void> | Promise<void>,
  ): AsyncGenerator<LineBatch> {
    yield* splitLines(linesOf(items(count)));
    const more = rest();
    if (more instanceof Promise) await more;
    else yield* splitLines(more);
  };

  it('leaves nothing when the lines fail, and a connection that works', async () => {
    const error = new Error('line 7 is wrong');
    for (let round = 0; round < 10; round++) {
      await using draft = await store.datasets.begin();
      const lines = linesThen(500, () => Promise.reject(error));
      await expect(draft.section('s').writeLines(lines, LINES)).rejects.toBe(error);
    }
    expect(await counted('items')).toBe(0);
    expect((await importItems(store.datasets, { s: items(1) })).itemCount).toBe(1);
  });

  it('leaves nothing when it is aborted while the lines wait, and closes them', async () => {
    const abort = new AbortController();
    const waiting = Promise.withResolvers<void>();
    let closed = false;
    async function* lines(): AsyncGenerator<LineBatch> {
      try {
        yield* linesThen(500, () => {
          waiting.resolve();
          return new Promise((_, fail) =>
            abort.signal.addEventListener('abort', () => fail(abort.signal.reason)),
          );
        });
      } finally {
        closed = true;
      }
    }
    const reason = new Error('the client disconnected');
    {
      await using draft = await store.datasets.begin({ signal: abort.signal });
      const saving = draft.section('s').writeLines(lines(), LINES);
      const outcome = expect(saving).rejects.toBe(reason);
      await waiting.promise;
      abort.abort(reason);
      await outcome;
    }
    await expect.poll(() => closed).toBe(true);
    expect(await counted('items')).toBe(0);
    const left = async (): Promise<unknown[]> =>
      (
        await plain.query(
          "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'",
        )
      ).rows;
    await expect.poll(left).toEqual([]);
  });

  it('ends immediately even when its lines ignore the abort', async () => {
    const abort = new AbortController();
    await using draft = await store.datasets.begin({ signal: abort.signal });
    const waiting = Promise.withResolvers<void>();
    const lines = linesThen(5, () => {
      waiting.resolve();
      return new Promise(() => undefined);
    });
    const outcome = expect(draft.section('s').writeLines(lines, LINES)).rejects.toThrow('stop');
    await waiting.promise;
    abort.abort(new Error('stop'));
    await outcome;
    expect(await counted('items')).toBe(0);
  });

  it('does not begin when it is aborted already', async () => {
    const signal = AbortSignal.abort(new Error('gone'));
    await expect(importItems(store.datasets, { s: items(5) }, {}, { signal })).rejects.toThrow('gone');
  });

  it('fails as unavailable when the server ends the connection, and continues with another', async () => {
    async function* rest(): AsyncGenerator<Uint8Array> {
      const copying =
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'COPY items%'";
      while ((await plain.query(copying)).rowCount === 0) await delay(10);
      for (let round = 0; round < 50; round++) yield* linesOf(items(500));
    }
    {
      await using draft = await store.datasets.begin();
      await expect(
        draft.section('s').writeLines(
          linesThen(500, () => rest()),
          LINES,
        ),
      ).rejects.toMatchObject({ code: 'unavailable' });
    }
    expect((await importItems(store.datasets, { s: items(1) })).itemCount).toBe(1);
    expect(await counted('items')).toBe(1);
  });

  it.each([
    ['name', { name: 'a\0b' }],
    ['description', { description: 'a\ud800' }],
    ['notes', { notes: '\0' }],
  ])('refuses a %s that PostgreSQL cannot hold', async (field, facts) => {
    await expect(importItems(store.datasets, { s: items(1) }, facts)).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining(field),
    });
    expect(await counted('items')).toBe(0);
  });

  it('lets short queries through while imports hold connections', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const begun = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
    const waiting = begun.map(async ({ resolve }) => {
      await using draft = await store.datasets.begin();
      await writeSections(draft, { s: items(1) });
      resolve();
      await released;
      await draft.commit({ dataset: metaOf() });
    });
    await Promise.all(begun.map(({ promise }) => promise));
    expect((await store.datasets.list({ limit: 1 })).totalItems).toBe(0);
    // A fourth one gets no permit in time.
    await expect(importItems(store.datasets, { s: items(1) })).rejects.toMatchObject({ code: 'unavailable' });
    release();
    await Promise.all(waiting);
    expect(await counted('datasets')).toBe(3);
  });
});

describe('list', () => {
  it('gives the newest first, page by page, and is stable while datasets are added', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    for (const name of names) await importItems(store.datasets, { s: items(1) }, { name });
    const first = await store.datasets.list({ limit: 2 });
    await importItems(store.datasets, {}, { name: 'newer' });
    const rest = await allPages((cursor) =>
      store.datasets.list({ limit: 2, cursor: cursor ?? first.nextCursor ?? '' }),
    );
    expect([...first.data, ...rest].map(({ name }) => name)).toEqual(['e', 'd', 'c', 'b', 'a']);
    expect(first.totalItems).toBe(5);
    expect(first.data[0]?.sections).toHaveLength(1);
  });

  it('gives the newest first however quickly they were made', async () => {
    const made: string[] = [];
    for (let index = 0; index < 200; index += 1) made.push((await importItems(store.datasets, {})).id);
    for (const order of ['-created', 'created'] as const) {
      const found = await allPages((cursor) =>
        store.datasets.list({ limit: 7, order, ...(cursor === undefined ? {} : { cursor }) }),
      );
      const ids = found.map(({ id }) => id).filter((id) => made.includes(id));
      expect(ids).toEqual(order === 'created' ? made : made.toReversed());
    }
  });

  it('passes over none of those that were made at the same time, and fills its pages', async () => {
    for (let round = 0; round < 9; round++) await importItems(store.datasets, {}, { description: null });
    // none of them has a text that would make a page too large
    expect((await store.datasets.list({ limit: 9 })).data).toHaveLength(9);
    await plain.query("UPDATE datasets SET created_at = '2026-01-01T00:00:00.123456Z'");
    const found = await allPages((cursor) =>
      store.datasets.list({ limit: 2, ...(cursor === undefined ? {} : { cursor }) }),
    );
    expect(new Set(found.map(({ id }) => id)).size).toBe(9);
  });

  it.each([
    ['name', { name: 'Alpha' }, ['Alpha']],
    ['a part in any case', { q: 'LPH' }, ['Alpha']],
    ['a part beyond ASCII in any case', { q: 'ÉTÉ' }, ['beta']],
    ['a part of the handle', { q: 'lpha-s' }, ['Alpha']],
    ['the wildcards themselves', { q: '100%_\\' }, ['gamma']],
    ['wildcards that match nothing else', { q: '%' }, ['gamma']],
    ['source', { source: 'hub' as const }, ['beta']],
    ['another hash', { versionHash: '0'.repeat(64) }, []],
    ['text that no column can hold', { name: '\0', q: '\ud800' }, []],
    ['other text that no column can hold', { q: '\0' }, []],
  ])('filters by %s', async (_, filter, expected) => {
    const { id } = await importItems(store.datasets, {}, { name: 'Alpha', description: 'first' });
    await store.datasets.update(id, { handle: 'alpha-set' });
    await importItems(store.datasets, {}, { name: 'beta', description: 'en été', source: 'hub' });
    await importItems(store.datasets, {}, { name: 'gamma', description: '100%_\\ sure' });
    const { data, totalItems } = await store.datasets.list({ limit: 10, ...filter });
    expect(data.map(({ name }) => name)).toEqual(expected);
    expect(totalItems).toBe(expected.length);
  });

  it('finds ASCII letters in any case where the locale pairs them otherwise', async () => {
    await importItems(store.datasets, {}, { name: 'INFO, 情報', description: null });
    const collate = (collation: string): Promise<unknown> =>
      plain.query(`ALTER TABLE datasets ALTER name TYPE text COLLATE "${collation}"`);
    await collate('tr-x-icu');
    try {
      for (const q of ['info', 'Info, 情'])
        expect((await store.datasets.list({ limit: 10, q })).totalItems).toBe(1);
    } finally {
      await collate('default');
    }
  });

  it('leaves a large schema of an upload out, which get() gives whole', async () => {
    const schema = `{"package":{"manifest":{"x":"${'y'.repeat(70_000)}"},"meta":null},"source":"pkg_zip"}`;
    const saved = await importItems(store.datasets, {}, { schema });
    const { data } = await store.datasets.list({ limit: 1 });
    expect(data[0]?.schema).toBe('{"source":"pkg_zip","package":null,"truncated":true}');
    expect((await store.datasets.get(saved.id)).schema).toBe(schema);
  });

  it.each([
    'x',
    '',
    Buffer.from('["datasets",1]').toString('base64url'),
    Buffer.from('["items",0,0]').toString('base64url'),
    Buffer.from('["datasets",1e300,"00000000-0000-0000-0000-000000000000"]').toString('base64url'),
    Buffer.from('["datasets",1,"no uuid"]').toString('base64url'),
  ])('refuses the cursor %j', async (cursor) => {
    await expect(store.datasets.list({ limit: 1, cursor })).rejects.toMatchObject({ code: 'invalid_cursor' });
  });
});

describe('one dataset', () => {
  it.each(['get', 'delete'] as const)('%s names a dataset that is not there', async (method) => {
    for (const id of [randomUUID(), 'no-uuid', '', 'x'.repeat(500)]) {
      await expect(store.datasets[method](id)).rejects.toMatchObject({ code: 'dataset_not_found' });
    }
  });

  it('is changed in part', async () => {
    const saved = await importItems(store.datasets, {}, { name: 'old', description: 'd', notes: 'n' });
    await delay(20);
    const changed = await store.datasets.update(saved.id, { name: 'new', description: null });
    expect(changed).toMatchObject({
      name: 'new',
      description: null,
      notes: 'n',
      versionHash: saved.versionHash,
    });
    expect(changed.updatedAt.getTime()).toBeGreaterThan(saved.updatedAt.getTime());
    await expect(store.datasets.update(saved.id, { notes: '\0' })).rejects.toMatchObject({
      code: 'invalid_request',
    });
    await expect(store.datasets.update(randomUUID(), {})).rejects.toMatchObject({
      code: 'dataset_not_found',
    });
  });

  it('is deleted with everything that belongs to it, and with nothing else', async () => {
    const gone = await importItems(store.datasets, { s: items(20), t: items(3) });
    const kept = await importItems(store.datasets, { s: items(2) });
    const config = '{}';
    await store.runs.create({
      id: randomUUID(),
      datasetId: gone.id,
      name: null,
      config,
      repetitions: 1,
      requestId: null,
    });
    await store.datasets.delete(gone.id);
    expect(await store.datasets.collect()).toBe(23);
    await expect(store.datasets.get(gone.id)).rejects.toMatchObject({ code: 'dataset_not_found' });
    expect([await counted('items'), await counted('sections'), await counted('runs')]).toEqual([2, 1, 0]);
    expect((await store.datasets.get(kept.id)).itemCount).toBe(2);
  });

  it('lists its sections in order, with the facts of their files', async () => {
    const names = Array.from({ length: 7 }, (_, index) => `s${index}`);
    const withAsset = '{"assets":{"a":{"data":"aGk=","encoding":"base64","mime_type":"text/plain"}}}';
    const saved = await importItems(
      store.datasets,
      Object.fromEntries(names.map((name, index) => [name, index === 3 ? [withAsset] : items(index)])),
    );
    const found = await allPages((cursor) =>
      store.datasets.listSections(saved.id, { limit: 3, ...(cursor === undefined ? {} : { cursor }) }),
    );
    expect(found.map(({ name }) => name)).toEqual(names);
    expect(found.map(({ exportFile }) => exportFile?.bytes ?? null)).toEqual([
      0,
      42,
      84,
      null,
      168,
      210,
      252,
    ]);
    expect(hex(found[0]!.exportFile!.sha256)).toBe(
      'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    );
    expect(found[1]?.sectionHash).toHaveLength(32);
    await expect(store.datasets.listSections(randomUUID(), { limit: 1 })).rejects.toMatchObject({
      code: 'dataset_not_found',
    });
  });

  it('names only the first 100 sections in its summary', async () => {
    const many = Object.fromEntries(Array.from({ length: 130 }, (_, index) => [`s${index}`, ['{}']]));
    const saved = await importItems(store.datasets, many);
    const read = await store.datasets.get(saved.id);
    expect([saved.sections.length, read.sections.length, read.sectionCount]).toEqual([100, 100, 130]);
    expect((await collect(streamItems(store.datasets, saved.id))).map(({ section }) => section)).toEqual(
      Object.keys(many),
    );
  });
});

describe('listItems', () => {
  it('goes through all sections in order, page by page', async () => {
    const saved = await importItems(store.datasets, { a: items(5, 'a'), empty: [], b: items(4, 'b') });
    const found = await allPages((cursor) =>
      store.datasets.listItems(saved.id, { limit: 3, ...(cursor === undefined ? {} : { cursor }) }),
    );
    expect(found.map(({ section, orderIndex }) => `${section}${orderIndex}`)).toEqual([
      'a0',
      'a1',
      'a2',
      'a3',
      'a4',
      'b0',
      'b1',
      'b2',
      'b3',
    ]);
    expect((await store.datasets.listItems(saved.id, { limit: 3 })).totalItems).toBe(9);
    expect((await store.datasets.listItems(saved.id, { limit: 9 })).nextCursor).toBeNull();
  });

  it.each([
    ['section', { section: 'b' }, 2],
    ['type', { type: 'numeric' }, 1],
    ['a type with a NUL', { type: 'x\0y' }, 1],
    ['text in any case', { q: 'PARIS' }, 2],
    ['text beyond ASCII', { q: 'ÇA VA' }, 1],
    ['text that JSON escapes', { q: 'say "hi"' }, 1],
    ['wildcards as text', { q: '50%' }, 1],
    ['an answer', { q: 'forty-two' }, 1],
    ['several together', { section: 'a', q: 'paris' }, 1],
  ])('filters by %s', async (_, filter, expected) => {
    const saved = await importItems(store.datasets, {
      a: ['{"inputs":{"prompt":"Paris?"},"type":"numeric"}', '{"inputs":{"prompt":"say \\"hi\\" 50%"}}'],
      b: ['{"answer":"forty-two","inputs":{"prompt":"ça va à paris"}}', '{"type":"x\\u0000y"}'],
    });
    const { data, totalItems, nextCursor } = await store.datasets.listItems(saved.id, {
      limit: 10,
      ...filter,
    });
    expect([data.length, totalItems, nextCursor]).toEqual([expected, expected, null]);
  });

  it.each([
    [{ section: 'c' }, 'section_not_found'],
    [{ type: 'freefrom' }, 'type_not_found'],
  ])('refuses a filter that names nothing: %j', async (filter, code) => {
    const saved = await importItems(store.datasets, { a: items(2, 'a') });
    await expect(store.datasets.listItems(saved.id, { limit: 10, ...filter })).rejects.toMatchObject({
      code,
    });
  });

  it('continues behind a page of filtered items', async () => {
    const saved = await importItems(store.datasets, { a: items(30, 'a'), b: items(30, 'b') });
    const found = await allPages((cursor) =>
      store.datasets.listItems(saved.id, { limit: 4, q: 'P 1', ...(cursor === undefined ? {} : { cursor }) }),
    );
    expect(found).toHaveLength(22);
  });

  it('begins at any place, with filters and without', async () => {
    const saved = await importItems(store.datasets, {
      a: items(5, 'a'),
      empty: [],
      b: items(4, 'b'),
      c: items(3, 'c'),
    });
    const list = (request: Partial<ItemsRequest>): Promise<ItemsPage> =>
      store.datasets.listItems(saved.id, { limit: 100, ...request });
    const placesOf = ({ data }: ItemsPage): string[] =>
      data.map(({ section, orderIndex }) => section + orderIndex);
    const queries: Partial<ItemsRequest>[] = [
      {},
      { section: 'b' },
      { from: [0, 3] },
      { q: 'P 1' },
      { q: 'P', from: [2, 1] },
    ];
    for (const query of queries) {
      const whole = await list(query);
      for (let offset = 0; offset < 14; offset += 1) {
        const found = await list({ ...query, offset, limit: 2 });
        expect([query, offset, placesOf(found)]).toEqual([
          query,
          offset,
          placesOf(whole).slice(offset, offset + 2),
        ]);
        expect(found.totalItems).toBe(whole.totalItems);
        // what follows is not left out again
        if (found.nextCursor === null) continue;
        const next = await list({ ...query, offset, cursor: found.nextCursor });
        expect(placesOf(next)).toEqual(placesOf(whole).slice(offset + 2));
      }
    }
    expect((await list({ offset: 2_147_483_647 })).data).toEqual([]);
  });

  it('ends a page early when its items are large, and misses none', async () => {
    const noise = (): string =>
      Buffer.from(crypto.getRandomValues(new Uint8Array(60_000))).toString('base64');
    const large = (): string => `{"inputs":{"prompt":"${Array.from({ length: 40 }, noise).join('')}"}}`;
    const saved = await importItems(store.datasets, { s: Array.from({ length: 8 }, large) });
    const first = await store.datasets.listItems(saved.id, { limit: 100 });
    expect(first.data.length).toBeGreaterThan(0);
    expect(first.data.length).toBeLessThan(8);
    const found = await allPages((cursor) =>
      store.datasets.listItems(saved.id, { limit: 100, ...(cursor === undefined ? {} : { cursor }) }),
    );
    expect(found.map(({ orderIndex }) => orderIndex)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it('names a dataset that is not there, and a cursor of another list', async () => {
    await expect(store.datasets.listItems(randomUUID(), { limit: 1 })).rejects.toMatchObject({
      code: 'dataset_not_found',
    });
    await expect(
      store.datasets.listItems(randomUUID(), {
        limit: 1,
        cursor: Buffer.from('["items",-5,0]').toString('base64url'),
      }),
    ).rejects.toMatchObject({ code: 'invalid_cursor' });
  });
});

describe('the items of an open dataset', () => {
  const idle = async (): Promise<number> => {
    const { rows } = await plain.query<{ count: string }>(
      "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid() AND state <> 'idle'",
    );
    return Number(rows[0]?.count);
  };

  it('gives every item in order, more than one batch of them', async () => {
    const saved = await importItems(store.datasets, { a: items(3_000, 'a'), b: items(2_000, 'b') });
    const found = await collect(streamItems(store.datasets, saved.id));
    expect(found.map((item) => joinItem(item))).toEqual([...items(3_000, 'a'), ...items(2_000, 'b')]);
    expect((await collect(streamItems(store.datasets, saved.id, 'b'))).length).toBe(2_000);
    expect(await collect(streamItems(store.datasets, saved.id, 'c'))).toEqual([]);
  });

  it('says before the first item that the dataset is not there', async () => {
    await expect(store.datasets.open(randomUUID())).rejects.toMatchObject({
      code: 'dataset_not_found',
    });
  });

  it('reads a snapshot: a concurrent deletion removes nothing', async () => {
    const saved = await importItems(store.datasets, { a: items(2_000), b: items(2_000) });
    const stream = streamItems(store.datasets, saved.id);
    let count = 0;
    for await (const batch of stream) {
      if (count === 0) await store.datasets.delete(saved.id);
      count += batch.length;
    }
    expect(count).toBe(4_000);
  });

  it.each(['stops', 'throws'])('gives its connection back when the reader %s', async (how) => {
    const saved = await importItems(store.datasets, { a: items(20_000) });
    for (let round = 0; round < 8; round++) {
      const reading = (async () => {
        for await (const _ of streamItems(store.datasets, saved.id)) {
          if (how === 'stops') return;
          throw new Error('reader');
        }
      })();
      await (how === 'stops' ? reading : expect(reading).rejects.toThrow('reader'));
    }
    await expect.poll(idle).toBe(0);
    expect((await store.datasets.get(saved.id)).itemCount).toBe(20_000);
  });

  it.each(['while it is read', 'before it is read'])(
    'gives its connection back when it is aborted %s',
    async (when) => {
      const saved = await importItems(store.datasets, { a: items(20_000) });
      for (let round = 0; round < 8; round++) {
        const abort = new AbortController();
        await using open = await store.datasets.open(saved.id, { signal: abort.signal });
        const iterator = open.items();
        if (when === 'while it is read') await iterator.next();
        abort.abort(new Error('gone'));
        await expect(
          (async () => {
            while ((await iterator.next()).done !== true);
          })(),
        ).rejects.toThrow('gone');
      }
      await expect.poll(idle).toBe(0);
    },
  );

  it('returns its connection when no reader starts', async () => {
    const saved = await importItems(store.datasets, { a: items(10) });
    for (let round = 0; round < 8; round++) {
      await using open = await store.datasets.open(saved.id);
      await open.items().return();
    }
    await expect.poll(idle).toBe(0);
  });

  it('fails when the server ends the connection, instead of ending short', async () => {
    const saved = await importItems(store.datasets, { a: items(50_000) });
    const reading = (async () => {
      let first = true;
      for await (const _ of streamItems(store.datasets, saved.id)) {
        if (first) {
          first = false;
          await plain.query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'COPY (%'",
          );
        }
      }
    })();
    await expect(reading).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('open', () => {
  it('reads dataset, sections, items twice, a run and its results', async () => {
    const saved = await importItems(store.datasets, { a: items(3), b: items(2) });
    const run = await store.runs.create({
      id: randomUUID(),
      datasetId: saved.id,
      name: null,
      config: '{}',
      repetitions: 1,
      requestId: null,
    });
    await using open = await store.datasets.open(saved.id);
    expect(open.dataset).toEqual(saved);
    expect(open.sections.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(await collect(open.items())).toHaveLength(5);
    expect(await collect(open.items(open.sections.slice(1)))).toHaveLength(2);
    expect(await open.run(run.id)).toEqual({ ...run, config: {}, labelsState: '0:0' });
    expect(await collect(open.results(run.id))).toEqual([]);
    await expect(open.run(randomUUID())).rejects.toMatchObject({ code: 'run_not_found' });
  });
});

describe('diff', () => {
  const prompt = (text: string): string => `{"inputs":{"prompt":"${text}"}}`;

  it.each([
    ['equal datasets', { s: ['a', 'b'] }, { s: ['a', 'b'] }, [], 2],
    ['an item more', { s: ['a'] }, { s: ['a', 'b'] }, ['added b s1'], 1],
    ['an item less', { s: ['a', 'b'] }, { s: ['a'] }, ['removed b s1'], 1],
    ['a swap', { s: ['a', 'b'] }, { s: ['b', 'a'] }, ['reordered s'], 2],
    ['an item before others', { s: ['a', 'b', 'c'] }, { s: ['c', 'a', 'b'] }, ['reordered s'], 3],
    [
      'an item that passes an unmoved one',
      { s: ['a', 'b', 'c'] },
      { s: ['c', 'b', 'a'] },
      ['reordered s'],
      3,
    ],
    [
      'an item that passes a new one',
      { s: ['a', 'b', 'c'] },
      { s: ['d', 'b', 'a'] },
      ['added d s0', 'removed c s2', 'reordered s'],
      2,
    ],
    ['an item less before others', { s: ['a', 'b', 'c'] }, { s: ['b', 'c'] }, ['removed a s0'], 2],
    ['another section', { s: ['a'] }, { t: ['a'] }, ['added a t0', 'removed a s0'], 0],
    ['duplicates', { s: ['a', 'a', 'b'] }, { s: ['b', 'a'] }, ['removed a s0', 'reordered s'], 2],
    ['nothing in common', { s: ['a'] }, { s: ['b'] }, ['added b s0', 'removed a s0'], 0],
    ['nothing at all', {}, {}, [], 0],
  ] as const)('tells %s', async (_, first, second, expected, unchanged) => {
    const texts = (sections: Readonly<Record<string, readonly string[]>>): Record<string, string[]> =>
      Object.fromEntries(Object.entries(sections).map(([name, list]) => [name, list.map(prompt)]));
    const a = await importItems(store.datasets, texts(first));
    const b = await importItems(store.datasets, texts(second));
    const named = new Map<string, string>();
    for (const saved of [a, b]) {
      for (const item of await collect(streamItems(store.datasets, saved.id))) {
        named.set(hex(item.itemHash), JSON.parse(item.payload).inputs.prompt);
      }
    }
    const location = (at: { section: string; orderIndex: number } | null): string =>
      at === null ? '' : ` ${at.section}${at.orderIndex}`;
    for (const limit of [1, 100]) {
      const found: string[] = [];
      let reordered: readonly string[] = [];
      let cursor: string | undefined;
      do {
        const page = await store.datasets.diff(a, b, {
          limit,
          ...(cursor === undefined ? {} : { cursor }),
        });
        found.push(
          ...page.data.map((entry) => {
            if (entry.change === 'changed') throw new Error('an item is changed');
            return `${entry.change} ${named.get(hex(entry.itemHash))}${location(entry.from)}${location(entry.to)}`;
          }),
        );
        cursor = page.nextCursor ?? undefined;
        const { counts } = page;
        reordered = page.sections.flatMap(({ name, isOrderChanged }) =>
          isOrderChanged ? [`reordered ${name}`] : [],
        );
        expect(counts.unchanged).toBe(unchanged);
        expect(counts.added + counts.removed).toBe(page.totalItems);
      } while (cursor !== undefined);
      expect([...found, ...reordered]).toEqual(expected);
    }
  });

  it('shows one kind of change', async () => {
    const a = await importItems(store.datasets, { s: ['x', 'y'].map(prompt) });
    const b = await importItems(store.datasets, { s: ['y', 'z'].map(prompt), t: ['x'].map(prompt) });
    const { data, counts, totalItems } = await store.datasets.diff(a, b, {
      limit: 10,
      only: 'added',
    });
    expect(data.map(({ change }) => change)).toEqual(['added', 'added']);
    expect([counts, totalItems]).toEqual([{ added: 2, removed: 1, changed: 0, unchanged: 1 }, 2]);
  });

  it('names the dataset that is not there', async () => {
    const a = await importItems(store.datasets, {});
    const missing = randomUUID();
    await expect(store.datasets.diff(a, { id: missing }, { limit: 1 })).rejects.toMatchObject({
      code: 'dataset_not_found',
      message: expect.stringContaining(missing),
    });
  });
});

describe('an unavailable database', () => {
  it('makes every method fail as unavailable, and ready() say no', async () => {
    const away = createStore({ url: 'postgresql://user:x@127.0.0.1:1/none' });
    const id = randomUUID();
    for (const attempt of [
      () => away.datasets.list({ limit: 1 }),
      () => away.datasets.get(id),
      () => away.datasets.update(id, { name: 'x' }),
      () => away.datasets.delete(id),
      () => away.datasets.listSections(id, { limit: 1 }),
      () => away.datasets.listItems(id, { limit: 1 }),
      () => away.datasets.open(id),
      () => away.datasets.diff({ id }, { id }, { limit: 1 }),
      () => importItems(away.datasets, { s: items(1) }),
      () => away.runs.get(id),
      () => away.runs.list({ limit: 1 }),
      () => away.runs.take({ id, attempt: 1 }),
      () => away.jobs.get(id),
      () => away.settings.get(),
      () => away.settings.update({ cancellationCheckIntervalMs: 1_000 }),
      () => away.idempotency.begin({ key: 'k', requestHash: new Uint8Array(32) }),
      () => away.cancellationsAmong([id]),
    ]) {
      await expect(attempt()).rejects.toMatchObject({ code: 'unavailable' });
    }
    const unreachable = {
      ok: false,
      reason: 'unreachable',
      detail: expect.stringContaining('cannot be reached'),
    };
    expect(await away.ready()).toEqual({ database: unreachable, queue: unreachable });
    expect(await store.ready()).toEqual({ database: { ok: true }, queue: { ok: true } });
    await away.close();
  });
});
