import { auditEnd } from '../../audit/actor.ts';
import type { StoreContext } from '../../context.ts';
import { StoreError } from '../../database/errors.ts';
import { inTransaction } from '../../postgres/pool.ts';
import { countLacking, queueScorers, toAdding } from '../adding-scorers.ts';
import { concludeRun } from '../prove-run.ts';
import { RUN_COLUMNS, type Run, type RunRow, runFinished, toRun } from '../run-row.ts';
import { deleteClaims } from './claims.ts';
import { readExternal } from './lock-external.ts';

/** See `RunStore.finish`. */
export async function finishRun(
  context: Pick<StoreContext, 'pool' | 'maxItemBytes'>,
  id: string,
  { allowMissing, judges }: { readonly allowMissing: boolean; readonly judges: readonly string[] },
): Promise<Run> {
  const { pool } = context;
  const before = await readExternal(pool, id);
  // So that the run has its scores when it has ended.
  if (before.finishedAt === null) await concludeRun(context, id, { isEnding: true });
  return await inTransaction(pool, async (client) => {
    const run = await readExternal(client, id, 'FOR UPDATE');
    // The judges score its outputs already.
    if (run.status === 'completed' || (run.addingScorers !== null && run.finishedAt === null)) return run;
    if (run.finishedAt !== null) throw runFinished(run);
    const missing = run.resultsLeft;
    if (missing > 0 && !allowMissing) {
      const message = `Cannot finish the run: ${missing} of ${run.counts.total} results are missing.`;
      throw new StoreError('run_incomplete', message, { missing });
    }
    await deleteClaims(client, id);
    const due = judges.length === 0 ? 0 : await countLacking(client, id, toAdding(run.config, judges));
    if (due > 0) return await queueScorers(client, run, { names: judges, due, status: 'completed' });
    const { rows } = await client.query<RunRow>(
      `UPDATE runs SET status = 'completed', finished_at = clock_timestamp() WHERE id = $1 RETURNING ${RUN_COLUMNS}`,
      [id],
    );
    await auditEnd(client, id);
    return toRun(rows[0] as RunRow);
  });
}
