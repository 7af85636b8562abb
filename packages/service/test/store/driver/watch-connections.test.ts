import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createStore } from '../../../src/store/create-store.ts';
import { toStoreError } from '../../../src/store/database/errors.ts';
import { createPool } from '../../../src/store/postgres/pool.ts';
import { throughLine } from '../server-address.ts';
import { startTcpProxy, type TcpProxy } from '../tcp-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../template-db.ts';

let database: TestDatabase;
let line: TcpProxy;
let url: string;
let pool: pg.Pool;
beforeAll(async () => {
  database = await createTestDatabase();
  line = await startTcpProxy(database.url);
  url = throughLine(database.url, line);
  pool = createPool({ url, size: 3, silenceMs: 300 });
});
beforeEach(() => {
  line.line = 'passes';
});
afterAll(async () => {
  line.line = 'passes';
  await pool.end();
  await line[Symbol.asyncDispose]();
  await database.drop();
});

describe('a connection whose server has fallen silent', () => {
  it('fails its query as unavailable, and the next one works', async () => {
    await pool.query('SELECT 1');
    line.line = 'stalls';
    const error = await pool.query('SELECT 2').catch(toStoreError);
    expect(error).toMatchObject({ code: 'unavailable' });
    line.line = 'passes';
    expect((await pool.query('SELECT 3 AS three')).rows).toEqual([{ three: 3 }]);
    expect(pool.totalCount).toBe(1);
  });

  it('is distinguished from one that works for a long time', async () => {
    const { rows } = await pool.query('SELECT pg_sleep(1.5), 7 AS seven');
    expect(rows).toMatchObject([{ seven: 7 }]);
  });

  it('is distinguished from one that is held without a query', async () => {
    const client = await pool.connect();
    client.on('error', () => undefined);
    await client.query('BEGIN');
    await new Promise((done) => setTimeout(done, 1000));
    expect((await client.query('SELECT 5 AS five')).rows).toEqual([{ five: 5 }]);
    await client.query('ROLLBACK');
    client.release();
  });

  it('is distinguished from one whose query or answer is still on its way', async () => {
    const client = await pool.connect();
    client.on('error', () => undefined);
    await client.query('SELECT 1');
    const query = client.query('SELECT 9 AS nine').catch(toStoreError);
    // Only this query is late: the server is idle, and says so at once on another connection.
    line.line = { delayMs: 1000 };
    setTimeout(() => {
      line.line = 'passes';
    }, 250);
    expect(await query).toMatchObject({ rows: [{ nine: 9 }] });
    client.release();
  });

  it('is distinguished from one that has sent everything to a slow reader', async () => {
    const client = await pool.connect();
    client.on('error', () => undefined);
    const copy = client.query(
      copyTo(`COPY (SELECT repeat('x', 1000) FROM generate_series(1, 300)) TO STDOUT`),
    );
    let bytes = 0;
    for await (const chunk of copy as AsyncIterable<Uint8Array>) {
      // Longer than the silence and the time in transit: the server has sent all, and is idle.
      if (bytes === 0) await new Promise((done) => setTimeout(done, 3_000));
      bytes += chunk.byteLength;
    }
    expect(bytes).toBe(300 * 1001);
    client.release();
  });

  it('is found by its answer that never came, though the server has done the work', async () => {
    const client = await pool.connect();
    client.on('error', () => undefined);
    await client.query('SELECT 1');
    const query = client.query('SELECT pg_sleep(0.2)').catch(toStoreError);
    // the statement arrives, its answer does not, and other connections work
    await new Promise((done) => setTimeout(done, 100));
    line.stallOpen();
    expect(await query).toMatchObject({ code: 'unavailable' });
    client.release(true);
  });
});

describe('a database that does not answer', () => {
  it('keeps neither probes nor metrics waiting', async () => {
    await using store = createStore({ url, poolSize: 4 });
    expect(await store.ready()).toEqual({ database: { ok: true }, queue: { ok: true } });
    line.line = 'stalls';
    // a good answer lasts for a second
    await expect
      .poll(() => store.ready(), { timeout: 10_000 })
      .toMatchObject({ database: { reason: 'unreachable' }, queue: { reason: 'unreachable' } });
    await expect(store.queueSizes()).rejects.toMatchObject({ code: 'unavailable' });
    line.line = 'passes';
  });
});
