// the names of what the global set-up provides

import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { inject } from 'vitest';
import type {} from './postgres.ts';

export interface TestDatabase {
  /** postgresql:// URL of a migrated, empty database that no other test uses */
  readonly url: string;
  /** Removes the database and closes its connections. */
  drop(): Promise<void>;
}

/**
 * Makes a database of one test file's own: a copy of the run's template. On a Citus cluster, empties the one that all use.
 *
 * @example
 * const database = await createTestDatabase();
 * const store = createStore({ url: database.url });
 * afterAll(async () => { await store.close(); await database.drop(); });
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  const server = inject('postgresUrl');
  const template = inject('templateDatabase');
  if (template === null) {
    await connectionsClosed(server, new URL(server).pathname.slice(1));
    await run(server, EMPTY_TABLES);
    return { url: server, drop: async () => undefined };
  }
  const name = `svc_test_${randomBytes(6).toString('hex')}`;
  // the default strategy logs every page, which takes twice as long
  await run(server, `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const drop = async (): Promise<void> => {
    await connectionsClosed(server, name);
    await run(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  };
  return { url: url.href, drop };
}

/** Citus empties tables of one kind per statement. */
const EMPTY_TABLES = `DO $$ DECLARE name regclass; BEGIN
  FOR name IN SELECT logicalrelid FROM pg_dist_partition LOOP EXECUTE format('TRUNCATE %s', name); END LOOP;
  EXECUTE (SELECT 'TRUNCATE ' || string_agg(oid::regclass::text, ', ') FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> '_prisma_migrations'
      AND oid NOT IN (SELECT logicalrelid FROM pg_dist_partition));
END $$`;

/** Waits a moment for clients that are closing: ended by the server, they would throw uncaught errors. */
async function connectionsClosed(server: string, name: string): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const { rows } = await run(
      server,
      `SELECT FROM pg_stat_activity WHERE datname = '${name}' AND backend_type = 'client backend'`,
    );
    if (rows.length === 0) return;
    await delay(20);
  }
}

async function run(url: string, sql: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (let attempt = 1; ; attempt++) {
      try {
        return await client.query(sql);
      } catch (error) {
        // 55006: another test file is copying the template right now
        if ((error as { code?: unknown }).code !== '55006' || attempt === 600) throw error;
        await delay(100);
      }
    }
  } finally {
    await client.end();
  }
}
