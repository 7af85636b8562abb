import pg from 'pg';
import { readMigrations } from '../src/migrate/migrate.ts';
import { MigrationAdapter } from '../src/migrate/migration-adapter.ts';
import { openSchemaEngine } from '../src/migrate/schema-engine.ts';

/** Applies the first migrations only, as an older version of the service did. @param wanted their names */
export async function migrateTo(url: string, wanted: readonly string[]): Promise<void> {
  const pool = new pg.Pool({ connectionString: url });
  try {
    using opened = await openSchemaEngine(new MigrationAdapter(pool));
    await opened.engine.applyMigrations({
      migrationsList: await readMigrations(wanted),
      filters: { externalTables: [], externalEnums: [] },
    });
  } finally {
    await pool.end();
  }
}
