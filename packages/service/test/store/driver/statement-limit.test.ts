import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { createPool, type Pool, prepared } from '../../../src/store/postgres/pool.ts';
import { readFrom } from '../../../src/store/postgres/read-query.ts';
import { serverAddress, throughLine } from '../server-address.ts';
import { createTestDatabase, type TestDatabase } from '../template-db.ts';

/** The message that names a connection's process: its type, its length, the process and the key. */
const BACKEND_KEY_DATA = Buffer.from([0x4b, 0, 0, 0, 12]);

let database: TestDatabase;
let pooler: Server;
let poolerUrl: string;
beforeAll(async () => {
  database = await createTestDatabase();
  // Names another process than the one that works, as a pooler does.
  pooler = createServer((client) => {
    const server = connect(serverAddress(database.url));
    client.on('error', () => server.destroy()).pipe(server);
    server.on('error', () => client.destroy());
    server.on('data', (bytes) => {
      const at = bytes.indexOf(BACKEND_KEY_DATA);
      if (at >= 0) bytes.writeInt32BE(1, at + BACKEND_KEY_DATA.length);
      client.write(bytes);
    });
    server.on('end', () => client.end());
  }).listen(0, '127.0.0.1');
  await once(pooler, 'listening');
  poolerUrl = throughLine(database.url, pooler.address() as AddressInfo);
});
afterAll(async () => {
  pooler.close();
  await database.drop();
});

const pools: Pool[] = [];
const open = (options: Parameters<typeof createPool>[0]): Pool => {
  const pool = createPool(options);
  pools.push(pool);
  return pool;
};
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.end()));
});

const SHOW = 'SHOW statement_timeout';
const STATEMENT = ['a_name', 'SELECT 1', []] as const;

it('is that of the session on a direct connection, which keeps what it has prepared', async () => {
  const pool = open({ url: database.url, size: 1, statementTimeoutMs: 300 });
  expect((await pool.query(SHOW)).rows).toEqual([{ statement_timeout: '300ms' }]);
  expect(pool.limit.cancelAfterMs).toBeNull();
  expect(pool.limit.begin('BEGIN')).toBe('BEGIN');
  expect(prepared(pool, ...STATEMENT)).toMatchObject({ name: 'a_name' });
  await expect(pool.query('SELECT pg_sleep(60)')).rejects.toMatchObject({ code: '57014' });
});

it('is that of each transaction behind a pooler, whose sessions keep nothing', async () => {
  const pool = open({ url: poolerUrl, size: 1, statementTimeoutMs: 300 });
  expect((await pool.query(SHOW)).rows).toEqual([{ statement_timeout: '300ms' }]);
  expect(prepared(pool, ...STATEMENT)).not.toHaveProperty('name');
  await expect(pool.query('SELECT pg_sleep(60)')).rejects.toMatchObject({ code: '57014' });
  const client = await pool.connect();
  expect((await client.query(SHOW)).rows).toEqual([{ statement_timeout: '0' }]);
  client.release();
  const shown = await readFrom(pool, (query) => query(SHOW), undefined, 'BEGIN READ ONLY');
  expect(shown).toEqual([{ statement_timeout: '300ms' }]);
});

it('is none where none is asked for', async () => {
  const pool = open({ url: database.url, size: 1 });
  expect((await pool.query(SHOW)).rows).toEqual([{ statement_timeout: '0' }]);
  expect(pool.limit.cancelAfterMs).toBeNull();
  expect(prepared(pool, ...STATEMENT)).not.toHaveProperty('name');
});
