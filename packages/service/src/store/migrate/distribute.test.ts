import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEmptyDatabase } from '../../../test/store/empty-database.ts';
import { importItems } from '../../../test/store/import-items.ts';
import { queryDatabase } from '../../../test/store/query-database.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/store/template-db.ts';
import { createStore } from '../create-store.ts';
import { itemsInRanges, LITERALS } from '../items/item-ranges.ts';
import { DISTRIBUTED_TABLES, type MigrationOutcome, migrate } from './migrate.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const query = (sql: string): Promise<unknown[]> => queryDatabase(database.url, sql);

const TABLES = Object.keys(DISTRIBUTED_TABLES)
  .map((table) => `'${table}'::regclass`)
  .join(', ');

describe('the schema', () => {
  it('has what Citus needs of distributed tables: unique keys by their column, neither triggers nor foreign keys', async () => {
    const keys = await query(
      `SELECT i.indrelid::regclass::text AS table, a.attname AS first FROM pg_index i
         JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
       WHERE i.indisunique AND i.indrelid IN (${TABLES}) ORDER BY 1`,
    );
    expect(keys).toEqual(
      Object.entries(DISTRIBUTED_TABLES)
        .map(([table, first]) => ({ table, first }))
        .sort((a, b) => (a.table < b.table ? -1 : 1)),
    );
    const others = `SELECT conname AS name FROM pg_constraint WHERE contype = 'f' AND (conrelid IN (${TABLES}) OR confrelid IN (${TABLES}))
      UNION ALL SELECT tgname FROM pg_trigger WHERE tgrelid IN (${TABLES}) AND NOT tgisinternal`;
    expect(await query(others)).toEqual([]);
  });
});

const isCitus = (process.env['TEST_CITUS_URL'] ?? '') !== '';

/** The distributed tables, and how many groups they lie in. */
async function layoutOf(url: string): Promise<{ tables: string[]; groups: number }> {
  const rows: { readonly name: string; readonly at: number }[] = await queryDatabase(
    url,
    'SELECT logicalrelid::text AS name, colocationid AS at FROM pg_dist_partition ORDER BY 1',
  );
  return { tables: rows.map(({ name }) => name), groups: new Set(rows.map(({ at }) => at)).size };
}

const LAYOUT = { tables: Object.keys(DISTRIBUTED_TABLES).sort(), groups: 2 };

describe('migrate with `distributed`', () => {
  it.skipIf(isCitus)('says that a server has no Citus', async () => {
    await expect(migrate(database.url, { distributed: true })).rejects.toMatchObject({
      code: 'database_unsupported',
      message: expect.stringMatching(
        /^Cannot distribute the database: it does not have the extension citus\. /,
      ),
    });
  });

  it.skipIf(!isCitus)('spreads the large tables of a cluster (needs TEST_CITUS_URL), once', async () => {
    expect(await migrate(database.url, { distributed: true })).toEqual({ applied: [], distributed: [] });
    expect(await layoutOf(database.url)).toEqual(LAYOUT);
  });
});

describe('a statement', () => {
  it.skipIf(!isCitus)('asks only the nodes of the parts that it names (needs TEST_CITUS_URL)', async () => {
    const tasksOf = async (parts: readonly string[]): Promise<string | undefined> => {
      const ranges = parts.map((partId) => ({ section: 0, partId, start: 0, first: 0, count: 1 }));
      const sql = `EXPLAIN SELECT count(*) FROM ${itemsInRanges(ranges, LITERALS)} AS i`;
      const plan: { readonly 'QUERY PLAN': string }[] = await queryDatabase(database.url, sql);
      return plan.map((row) => row['QUERY PLAN'].trim()).find((line) => line.startsWith('Task Count'));
    };
    const part = randomUUID();
    expect(await tasksOf([part])).toBe('Task Count: 1');
    expect(await tasksOf([part, part])).toBe('Task Count: 1');
    expect(await tasksOf([])).toBe('Task Count: 1');
  });
});

/** Two versions of the service that come after this one. */
const LATER_MIGRATIONS = {
  '29990101000000_columns': `
    ALTER TABLE items ADD COLUMN later text;
    ALTER TABLE run_results ADD COLUMN later integer NOT NULL DEFAULT 7;
    ALTER TABLE run_results ADD CONSTRAINT run_results_later CHECK (later > 0);
    CREATE INDEX items_later ON items (part_id, later);
    UPDATE items SET later = type;
    CREATE TABLE later (id uuid PRIMARY KEY, dataset_id uuid NOT NULL REFERENCES datasets (id) ON DELETE CASCADE);
    INSERT INTO later SELECT id, id FROM datasets;`,
  '29990102000000_a_table_anew': `
    CREATE TABLE made (LIKE run_differences INCLUDING ALL);
    DROP TABLE run_differences;
    ALTER TABLE made RENAME TO run_differences;
    ALTER TABLE items DROP COLUMN later;`,
};
type LaterMigration = keyof typeof LATER_MIGRATIONS;

describe('a later migration', () => {
  const run = promisify(execFile);
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-later-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** Migrates as a version that has these migrations too: the built store with a longer list of them, as its own process. */
  async function migrateTo(
    migrations: readonly LaterMigration[],
    url: string,
    options: { readonly distributed?: true },
  ): Promise<MigrationOutcome> {
    const version = join(folder, String(migrations.length));
    const current = fileURLToPath(new URL('../../..', import.meta.url));
    await mkdir(version);
    for (const name of ['package.json', 'dist']) {
      await cp(join(current, name), join(version, name), { recursive: true });
    }
    await symlink(join(current, 'node_modules'), join(version, 'node_modules'));
    for (const name of migrations) {
      await mkdir(join(version, 'dist/migrations', name));
      await writeFile(join(version, 'dist/migrations', name, 'migration.sql'), LATER_MIGRATIONS[name]);
    }
    const program = `const { migrate } = await import(process.argv[1]);
      console.log(JSON.stringify(await migrate(process.argv[2], JSON.parse(process.argv[3]))));`;
    const { href } = pathToFileURL(join(version, 'dist/store/index.js'));
    const args = ['--input-type=module', '-e', program, href, url, JSON.stringify(options)];
    return JSON.parse((await run(process.execPath, args)).stdout);
  }

  it.skipIf(!isCitus)(
    'keeps the layout of a cluster (needs TEST_CITUS_URL), with the option and without',
    async () => {
      await using database = await createEmptyDatabase();
      await migrate(database.url, { distributed: true });
      await using store = createStore({ url: database.url });
      const { id } = await importItems(store.datasets, { s: ['{"id":1,"type":"exact"}', '{"id":2}'] });
      const [columns, anew] = Object.keys(LATER_MIGRATIONS) as [LaterMigration, LaterMigration];

      expect(await migrateTo([columns], database.url, { distributed: true })).toEqual({
        applied: [columns],
        distributed: [],
      });
      expect(await layoutOf(database.url)).toEqual(LAYOUT);
      expect(await queryDatabase(database.url, 'SELECT later FROM items ORDER BY ordinal')).toEqual([
        { later: 'exact' },
        { later: 'freeform' },
      ]);
      expect(await queryDatabase(database.url, 'SELECT dataset_id AS id FROM later')).toEqual([{ id }]);
      // this version goes on beside the later one
      const other = await importItems(store.datasets, { s: ['{"id":3}'] });
      expect((await store.datasets.diff({ id }, other, { limit: 10 })).counts.removed).toBe(2);

      expect(await migrateTo([columns, anew], database.url, {})).toEqual({
        applied: [anew],
        distributed: ['run_differences'],
      });
      expect(await layoutOf(database.url)).toEqual(LAYOUT);
      expect((await store.datasets.get(id)).id).toBe(id);
    },
  );
});
