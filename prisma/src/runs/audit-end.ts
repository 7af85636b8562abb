import type pg from 'pg';
import { writeAudit } from '../audit/write-audit.ts';

/** Writes that a run has ended, with its counts. What only tries a configuration is no change. */
export async function auditEnd(client: pg.ClientBase, id: string): Promise<void> {
  const { rows } = await client.query<{ status: string; ok: number; failed: number; unscored: number }>(
    `SELECT status, ok::float8, failed::float8, unscored::float8 FROM runs WHERE id = $1 AND NOT is_trial`,
    [id],
  );
  const [run] = rows;
  if (run !== undefined) await writeAudit(client, 'run.finish', { kind: 'run', id }, { ...run });
}
