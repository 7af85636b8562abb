// the names of what the global set-up provides

import { randomBytes } from 'node:crypto';
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
 * Makes a database of one test file's own: a copy of the run's template.
 *
 * @example
 * const database = await createTestDatabase();
 * const store = createStore({ url: database.url });
 * afterAll(async () => { await store.close(); await database.drop(); });
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  const server = inject('postgresUrl');
  const name = `svc_test_${randomBytes(6).toString('hex')}`;
  await run(server, `CREATE DATABASE ${name} TEMPLATE ${inject('templateDatabase')}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => run(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

async function run(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (let attempt = 1; ; attempt++) {
      try {
        await client.query(sql);
        return;
      } catch (error) {
        // 55006: another test file is copying the template right now
        if ((error as { code?: unknown }).code !== '55006' || attempt === 50) throw error;
        await new Promise((done) => setTimeout(done, 100));
      }
    }
  } finally {
    await client.end();
  }
}
