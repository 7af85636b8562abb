/** Begins a transaction that only reads, and sees the database as it is at its first statement. */
export const SNAPSHOT = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

/** For statements that add up or join many rows: sorts and hashes in memory, and nothing to compile. */
export const LARGE_JOINS = "SET LOCAL work_mem = '64MB'; SET LOCAL jit = off";

/** Makes Citus apply what a transaction sets on its nodes too; it means nothing to other servers. */
export const SET_ON_NODES = "SET LOCAL citus.propagate_set_commands = 'local'";

/**
 * Estimates of parts and CTEs are guesses: hash joins take linear time whatever there is, and the primary key gives the items
 * of a part in their order, which a bitmap does not.
 */
const AVOIDED = ['enable_nestloop', 'enable_mergejoin', 'enable_bitmapscan'];
const SET = `${SET_ON_NODES}; ${LARGE_JOINS}; ${AVOIDED.map((name) => `SET LOCAL ${name} = off`).join('; ')}`;
const RESET = ['work_mem', 'jit', ...AVOIDED].map((name) => `SET LOCAL ${name} TO DEFAULT`).join('; ');

/**
 * Runs statements of a transaction whose joins are hash joins, wherever they can be.
 *
 * @param query runs statements of the transaction
 */
export async function withHashJoins<T>(
  query: (sql: string) => Promise<unknown>,
  work: () => Promise<T>,
): Promise<T> {
  await query(SET);
  const result = await work();
  await query(RESET);
  return result;
}
