import type pg from 'pg';
import { datasetNotFound } from '../database/dataset-row.ts';
import { isUuid, storableText } from '../database/values.ts';

/** Members to change; absent ones stay, null removes the text. */
export interface DatasetChanges {
  readonly name?: string | undefined;
  readonly description?: string | null | undefined;
  readonly notes?: string | null | undefined;
}

/** See `DatasetStore.update`. */
export async function updateDataset(pool: pg.Pool, id: string, changes: DatasetChanges): Promise<void> {
  const values: unknown[] = [id];
  // The database's clock, as for `created_at`.
  const assignments = ['updated_at = clock_timestamp()'];
  const assign = (column: string, value: unknown): void =>
    void assignments.push(`${column} = $${values.push(value)}`);
  if (changes.name !== undefined) assign('name', storableText('name', changes.name));
  for (const field of ['description', 'notes'] as const) {
    const value = changes[field];
    if (value !== undefined) assign(field, value === null ? null : storableText(field, value));
  }
  const { rowCount } = isUuid(id)
    ? await pool.query(`UPDATE datasets SET ${assignments.join(', ')} WHERE id = $1`, values)
    : { rowCount: 0 };
  if (rowCount === 0) throw datasetNotFound(id);
}
