import { inTransaction } from '@svc/postgres';
import type pg from 'pg';
import { writeAudit } from '../audit/write-audit.ts';
import { datasetNotFound } from '../database/dataset-row.ts';
import { isUuid } from '../database/values.ts';

/** See `DatasetStore.delete`. */
export async function deleteDataset(pool: pg.Pool, id: string): Promise<void> {
  if (!isUuid(id)) throw datasetNotFound(id);
  await inTransaction(pool, async (client) => {
    // Lock the row first: a request that adds a run to the dataset waits, and then does not find it.
    const { rowCount } = await client.query('SELECT FROM datasets WHERE id = $1 FOR UPDATE', [id]);
    if (rowCount === 0) throw datasetNotFound(id);
    const { rows } = await client.query<{ versions: number; runs: number }>(
      `SELECT version_count AS versions, (SELECT count(*)::int FROM runs WHERE dataset_id = $1 AND NOT is_trial) AS runs
       FROM datasets WHERE id = $1`,
      [id],
    );
    await writeAudit(client, 'dataset.delete', { kind: 'dataset', id }, { ...rows[0] });
    // Nothing shows its items without its versions. They are removed later: however many they are, it takes as long.
    await client.query('INSERT INTO loose_parts (part_id) SELECT id FROM parts WHERE dataset_id = $1', [id]);
    // Workers of its runs stop immediately instead of at their next check.
    await client.query(
      `SELECT pg_notify('svc_cancel', id::text) FROM runs WHERE dataset_id = $1 AND finished_at IS NULL`,
      [id],
    );
    await client.query('DELETE FROM datasets WHERE id = $1', [id]);
  });
}
