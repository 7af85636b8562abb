import { rm } from 'node:fs/promises';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres } from '../../../../apps/standalone/src/embedded-postgres/start-embedded-postgres.ts';
import { makeDataFolder } from '../../../../apps/standalone/test/make-data-folder.ts';
import { superuserUrl } from '../../../../apps/standalone/test/superuser-url.ts';
import { migrate } from '../../src/store/migrate/migrate.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** a server for tests, as a superuser: connect to it by `createTestDatabase()` of test/template-db.ts */
    postgresUrl: string;
    /** name of the migrated database that test databases are copies of; null where all tests use the one of a Citus cluster */
    templateDatabase: string | null;
  }
}

/**
 * One PostgreSQL server for a whole test run: the embedded one in a temporary folder, or the one that
 * TEST_DATABASE_URL names. A migrated database on it is the template of every test's own. With TEST_CITUS_URL, all tests use
 * that database on the coordinator of a cluster, one file after the other.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const citus = process.env['TEST_CITUS_URL'];
  if (citus !== undefined && citus !== '') {
    // Few shards: every test file empties them all.
    const url = new URL(citus);
    url.searchParams.set('options', '-c citus.shard_count=8');
    await migrate(url.href, { distributed: true });
    project.provide('postgresUrl', citus);
    project.provide('templateDatabase', null);
    return async () => undefined;
  }
  const external = process.env['TEST_DATABASE_URL'];
  if (external !== undefined && external !== '') {
    const drop = await makeTemplate(external, project);
    return drop;
  }
  const folder = await makeDataFolder('svc-test-');
  const server = await startEmbeddedPostgres({
    dataDir: folder,
    settings: {
      // nothing here has to survive a power cut
      ...{ fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' },
      // the log may be in memory, as the rest
      max_wal_size: '512MB',
      max_connections: '200',
    },
  });
  await makeTemplate(await superuserUrl(server.url, folder), project);
  return async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
}

async function makeTemplate(url: string, project: TestProject): Promise<() => Promise<void>> {
  const name = `svc_template_${process.pid}_${Date.now()}`;
  const run = async (sql: string): Promise<pg.QueryResult> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return await client.query(sql);
    } finally {
      await client.end();
    }
  };
  await run(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`);
  const template = new URL(url);
  template.pathname = `/${name}`;
  await migrate(template.href);
  project.provide('postgresUrl', url);
  project.provide('templateDatabase', name);
  return async () => {
    const { rows } = await run(`SELECT datname FROM pg_database WHERE starts_with(datname, '${name}')`);
    for (const { datname } of rows) await run(`DROP DATABASE ${datname} WITH (FORCE)`);
  };
}
