import { readFile } from 'node:fs/promises';
import { PrismaPg } from '@prisma/adapter-pg';
import { ColumnTypeEnum } from '@prisma/driver-adapter-utils';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createEmptyDatabase } from '../../../test/store/empty-database.ts';
import { queryDatabase } from '../../../test/store/query-database.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/store/template-db.ts';
import { createStore } from '../create-store.ts';
import { DISTRIBUTED_TABLES, migrate, migrationNames, readMigrations } from './migrate.ts';
import { openSchemaEngine } from './schema-engine.ts';

/**
 * Prisma's adapter has no notion of the type "char" (18), of which the catalog is full, and the engine wants to
 * see one column of it as that type: here they go through as character (1042).
 */
class CatalogPool extends pg.Pool {
  override query(...args: unknown[]): never {
    const responding = (super.query as (...args: unknown[]) => Promise<pg.QueryResult>).apply(this, args);
    return responding.then((answer) => {
      for (const field of answer.fields) if (field.dataTypeID === 18) field.dataTypeID = 1042;
      return answer;
    }) as never;
  }
}
class CatalogAdapter extends PrismaPg {
  override async connect(): ReturnType<PrismaPg['connect']> {
    const connection = await super.connect();
    const queryRaw = connection.queryRaw.bind(connection);
    connection.queryRaw = async (query) => {
      const result = await queryRaw(query);
      const isChar = (index: number): boolean => result.columnNames[index] === 'constraint_type';
      const columnTypes = result.columnTypes.map((type, index) =>
        isChar(index) ? ColumnTypeEnum.Character : type,
      );
      return { ...result, columnTypes };
    };
    return connection;
  }
}

/** As the service is set up there: on a cluster, the large tables are on its nodes. */
const distributed = (process.env['TEST_CITUS_URL'] ?? '') !== '';

const filters = { externalTables: [], externalEnums: [] };

describe('migrate', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  it('makes exactly the schema of schema.prisma', async () => {
    const content = await readFile(new URL('../../../../../prisma/schema.prisma', import.meta.url), 'utf8');
    const pool = new CatalogPool({ connectionString: database.url });
    onTestFinished(() => pool.end());
    using opened = await openSchemaEngine(new CatalogAdapter(pool), content);
    const files = [{ path: 'schema.prisma', content }];
    const script = async (from: Parameters<typeof opened.engine.diff>[0]['from']): Promise<string | null> => {
      const to = { tag: 'schemaDatamodel' as const, files };
      return (await opened.engine.diff({ from, to, script: true, exitCode: null, filters })).stdout;
    };

    expect(await script({ tag: 'schemaDatasource', files, configDir: '.' })).toContain(
      'This is an empty migration',
    );
    // the comparison can fail
    expect(await script({ tag: 'empty' })).toContain('CREATE TABLE "items"');
  });

  it('has nothing to do the second time, and says so', async () => {
    expect(await migrate(database.url)).toEqual({ applied: [], distributed: [] });
  });

  it('is recorded as Prisma records it', async () => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    try {
      const { rows } = await client.query(
        'SELECT migration_name, length(checksum) AS checksum, applied_steps_count, rolled_back_at FROM _prisma_migrations ORDER BY 1',
      );
      const { migrationDirectories } = await readMigrations();
      expect(rows).toEqual(
        migrationDirectories.map(({ path }) => ({
          migration_name: path,
          checksum: 64,
          applied_steps_count: 1,
          rolled_back_at: null,
        })),
      );
    } finally {
      await client.end();
    }
  });

  it('is safe when several processes start concurrently, after one that was killed', async () => {
    await using database = await createEmptyDatabase();
    const [first = ''] = await migrationNames();
    await queryDatabase(
      database.url,
      `CREATE TABLE _prisma_migrations (id varchar(36) PRIMARY KEY, checksum varchar(64) NOT NULL, finished_at timestamptz,
         migration_name varchar(255) NOT NULL, logs text, rolled_back_at timestamptz,
         started_at timestamptz NOT NULL DEFAULT now(), applied_steps_count int NOT NULL DEFAULT 0)`,
    );
    await queryDatabase(
      database.url,
      `INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES ('killed', '', '${first}')`,
    );
    const outcomes = await Promise.all(
      Array.from({ length: 4 }, () => migrate(database.url, { distributed })),
    );
    expect(outcomes.flatMap(({ applied }) => applied)).toEqual(
      (await readMigrations()).migrationDirectories.map(({ path }) => path),
    );
    expect(outcomes.flatMap((outcome) => outcome.distributed)).toEqual(
      distributed ? Object.keys(DISTRIBUTED_TABLES) : [],
    );
  });

  it('ends with an error when it loses the connection that holds its lock', async () => {
    await using database = await createEmptyDatabase();
    const other = new pg.Client({ connectionString: database.url });
    await other.connect();
    try {
      // The lock of Prisma's own command line, for which it waits.
      await other.query('SELECT pg_advisory_lock(72707369)');
      const failed = expect(migrate(database.url)).rejects.toMatchObject({ code: 'unavailable' });
      const end = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'svc-migrate' AND wait_event = 'advisory'`;
      await expect.poll(() => queryDatabase(database.url, end)).toHaveLength(1);
      await failed;
    } finally {
      await other.end();
    }
  });

  it('is what a store waits for before it says that it is ready', async () => {
    await using database = await createEmptyDatabase();
    await migrate(database.url, { distributed });
    await using store = createStore({ url: database.url });
    expect(await store.ready()).toEqual({ database: { ok: true }, queue: { ok: true } });
    // as a database of the next version, then as one of the version before
    await queryDatabase(
      database.url,
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at)
         VALUES ('next', '', '99990101000000_next', now())`,
    );
    expect(await store.ready()).toEqual({ database: { ok: true }, queue: { ok: true } });
    const newest = (await readMigrations()).migrationDirectories.at(-1)?.path;
    const rollBack = `UPDATE _prisma_migrations SET rolled_back_at = now() WHERE migration_name = '${newest}'`;
    await queryDatabase(database.url, rollBack);
    // a good answer lasts for a second, so that those who ask without a key do not busy the database
    expect(await store.ready()).toEqual({ database: { ok: true }, queue: { ok: true } });
    await expect
      .poll(() => store.ready(), { timeout: 5_000 })
      .toMatchObject({ database: { ok: false, reason: 'not_migrated' }, queue: { ok: true } });
  });

  it('refuses a database that was made before the first release, and says how to carry the data over', async () => {
    await using database = await createEmptyDatabase();
    await queryDatabase(
      database.url,
      `CREATE TABLE _prisma_migrations AS SELECT '20260101000000_datasets_runs_jobs' AS migration_name,
         now() AS finished_at, NULL::timestamptz AS rolled_back_at`,
    );
    await expect(migrate(database.url)).rejects.toMatchObject({
      code: 'database_unsupported',
      message:
        'Cannot use the database: a version before 0.1.0 made it. Export its datasets with that version, and import them ' +
        'with this one into an empty database.',
    });
  });

  it('names a database whose encoding cannot hold every item', async () => {
    await using database = await createEmptyDatabase("ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C'");
    await expect(migrate(database.url)).rejects.toMatchObject({ code: 'database_unsupported' });
  });

  it('answers `unavailable` where no server listens', async () => {
    await expect(migrate('postgresql://user:x@127.0.0.1:1/none')).rejects.toMatchObject({
      code: 'unavailable',
    });
  });
});
