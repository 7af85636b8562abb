import { SET_ON_NODES } from './set-on-nodes.ts';

/**
 * Estimates of parts and CTEs are guesses: hash joins take linear time whatever there is, and the primary key gives the items
 * of a part in their order, which a bitmap does not.
 */
const AVOIDED = ['enable_nestloop', 'enable_mergejoin', 'enable_bitmapscan'];
const SET = `${SET_ON_NODES}; SET LOCAL work_mem = '64MB'; SET LOCAL jit = off; ${AVOIDED.map((name) => `SET LOCAL ${name} = off`).join('; ')}`;
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
