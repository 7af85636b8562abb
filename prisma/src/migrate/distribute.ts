import type pg from 'pg';
import { StoreError } from '../database/errors.ts';

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

/**
 * Spreads the large tables over the nodes of Citus: those that are not spread yet, with the rows that they have.
 *
 * @returns their names
 * @throws StoreError `database_unsupported` for a server without Citus, or one that is not the coordinator
 */
export async function distribute(pool: pg.Pool): Promise<string[]> {
  await checkCitus(pool);
  const { rows } = await pool.query<{ name: string }>(
    'SELECT logicalrelid::text AS name FROM pg_dist_partition',
  );
  const there = new Set(rows.map(({ name }) => name));
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

/** Whether the large tables, or some of them, are on the nodes of a cluster. */
export async function isDistributed(pool: pg.Pool): Promise<boolean> {
  const { rowCount: hasCitus } = await pool.query(
    "SELECT WHERE to_regclass('pg_dist_partition') IS NOT NULL",
  );
  if (Number(hasCitus) === 0) return false;
  const { rowCount } = await pool.query(
    'SELECT FROM pg_dist_partition WHERE logicalrelid::text = ANY ($1) LIMIT 1',
    [Object.keys(DISTRIBUTED_TABLES)],
  );
  return Number(rowCount) > 0;
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
