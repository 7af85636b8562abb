import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { queryDatabase } from '../../test/query-database.ts';
import { createTestDatabase, type TestDatabase } from '../../test/template-db.ts';
import { DISTRIBUTED_TABLES } from './distribute.ts';
import { migrate } from './migrate.ts';

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

describe('migrate with `distributed`', () => {
  const isCitus = (process.env['TEST_CITUS_URL'] ?? '') !== '';

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
    const tables = 'SELECT logicalrelid::text AS name, colocationid AS at FROM pg_dist_partition ORDER BY 1';
    const rows = (await query(tables)) as { readonly name: string; readonly at: number }[];
    expect(rows.map(({ name }) => name)).toEqual(Object.keys(DISTRIBUTED_TABLES).sort());
    expect(new Set(rows.map(({ at }) => at)).size).toBe(2);
  });
});
