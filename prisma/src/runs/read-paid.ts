import type pg from 'pg';

/** Results whose requests have cost something, the model's or a judge's. */
export interface PaidResults {
  readonly asked: number;
  /** What they have cost together. */
  readonly askedCost: number;
}

/** See `RunStore.readPaid`. */
export async function readPaid(pool: pg.Pool, id: string): Promise<PaidResults> {
  const { rows } = await pool.query<PaidResults>(
    `SELECT count(*)::float8 AS asked, coalesce(sum(cost), 0) AS "askedCost" FROM run_results
     WHERE run_id = $1 AND cost > 0`,
    [id],
  );
  return rows[0] ?? { asked: 0, askedCost: 0 };
}
