import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { PrismaPg } from '@prisma/adapter-pg';
import type { MigrationList } from '@prisma/schema-engine-wasm/schema_engine_bg';
import type pg from 'pg';
import { operatorMessage, StoreError, toStoreError } from '../database/errors.ts';
import { createPool, inTransaction } from '../postgres/pool.ts';
import { openSchemaEngine } from './schema-engine.ts';

/** Held while one process migrates; the others wait. */
const MIGRATION_LOCK = 5_267_719;
/** Prisma's migration lock, which `prisma migrate deploy` also takes. */
const ENGINE_LOCK = 72_707_369;
const OLDEST_SERVER = 150_000;

export interface MigrationOutcome {
  readonly applied: readonly string[];
  readonly distributed: readonly string[];
}

interface MigrationOptions {
  /**
   * Also spreads the large tables over the nodes of Citus; the database is that of the coordinator. A database that has some
   * of them on nodes stays so without it.
   */
  readonly distributed?: boolean | undefined;
}

/**
 * Brings the database to the schema of this version by Prisma's migrations, recorded in `_prisma_migrations` just as
 * `prisma migrate deploy` does. Many processes may call it concurrently; it is quick when there is nothing to do.
 *
 * @param url postgresql:// URL of a UTF-8 database on PostgreSQL 15 or newer
 * @throws StoreError `unavailable`, `database_unsupported`, `migration_failed`
 */
export async function migrate(
  url: string,
  { distributed = false }: MigrationOptions = {},
): Promise<MigrationOutcome> {
  const pool = createPool({ url, applicationName: 'svc-migrate', size: 4 });
  try {
    await checkServer(pool);
    const names = await migrationNames();
    const missing = await missingMigrations(pool, names);
    const isSpread = distributed || (await isDistributed(pool));
    if (missing.length === 0 && !isSpread) return { applied: [], distributed: [] };
    return await underLock(pool, async () => ({
      applied: await applyMissing(pool, names),
      distributed: isSpread ? await distribute(pool) : [],
    }));
  } catch (error) {
    throw forOperator(toStoreError(error));
  } finally {
    await pool.end();
  }
}

/** Only operators migrate: they read where the database is, too. */
function forOperator(error: unknown): unknown {
  if (!(error instanceof StoreError) || error.reason === undefined) return error;
  return new StoreError(error.code, operatorMessage(error), { reason: error.reason, cause: error.cause });
}

async function checkServer(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ version: string; shown: string; encoding: string }>(
    "SELECT current_setting('server_version_num') AS version, current_setting('server_version') AS shown, " +
      "current_setting('server_encoding') AS encoding",
  );
  const server = rows[0];
  if (server === undefined || Number(server.version) < OLDEST_SERVER) {
    throw new StoreError(
      'database_unsupported',
      `The database server is PostgreSQL ${server?.shown ?? 'of an unknown version'}; 15 or newer is needed.`,
    );
  }
  if (server.encoding !== 'UTF8') {
    throw new StoreError(
      'database_unsupported',
      `The database's encoding is ${server.encoding}; it must be UTF8.`,
    );
  }
}

/** The migrations of this version that the database lacks; it may have migrations of a later one too. */
export async function missingMigrations(client: pg.Pool | pg.ClientBase, names: readonly string[]) {
  try {
    const { rows } = await client.query<{ migration_name: string }>(
      'SELECT migration_name FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL',
    );
    const applied = new Set(rows.map((row) => row.migration_name));
    return names.filter((name) => !applied.has(name));
  } catch (error) {
    if ((error as { code?: unknown }).code === '42P01') return [...names]; // the table is not there yet
    throw error;
  }
}

/** A lock of a transaction, not of a session: it works through a connection pooler too. */
async function underLock<T>(pool: pg.Pool, work: () => Promise<T>): Promise<T> {
  return await inTransaction(pool, async (client) => {
    for (const lock of [MIGRATION_LOCK, ENGINE_LOCK]) {
      await client.query('SELECT pg_advisory_xact_lock($1)', [lock]);
    }
    return await work();
  });
}

async function applyMissing(pool: pg.Pool, names: readonly string[]): Promise<readonly string[]> {
  const missing = await missingMigrations(pool, names);
  if (missing.length === 0) return [];
  const { rowCount } = await pool.query("SELECT WHERE to_regclass('_prisma_migrations') IS NOT NULL");
  if (Number(rowCount) > 0) {
    const { rows } = await pool.query<{ isOlder: boolean }>(
      'SELECT EXISTS (SELECT FROM _prisma_migrations WHERE finished_at IS NOT NULL) AS "isOlder"',
    );
    // It has migrations, but not the first one.
    if (missing.length === names.length && rows[0]?.isOlder === true) {
      throw new StoreError(
        'database_unsupported',
        'Cannot use the database: a version before 0.1.0 made it. Export its datasets with that version, and import them ' +
          'with this one into an empty database.',
      );
    }
    // A process that ended during a migration has rolled it back: it is begun again.
    await pool.query('DELETE FROM _prisma_migrations WHERE finished_at IS NULL AND rolled_back_at IS NULL');
  }
  return await apply(pool, names);
}

async function apply(pool: pg.Pool, names: readonly string[]): Promise<readonly string[]> {
  try {
    using opened = await openSchemaEngine(new MigrationAdapter(pool));
    const { appliedMigrationNames } = await opened.engine.applyMigrations({
      migrationsList: await readMigrations(names),
      filters: { externalTables: [], externalEnums: [] },
    });
    return appliedMigrationNames;
  } catch (cause) {
    throw new StoreError('migration_failed', `The database could not be migrated: ${reasonOf(cause)}`, {
      cause,
    });
  }
}

function reasonOf(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause);
  return message.trim().split('\n')[0] ?? '';
}

/** Where the build copies the migrations: the same folder seen from `src` and from `dist`. */
const MIGRATIONS = new URL('../../../dist/migrations/', import.meta.url);

export async function migrationNames(): Promise<string[]> {
  const entries = await readdir(MIGRATIONS, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

export async function readMigrations(names?: readonly string[]): Promise<MigrationList> {
  return {
    baseDir: fileURLToPath(MIGRATIONS),
    lockfile: {
      path: 'migration_lock.toml',
      content: await readFile(new URL('migration_lock.toml', MIGRATIONS), 'utf8'),
    },
    shadowDbInitScript: '',
    migrationDirectories: await Promise.all(
      (names ?? (await migrationNames())).map(async (path) => ({
        path,
        migrationFile: {
          path: 'migration.sql',
          content: {
            tag: 'ok' as const,
            value: await readFile(new URL(`${path}/migration.sql`, MIGRATIONS), 'utf8'),
          },
        },
      })),
    ),
  };
}

/** Records a migration in its own transaction: one that is not recorded was not applied. */
const RECORD =
  'UPDATE _prisma_migrations SET finished_at = now() WHERE finished_at IS NULL AND rolled_back_at IS NULL';

/**
 * Runs each migration as one block, and so in one transaction, whose statements PostgreSQL separates. Prisma's own adapter
 * splits scripts at every semicolon, also in the body of a function, and runs the parts one by one. A script of several
 * statements would do on one server, but Citus sends the text around an index to its nodes, which take one statement only.
 *
 * Does not take the engine's lock: it belongs to a session, which behind a pooler outlives the migration. `migrate` holds
 * the lock of a transaction.
 */
class MigrationAdapter extends PrismaPg {
  override async connect(): ReturnType<PrismaPg['connect']> {
    const connection = await super.connect();
    const { executeRaw } = connection;
    connection.executeRaw = async (query) =>
      /^SELECT pg_advisory_lock\(/i.test(query.sql) ? 0 : await executeRaw.call(connection, query);
    connection.executeScript = async (script) => {
      const sql = `DO $svc_migration$ BEGIN ${RECORD};\n${script}\nEND $svc_migration$`;
      await connection.executeRaw({ sql, args: [], argTypes: [] });
    };
    return connection;
  }
}

/**
 * The tables whose rows are spread over the nodes of Citus, by the column whose hash says where a row is. All others stay on
 * the coordinator (docs/decisions/shards-by-part-and-run.md).
 */
export const DISTRIBUTED_TABLES = {
  items: 'part_id',
  hash_blocks: 'part_id',
  run_results: 'run_id',
  run_items: 'run_id',
  run_differences: 'run_id',
} as const;

/** The first table by each column; the others are colocated with it. */
const FIRST_TABLES: Readonly<Record<string, string>> = { part_id: 'items', run_id: 'run_results' };

async function distribute(pool: pg.Pool): Promise<string[]> {
  await checkCitus(pool);
  const there = await distributedTables(pool);
  const missing = Object.entries(DISTRIBUTED_TABLES).filter(([table]) => !there.has(table));
  for (const [table, column] of missing) {
    const first = FIRST_TABLES[column];
    await pool.query('SELECT create_distributed_table($1::text::regclass, $2::text, colocate_with => $3)', [
      table,
      column,
      first === table ? 'none' : first,
    ]);
    // The coordinator keeps the rows that it has copied to the nodes until it is told not to.
    await pool.query('SELECT truncate_local_data_after_distributing_table($1::text::regclass)', [table]);
  }
  return missing.map(([table]) => table);
}

async function isDistributed(pool: pg.Pool): Promise<boolean> {
  const { rowCount } = await pool.query("SELECT WHERE to_regclass('pg_dist_partition') IS NOT NULL");
  return Number(rowCount) > 0 && (await distributedTables(pool)).size > 0;
}

async function distributedTables(pool: pg.Pool): Promise<ReadonlySet<string>> {
  const { rows } = await pool.query<{ name: string }>(
    'SELECT logicalrelid::text AS name FROM pg_dist_partition WHERE logicalrelid::text = ANY ($1)',
    [Object.keys(DISTRIBUTED_TABLES)],
  );
  return new Set(rows.map(({ name }) => name));
}

async function checkCitus(pool: pg.Pool): Promise<void> {
  const { rowCount } = await pool.query("SELECT FROM pg_extension WHERE extname = 'citus'");
  if (Number(rowCount) === 0) {
    throw new StoreError(
      'database_unsupported',
      'Cannot distribute the database: it does not have the extension citus. Run CREATE EXTENSION citus as a superuser, ' +
        'and add the worker nodes.',
    );
  }
  const { rows } = await pool.query<{ isCoordinator: boolean }>(
    `SELECT citus_is_coordinator() AS "isCoordinator"`,
  );
  if (rows[0]?.isCoordinator !== true) {
    throw new StoreError(
      'database_unsupported',
      'Cannot distribute the database: the server is not the coordinator of a cluster that has nodes.',
    );
  }
}
