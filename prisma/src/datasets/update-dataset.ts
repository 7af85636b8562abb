import type pg from 'pg';
import { datasetNotFound } from '../database/dataset-row.ts';
import { isUuid, storableText } from '../database/values.ts';
import { checkHandle, toHandleTaken } from '../versions/handle.ts';

/** Members to change; absent ones stay, null removes the text. */
export interface DatasetChanges {
  readonly name?: string | undefined;
  readonly handle?: string | null | undefined;
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
  if (changes.handle !== undefined) {
    if (changes.handle !== null) checkHandle(changes.handle);
    assign('handle', changes.handle);
  }
  for (const field of ['description', 'notes'] as const) {
    const value = changes[field];
    if (value !== undefined) assign(field, value === null ? null : storableText(field, value));
  }
  const { rowCount } = isUuid(id)
    ? await pool
        .query(`UPDATE datasets SET ${assignments.join(', ')} WHERE id = $1`, values)
        .catch((error: unknown) => {
          throw toHandleTaken(error, changes.handle);
        })
    : { rowCount: 0 };
  if (rowCount === 0) throw datasetNotFound(id);
}
