import { randomUUID } from 'node:crypto';
import { splitLines } from '@svc/jsonl-v23/internal';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { importItems, LINES, linesOf, metaOf, type Sections } from '../../../test/import-items.ts';
import { queryDatabase } from '../../../test/query-database.ts';
import { throughLine } from '../../../test/server-address.ts';
import { startTcpProxy, type TcpProxy } from '../../../test/tcp-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/template-db.ts';
import { createStore, type Store } from '../../create-store.ts';
import type { DatasetDraft } from '../../datasets/dataset-draft.ts';

let database: TestDatabase;
let line: TcpProxy;
/** One that copies over several connections, and one that does not. */
let store: Store;
let single: Store;
beforeAll(async () => {
  database = await createTestDatabase();
  line = await startTcpProxy(database.url);
  store = createStore({ url: throughLine(database.url, line), poolSize: 8, importStreams: 4 });
  single = createStore({ url: database.url, poolSize: 4 });
});
beforeEach(() => {
  line.target = database.url;
});
afterAll(async () => {
  await store.close();
  await single.close();
  await line[Symbol.asyncDispose]();
  await database.drop();
});

const query = (sql: string): Promise<unknown[]> => queryDatabase(database.url, sql);

/** Two sections of more rows than one connection copies alone, one that is short, and embedded files in several items. */
const LARGE: Sections = {
  large: texts(1_000, 'a'),
  short: ['{"id":1}'],
  other: texts(950, 'b'),
};
const LAST = texts(200, 'c');

function texts(count: number, prefix: string): string[] {
  return Array.from({ length: count }, (_, id) => {
    const inputs = { prompt: `${prefix}${id} ${String.fromCodePoint(97 + (id % 26)).repeat(10_000)}` };
    if (id % 5 !== 0) return JSON.stringify({ id, inputs });
    const data = Buffer.from(`file ${id % 50} ${'y'.repeat(id * 4)}`).toString('base64');
    return JSON.stringify({
      assets: { f: { data, encoding: 'base64', mime_type: 'text/plain' } },
      id,
      inputs,
    });
  });
}

/** Everything that a dataset is, but for its ids and times. */
async function contentOf(id: string): Promise<unknown> {
  const [rows] = await query(`
    SELECT d.version_hash, d.item_count, d.asset_count,
      (SELECT json_agg(json_build_array(s.name, s.item_count, encode(section_hash, 'hex'), file_bytes, encode(file_sha256, 'hex'))
        ORDER BY s.order_index) FROM sections s WHERE s.dataset_id = d.id) AS sections,
      (SELECT encode(sha256(string_agg(convert_to(concat_ws('|', i.order_index, encode(i.item_hash, 'hex'), i.type, i.payload,
        i.checker, i.assets, i.linked_files, i.linked_bytes), 'UTF8'), '' ORDER BY s.order_index, i.order_index)), 'hex')
        FROM sections s JOIN items i ON i.section_id = s.id WHERE s.dataset_id = d.id) AS items,
      (SELECT json_agg(json_build_array(encode(sha256, 'hex'), mime_type) ORDER BY sha256) FROM dataset_assets
        WHERE dataset_id = d.id) AS assets
    FROM datasets d WHERE d.id = '${id}'`);
  return rows;
}

/** The transactions that wrote the items of a dataset. */
const writersOf = async (id: string): Promise<number> => {
  const [row] = await query(
    `SELECT count(DISTINCT i.xmin::text)::int AS writers FROM items i JOIN sections s ON s.id = i.section_id WHERE s.dataset_id = '${id}'`,
  );
  return (row as { writers: number }).writers;
};

/** Rows that a failed import may leave. */
const leftovers = async (): Promise<unknown> => {
  const [row] =
    await query(`SELECT (SELECT count(*)::int FROM items WHERE section_id NOT IN (SELECT id FROM sections)) AS items,
    (SELECT count(*)::int FROM loose_sections) AS noted`);
  return row;
};
const NOTHING = { items: 0, noted: 0 };

const terminate = (where: string): Promise<unknown> =>
  query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND ${where}`,
  );

/** Statements that wait for a lock. */
const waiting = (): Promise<unknown[]> =>
  query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'
      AND wait_event_type = 'Lock'`,
  );

/** Waits until the server has ended what a client has lost: until then, its rows are those of a living import. */
const ended = (): Promise<void> =>
  expect
    .poll(() =>
      query(`SELECT FROM pg_stat_activity WHERE datname = current_database()
        AND application_name IN ('svc-store', 'svc-streams') AND state <> 'idle'`),
    )
    .toEqual([]);

/** Imports more rows than one connection copies alone, and does something before the last of them. */
async function importDisturbed(
  disturb: () => Promise<unknown>,
  signal?: AbortSignal,
  after?: (draft: DatasetDraft) => Promise<unknown>,
): Promise<string> {
  await using draft = await store.datasets.begin({ signal });
  async function* bytes(): AsyncGenerator<Uint8Array> {
    yield* linesOf(LARGE['large'] as string[]);
    await disturb();
    yield* linesOf(LAST);
  }
  await draft.section('s').writeLines(splitLines(bytes()), LINES);
  const { id } = await draft.insert(metaOf());
  await after?.(draft);
  await draft.commit();
  return id;
}
const nothing = async (): Promise<void> => undefined;
const remove = async (...ids: readonly string[]): Promise<void> => {
  for (const id of ids) await single.datasets.delete(id);
  await single.datasets.collect();
};

describe('a large import over several connections', () => {
  it('stores exactly what one connection stores', async () => {
    const [many, one] = await Promise.all([
      importItems(store.datasets, LARGE),
      importItems(single.datasets, LARGE),
    ]);
    expect(await contentOf(many.id)).toEqual(await contentOf(one.id));
    expect(await writersOf(one.id)).toBe(1);
    expect(await writersOf(many.id)).toBeGreaterThan(2);
    expect(await leftovers()).toEqual(NOTHING);
    await remove(many.id, one.id);
  });

  it('leaves them to one of two, and both are complete', async () => {
    const ids = await Promise.all([importDisturbed(nothing), importDisturbed(nothing)]);
    const writers = await Promise.all(ids.map(writersOf));
    expect(Math.min(...writers)).toBe(1);
    expect(Math.max(...writers)).toBeGreaterThan(1);
    expect(await contentOf(ids[0] as string)).toEqual(await contentOf(ids[1] as string));
    await remove(...ids);
  });

  it.each<[string, string]>([
    [
      'one of the connections is',
      `pid = (SELECT min(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'svc-streams')`,
    ],
    ['the one of its transaction is', `application_name = 'svc-store' AND state = 'idle in transaction'`],
    // those that wait in the pools of other stores stay: the test uses them next
    ['all are', `application_name IN ('svc-store', 'svc-streams') AND state <> 'idle'`],
  ])('fails when %s lost, and leaves nothing', async (_, where) => {
    await expect(importDisturbed(() => terminate(where))).rejects.toMatchObject({ code: 'unavailable' });
    await ended();
    await single.datasets.collect();
    expect(await leftovers()).toEqual(NOTHING);
  });

  it('ends at once when it is cancelled, and leaves nothing', async () => {
    const cancelling = new AbortController();
    const reason = new Error('cancelled');
    const importing = importDisturbed(async () => cancelling.abort(reason), cancelling.signal);
    await expect(importing).rejects.toBe(reason);
    await ended();
    await single.datasets.collect();
    expect(await leftovers()).toEqual(NOTHING);
    // The connections can be used again.
    const id = await importDisturbed(nothing);
    expect(await writersOf(id)).toBeGreaterThan(1);
    await remove(id);
  });

  it('ends at once when it is cancelled after its rows were committed, and leaves them to be collected', async () => {
    const cancelling = new AbortController();
    const reason = new Error('cancelled');
    const importing = importDisturbed(nothing, cancelling.signal, async () => cancelling.abort(reason));
    await expect(importing).rejects.toBe(reason);
    expect(await leftovers()).toEqual({ items: expect.any(Number), noted: 1 });
    expect(await single.datasets.collect()).toBeGreaterThan(100);
    expect(await leftovers()).toEqual(NOTHING);
  });

  it('passes on what its source throws, and leaves nothing', async () => {
    const thrown = new Error('the source');
    await expect(importDisturbed(() => Promise.reject(thrown))).rejects.toBe(thrown);
    await single.datasets.collect();
    expect(await leftovers()).toEqual(NOTHING);
  });

  it('removes its rows when it fails after they were committed', async () => {
    const importing = importDisturbed(nothing, undefined, async () => {
      expect(await leftovers()).toEqual({ items: expect.any(Number), noted: 1 });
      throw new Error('no dataset');
    });
    await expect(importing).rejects.toThrow('no dataset');
    expect(await leftovers()).toEqual(NOTHING);
  });

  it('leaves its committed rows to be collected when it fails and cannot remove them soon', async () => {
    const changing = new pg.Client({ connectionString: database.url });
    await changing.connect();
    const importing = importDisturbed(nothing, undefined, async () => {
      await changing.query('BEGIN; SELECT FROM items FOR UPDATE');
      throw new Error('no dataset');
    });
    await expect(importing).rejects.toThrow('no dataset');
    await changing.end();
    expect(await leftovers()).toEqual({ items: expect.any(Number), noted: 1 });
    expect(await single.datasets.collect()).toBeGreaterThan(100);
    expect(await leftovers()).toEqual(NOTHING);
  });

  it('copies alone while a change of the table waits for it, which further connections would wait for', async () => {
    const changing = new pg.Client({ connectionString: database.url });
    await changing.connect();
    let change: Promise<unknown> | undefined;
    await using draft = await store.datasets.begin();
    async function* bytes(): AsyncGenerator<Uint8Array> {
      yield* linesOf(LAST);
      await expect
        .poll(() =>
          // a table has the same number in each database that is made of the template
          query(`SELECT FROM pg_locks WHERE relation = 'items'::regclass AND mode = 'RowExclusiveLock'
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`),
        )
        .toHaveLength(1);
      change = changing.query('BEGIN; LOCK TABLE items IN SHARE MODE; COMMIT');
      await expect.poll(waiting).toHaveLength(1);
      yield* linesOf(LARGE['large'] as string[]);
    }
    await draft.section('s').writeLines(splitLines(bytes()), LINES);
    const { id } = await draft.insert(metaOf());
    await draft.commit();
    await change;
    await changing.end();
    expect(await writersOf(id)).toBe(1);
    expect(await leftovers()).toEqual(NOTHING);
    await remove(id);
  });

  it('is not disturbed by what collects the rows of others', async () => {
    const id = await importDisturbed(
      () => single.datasets.collect(),
      undefined,
      async () => expect(await single.datasets.collect()).toBe(0),
    );
    expect((await single.datasets.get(id)).itemCount).toBe(1_200);
    expect(await leftovers()).toEqual(NOTHING);
    await store.datasets.delete(id);
    expect(await leftovers()).toEqual({ items: 1_200, noted: 1 });
    expect(await single.datasets.collect()).toBe(1_200);
    expect(await leftovers()).toEqual(NOTHING);
  });

  it('whose process is gone before its commit leaves rows that nothing shows, until they are collected', async () => {
    const importing = importDisturbed(nothing, undefined, async () => {
      line.target = null;
      line.cut();
    });
    await expect(importing).rejects.toMatchObject({ code: 'unavailable' });
    await ended();
    expect(await leftovers()).toEqual({ items: expect.any(Number), noted: 1 });
    expect((await single.datasets.list({ limit: 10 })).data).toEqual([]);
    // Several workers do it at once.
    const removed = await Promise.all([single.datasets.collect(), single.datasets.collect()]);
    expect(removed.reduce((sum, count) => sum + count)).toBeGreaterThan(100);
    expect(await leftovers()).toEqual(NOTHING);
  });
});

describe('rows of an import that has ended', () => {
  it('stay as long as one of its connections may still commit some', async () => {
    const section = randomUUID();
    await query(`INSERT INTO loose_sections SELECT '${section}', pg_current_xact_id()::text::bigint`);
    const late = new pg.Client({ connectionString: database.url });
    await late.connect();
    await late.query('BEGIN');
    await late.query('SELECT FROM loose_sections WHERE section_id = $1 FOR KEY SHARE', [section]);
    await late.query(
      `INSERT INTO items (section_id, order_index, item_hash, type, payload)
       SELECT $1, number, sha256(''), 'freeform', '{}' FROM generate_series(5, 25_004) AS number`,
      [section],
    );
    expect(await single.datasets.collect()).toBe(0);
    await late.query('COMMIT');

    // A process that stops ends after the transaction that it is in.
    await late.query('BEGIN');
    await late.query('SELECT FROM items WHERE section_id = $1 AND order_index = 5 FOR UPDATE', [section]);
    const stopping = new AbortController();
    const collecting = single.datasets.collect(stopping.signal);
    await expect.poll(waiting).toHaveLength(1);
    stopping.abort();
    await late.end();
    expect(await collecting).toBe(9_995);
    expect(await single.datasets.collect()).toBe(15_005);
    expect(await leftovers()).toEqual(NOTHING);
  });
});
