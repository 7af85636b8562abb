// the names of what the global set-up provides

import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { inject } from 'vitest';
import { counted } from '../../../../tools/vitest/costs.ts';
import type {} from './postgres.ts';

export interface TestDatabase {
  /** postgresql:// URL of a migrated, empty database that no other test uses */
  readonly url: string;
  /** Ends the use of the database, for which its connections have to be closed. */
  drop(): Promise<void>;
}

/** Databases that files of this process have used and emptied: a test file takes one of them before it makes another. */
const unused: string[] = [];

/**
 * An empty database of one test file's own: a copy of the run's template, or one that an earlier file has used. On a
 * Citus cluster, empties the one that all use.
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
    await using client = await connect(server);
    await connectionsClosed(client);
    await client.query(EMPTY_TABLES);
    return { url: server, drop: async () => undefined };
  }
  const name = unused.pop() ?? `${template}_${randomBytes(6).toString('hex')}`;
  const url = new URL(server);
  url.pathname = `/${name}`;
  if (!made.has(name)) {
    // the default strategy logs every page, which takes twice as long
    await run(server, `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
    made.add(name);
    counted('databases');
    schema ??= schemaOf(await run(url.href, SCHEMA));
  }
  const drop = async (): Promise<void> => {
    if (await emptied(url.href)) unused.push(name);
    else await run(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  };
  return { url: url.href, drop };
}

/** The databases that this process has made, and the schema of the template. */
const made = new Set<string>();
let schema: string | undefined;

const schemaOf = ({ rows }: pg.QueryResult): string => JSON.stringify(rows);

/** Empties a database; false for one whose clients stay, or in which a test has changed more than rows. */
async function emptied(url: string): Promise<boolean> {
  await using client = await connect(url);
  if (!(await connectionsClosed(client))) return false;
  if (schemaOf(await client.query(SCHEMA)) !== schema) return false;
  await client.query(EMPTY);
  return true;
}

/** Everything but rows that a test may change in its database. */
const SCHEMA = `
  SELECT format('%s %s %s %s', oid::regclass, relkind, reloptions, relacl) AS it FROM pg_class
    WHERE relnamespace = 'public'::regnamespace
  UNION ALL SELECT format('%s.%s %s %s', attrelid::regclass, attname, atttypid, attnotnull) FROM pg_attribute
    JOIN pg_class ON pg_class.oid = attrelid WHERE relnamespace = 'public'::regnamespace
  UNION ALL SELECT format('%s %s %s', tgrelid::regclass, tgname, tgenabled) FROM pg_trigger WHERE NOT tgisinternal
  UNION ALL SELECT conname FROM pg_constraint
  UNION ALL SELECT proname || prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace
  UNION ALL SELECT nspname FROM pg_namespace
  UNION ALL SELECT format('%s %s %s', migration_name, finished_at IS NULL, rolled_back_at IS NULL) FROM _prisma_migrations
  UNION ALL SELECT setconfig::text FROM pg_db_role_setting
    JOIN pg_database ON pg_database.oid = setdatabase WHERE datname = current_database()
  ORDER BY it`;

/** Leaves no rows, and nothing that the planner has learnt from them. */
const EMPTY = `DO $$ DECLARE name regclass; has_rows boolean; BEGIN
  FOR name IN SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
      AND relname <> '_prisma_migrations' LOOP
    EXECUTE format('SELECT EXISTS (SELECT FROM %s)', name) INTO has_rows;
    IF has_rows THEN EXECUTE format('TRUNCATE %s CASCADE', name); END IF;
  END LOOP;
  DELETE FROM pg_statistic WHERE starelid >= 16384;
  PERFORM pg_stat_reset();
END $$`;

/** Citus empties tables of one kind per statement. */
const EMPTY_TABLES = `DO $$ DECLARE name regclass; BEGIN
  FOR name IN SELECT logicalrelid FROM pg_dist_partition LOOP EXECUTE format('TRUNCATE %s', name); END LOOP;
  EXECUTE (SELECT 'TRUNCATE ' || string_agg(oid::regclass::text, ', ') FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> '_prisma_migrations'
      AND oid NOT IN (SELECT logicalrelid FROM pg_dist_partition));
END $$`;

/**
 * Waits a moment for clients that are closing: ended by the server, they would throw uncaught errors. PostgreSQL tells nobody
 * of the end of a session, so this asks.
 */
async function connectionsClosed(client: pg.Client): Promise<boolean> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const { rows } = await client.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'
        AND pid <> pg_backend_pid()`,
    );
    if (rows.length === 0) return true;
    await delay(20);
  }
  return false;
}

async function run(url: string, sql: string): Promise<pg.QueryResult> {
  await using client = await connect(url);
  return await client.query(sql);
}

async function connect(url: string): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}
