import type { ResultLabel } from '@svc/jsonl-v23/internal';
import { queryOf } from '@svc/postgres';
import type pg from 'pg';
import { StoreError } from '../../database/errors.ts';
import { isUuid } from '../../database/values.ts';
import { readRunColumns } from '../read-run.ts';
import { findResult, type ResultName } from '../results/find-result.ts';
import { runNotFound } from '../run-row.ts';
import { LABEL_COLUMNS } from './label-sql.ts';
import type { StoredLabel } from './read-result-labels.ts';

/** What a person says of an output now. */
export type NewLabel = Pick<ResultLabel, 'by' | 'verdict' | 'note' | 'types'>;

interface Output {
  readonly itemHash: Buffer | null;
  readonly outputHash: Buffer | null;
}

const OUTPUT = `result.item_hash AS "itemHash", result.output_hash AS "outputHash"`;

const WRITE = `
  INSERT INTO labels AS label (item_hash, output_hash, person, verdict, note, types)
  VALUES ($1, $2, $3, $4, $5, $6::text[])
  ON CONFLICT (item_hash, output_hash, person) DO UPDATE SET verdict = excluded.verdict, note = excluded.note,
    types = excluded.types, updated_at = excluded.updated_at, imported = false
  RETURNING ${LABEL_COLUMNS('label')}`;

/** See `RunStore.setLabel`. */
export async function setLabel(
  pool: pg.Pool,
  id: string,
  result: ResultName,
  { by, verdict, note, types }: NewLabel,
): Promise<StoredLabel | null> {
  if (!isUuid(id)) throw runNotFound(id);
  const query = queryOf(pool);
  const output = await findResult<Output>(query, id, result, OUTPUT);
  if (output === undefined) {
    await readRunColumns(query, id, 'id');
    throw new StoreError('result_not_found', 'The run has no such result.');
  }
  const { itemHash, outputHash } = output;
  if (itemHash === null || outputHash === null) {
    throw new StoreError('nothing_to_label', 'The result has no output that could be labelled.');
  }
  const key = [itemHash, outputHash, by];
  if (verdict === null && note === null && types.length === 0) {
    await pool.query('DELETE FROM labels WHERE item_hash = $1 AND output_hash = $2 AND person = $3', key);
    return null;
  }
  const { rows } = await pool.query<StoredLabel>(WRITE, [...key, verdict, note, types]);
  return rows[0] as StoredLabel;
}
