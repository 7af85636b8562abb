import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { IS_LONG } from '../../../../../tools/vitest/long.ts';
import { claimTask } from '../../../test/store/claim-task.ts';
import { importItems } from '../../../test/store/import-items.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/store/template-db.ts';
import { createStore, type Store } from '../create-store.ts';
import { createPool } from '../postgres/pool.ts';
import { encodeCursor } from './page.ts';

const MIB = 1024 * 1024;

let database: TestDatabase;
let store: Store;
let plain: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  store = createStore({ url: database.url, poolSize: 8, maxItemBytes: 4 * MIB, searchWaitMs: 300 });
  plain = new pg.Client({ connectionString: database.url });
  await plain.connect();
});
afterAll(async () => {
  await plain.end();
  await store.close();
  await database.drop();
});

/** A dataset of `count` items, whose item `at` holds `bytes` of text that the service would not take. */
async function plant(count: number, at: number, bytes: number): Promise<string> {
  const items = Array.from({ length: count }, (_, index) => `{"id":${index},"inputs":{"prompt":"p"}}`);
  const { id } = await importItems(store.datasets, { s: items });
  await plain.query(
    `UPDATE items SET byte_length = byte_length + ${bytes} + 8, assets = ('{"a":"' || repeat('x', ${bytes}) || '"}')::json
     FROM parts p WHERE p.id = items.part_id AND p.dataset_id = $1 AND items.ordinal = $2`,
    [id, at],
  );
  // as for every section whose items embed files
  await plain.query('UPDATE sections SET file_bytes = NULL, file_sha256 = NULL WHERE dataset_id = $1', [id]);
  return id;
}

/** `count` items of `mib` each, which the database compresses well. */
async function large(count: number, mib: number): Promise<string> {
  const { id } = await importItems(store.datasets, {
    s: Array.from({ length: count }, (_, index) => `{"id":${index},"inputs":{"prompt":"p"}}`),
  });
  await plain.query(
    `UPDATE items SET byte_length = $2 + 30, payload = ('{"id":' || items.ordinal::text || ',"inputs":{"prompt":"' || repeat('y', $2) || '"}}')::json
     FROM parts p WHERE p.id = items.part_id AND p.dataset_id = $1`,
    [id, mib * MIB],
  );
  return id;
}

describe('an item that is larger than an item may be', () => {
  let id: string;
  beforeAll(async () => {
    id = await plant(5, 2, 6 * MIB);
  });

  it('is listed without its content, the others with theirs', async () => {
    const page = await store.datasets.listItems(id, { limit: 10 });
    expect(page.data.map(({ orderIndex, payload }) => [orderIndex, payload === null])).toEqual([
      [0, false],
      [1, false],
      [2, true],
      [3, false],
      [4, false],
    ]);
    expect(page.nextCursor).toBeNull();
    page.release();
  });

  it('fails an export before its first byte, and names the item', async () => {
    await expect(store.datasets.open(id)).rejects.toMatchObject({
      code: 'item_too_large',
      message: expect.stringContaining('Item 2 of section "s"'),
    });
  });

  it('ends an export that could not know of it', async () => {
    const planted = await plant(5, 3, 6 * MIB);
    await plain.query(`UPDATE sections SET file_bytes = 9, file_sha256 = '' WHERE dataset_id = $1`, [
      planted,
    ]);
    await using open = await store.datasets.open(planted);
    await expect(Array.fromAsync(open.items())).rejects.toMatchObject({ code: 'item_too_large' });
  });

  it('comes to a run without its content', async () => {
    const run = await store.runs.create({
      id: randomUUID(),
      datasetId: id,
      name: null,
      config: '{}',
      repetitions: 1,
      requestId: null,
    });
    const taken = await store.runs.take(await claimTask(plain, 'runs', run.id));
    const found = await Array.fromAsync(taken?.session.items(new AbortController().signal) ?? []);
    expect(found.map(({ orderIndex, failure }) => [orderIndex, failure?.code === 'item_too_large'])).toEqual([
      [0, false],
      [1, false],
      [2, true],
      [3, false],
      [4, false],
    ]);
  });

  it('is not searched, but compared and deleted', async () => {
    const found = await store.datasets.listItems(id, { limit: 10, q: 'PROMPT' });
    expect(found.totalItems).toBe(4);
    found.release();
    const other = await importItems(store.datasets, { s: ['{"id":9}'] });
    expect((await store.datasets.diff({ id }, other, { limit: 10 })).counts.removed).toBe(5);
    await store.datasets.delete(id);
    await expect(store.datasets.get(id)).rejects.toMatchObject({ code: 'dataset_not_found' });
  });
});

it('ends a page by the bytes that it sends, not by those that are stored', async () => {
  const id = await large(12, 3);
  const sizes: number[] = [];
  const seen: number[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await store.datasets.listItems(id, { limit: 100, cursor });
    sizes.push(page.data.reduce((sum, { payload }) => sum + (payload?.length ?? 0), 0));
    seen.push(...page.data.map(({ orderIndex }) => orderIndex));
    page.release();
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  expect(seen).toEqual(Array.from({ length: 12 }, (_, index) => index));
  expect(Math.max(...sizes)).toBeLessThan(8 * MIB);
  expect(sizes.length).toBe(6);
});

it('a result that is larger is listed without its texts, and fails an export', async () => {
  const { id } = await importItems(store.datasets, { s: ['{"id":1}', '{"id":2}'] });
  const run = await store.runs.create({
    id: randomUUID(),
    datasetId: id,
    name: null,
    config: '{}',
    repetitions: 1,
    requestId: null,
  });
  await plain.query(
    `INSERT INTO run_results (run_id, section_order_index, order_index, repetition, section, status, output)
     SELECT $1, 0, item, 1, 's', 'ok', '"' || repeat('z', item * $2 + 1) || '"' FROM generate_series(0, 1) AS item`,
    [run.id, 6 * MIB],
  );
  await plain.query('UPDATE runs SET ok = 2 WHERE id = $1', [run.id]);
  const page = await store.runs.listResults(run.id, { limit: 10 });
  expect(page.data.map(({ output, isTooLarge }) => [output, isTooLarge])).toEqual([
    ['"z"', false],
    [null, true],
  ]);
  page.release();
  await using open = await store.datasets.open(id);
  await expect(Array.fromAsync(open.results(run.id))).rejects.toMatchObject({ code: 'item_too_large' });
});

it.runIf(IS_LONG)(
  'an answer that no string can hold fails its query, and the process continues',
  async () => {
    const pool = createPool({ url: database.url, size: 1 });
    try {
      await expect(pool.query("SELECT repeat('x', 600000000)")).rejects.toMatchObject({
        code: 'ERR_STRING_TOO_LONG',
      });
      expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    } finally {
      await pool.end();
    }
  },
);

describe('a search', () => {
  it('shares a part of the pool with the others, and is refused when there is no room', async () => {
    const id = await large(8, 3);
    // locks its rows out: those that have a connection keep it until others are refused
    await plain.query('BEGIN');
    await plain.query('LOCK TABLE items IN ACCESS EXCLUSIVE MODE');
    const searches = Array.from({ length: 40 }, () => store.datasets.listItems(id, { limit: 1, q: 'zzzz' }));
    await Promise.any(
      searches.map((search) =>
        search.then(
          () => Promise.reject(),
          () => 'refused',
        ),
      ),
    ).finally(() => plain.query('ROLLBACK'));
    const outcomes = await Promise.allSettled(searches);
    const refused = outcomes.filter(({ status }) => status === 'rejected');
    for (const { reason } of refused as PromiseRejectedResult[]) {
      expect(reason).toMatchObject({ code: 'unavailable', message: expect.stringContaining('searches') });
    }
    expect(refused.length).toBeLessThan(40);
  });

  it('ends in the server when its caller leaves', async () => {
    const id = await large(8, 3);
    // locks its rows out: the search waits for as long as the test likes
    await plain.query('BEGIN');
    await plain.query('LOCK TABLE items IN ACCESS EXCLUSIVE MODE');
    try {
      const abort = new AbortController();
      const searching = store.datasets.listItems(id, { limit: 1, q: 'zzzz', signal: abort.signal });
      const waiting = async (): Promise<number> => {
        const { rows } = await plain.query(
          `SELECT count(*)::int AS n FROM pg_stat_activity
           WHERE datname = current_database() AND backend_type = 'client backend' AND wait_event_type = 'Lock'`,
        );
        return rows[0].n;
      };
      await expect.poll(waiting).toBe(1);
      abort.abort(new Error('gone'));
      await expect(searching).rejects.toThrow('gone');
      await expect.poll(waiting).toBe(0);
    } finally {
      await plain.query('ROLLBACK');
    }
  });

  it('ends when it takes longer than a read may', async () => {
    await using hasty = createStore({ url: database.url, poolSize: 2, statementTimeoutMs: 50 });
    const { id } = await importItems(store.datasets, { s: ['{"id":1}'] });
    await plain.query('BEGIN');
    await plain.query('LOCK TABLE items IN ACCESS EXCLUSIVE MODE');
    try {
      await expect(hasty.datasets.listItems(id, { limit: 1 })).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringContaining('took too long'),
      });
    } finally {
      await plain.query('ROLLBACK');
    }
  });
});

describe('a forged cursor', () => {
  const value = fc.oneof(
    fc.integer(),
    fc.maxSafeInteger(),
    fc.double(),
    fc.uuid(),
    fc.string(),
    fc.constantFrom(-8_640_000_000_000_000, 8_640_000_000_000_000, -0, 1e300, null, true, 0x7fff_ffff),
  );
  const list = fc.constantFrom('datasets', 'runs', 'items', 'results order', 'sections', 'diff', 'x');

  it('of one dataset or run is invalid_cursor for another', async () => {
    const owners = await Promise.all(
      [1, 2].map(async () => {
        const items = ['{"id":1}', '{"id":2}'];
        const { id } = await importItems(store.datasets, { s: items, t: items });
        return id;
      }),
    );
    const lists = [
      (id: string, cursor?: string) => store.datasets.listItems(id, { limit: 1, cursor }),
      (id: string, cursor?: string) => store.datasets.listSections(id, { limit: 1, cursor }),
    ];
    for (const list of lists) {
      const { nextCursor } = await list(owners[0] as string);
      expect(nextCursor).not.toBeNull();
      await list(owners[0] as string, nextCursor as string);
      await expect(list(owners[1] as string, nextCursor as string)).rejects.toMatchObject({
        code: 'invalid_cursor',
      });
    }
  });

  it('is invalid_cursor or a page, and may name a version that is gone, on every list', async () => {
    const { id } = await importItems(store.datasets, { s: ['{"id":1}'] });
    const run = await store.runs.create({
      id: randomUUID(),
      datasetId: id,
      name: null,
      config: '{}',
      repetitions: 1,
      requestId: null,
    });
    const ownersOf = new Map([
      ['items', [id]],
      ['sections', [id]],
      ['diff', [id, id]],
      ['results', [run.id]],
    ]);
    await fc.assert(
      fc.asyncProperty(list, fc.array(value, { maxLength: 4 }), async (name, position) => {
        const [kind = '', ...order] = name.split(' ');
        const owners = ownersOf.get(kind) ?? [];
        const cursor = encodeCursor([kind, ...owners, ...order].join(' '), position as number[]);
        for (const ask of [
          () => store.datasets.list({ limit: 1, cursor }),
          () => store.datasets.listItems(id, { limit: 1, cursor }),
          () => store.datasets.listSections(id, { limit: 1, cursor }),
          () => store.datasets.diff({ id }, { id }, { limit: 1, cursor }),
          () => store.runs.list({ limit: 1, cursor }),
          () => store.runs.listResults(run.id, { limit: 1, cursor }),
        ]) {
          const code = await ask().then(
            () => 'page',
            (error) => error.code,
          );
          expect(['page', 'invalid_cursor', 'version_not_found']).toContain(code);
        }
      }),
      { numRuns: 60 },
    );
    for (const time of [
      -8_640_000_000_000_000, -210_866_803_200_001, 8_640_000_000_000_000, 253_402_300_800_000,
    ]) {
      for (const [name, lists] of [
        ['datasets', store.datasets],
        ['runs', store.runs],
      ] as const) {
        const cursor = Buffer.from(JSON.stringify([name, time, randomUUID()])).toString('base64url');
        await expect(lists.list({ limit: 1, cursor })).rejects.toMatchObject({ code: 'invalid_cursor' });
      }
    }
  });
});
