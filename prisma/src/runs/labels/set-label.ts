import type { ResultLabel } from '@svc/jsonl-v23/internal';
import type pg from 'pg';
import { StoreError } from '../../database/errors.ts';
import { isUuid, searchableText } from '../../database/values.ts';
import { ofRun } from '../../items/version-sql.ts';
import type { ResultName } from '../results/item-of-result.ts';
import { runNotFound } from '../run-row.ts';
import { LABEL_COLUMNS } from './label-sql.ts';
import type { StoredLabel } from './read-result-labels.ts';

/** What a person says of an output now. */
export type NewLabel = Pick<ResultLabel, 'by' | 'verdict' | 'note' | 'types'>;

const OUTPUT = `
  SELECT result.item_hash AS "itemHash", result.output_hash AS "outputHash"
  FROM runs run JOIN version_sections s ON ${ofRun('run')} AND s.name = $2
    JOIN run_results result ON result.run_id = run.id AND result.section_order_index = s.order_index
      AND result.order_index = $3::int AND result.repetition = $4::int
  WHERE run.id = $1 ORDER BY s.order_index LIMIT 1`;

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
  { section, orderIndex, repetition }: ResultName,
  { by, verdict, note, types }: NewLabel,
): Promise<StoredLabel | null> {
  if (!isUuid(id)) throw runNotFound(id);
  const wanted = [id, searchableText(section), orderIndex, repetition];
  const found = await pool.query<{ itemHash: Buffer | null; outputHash: Buffer | null }>(OUTPUT, wanted);
  const [output] = found.rows;
  if (output === undefined) {
    const { rowCount } = await pool.query('SELECT 1 FROM runs WHERE id = $1', [id]);
    if (rowCount === 0) throw runNotFound(id);
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
