import type { ResultLabel } from '@svc/jsonl-v23/internal';
import { writeAudit } from '../../audit/actor.ts';
import type { StoreContext } from '../../context.ts';
import { StoreError } from '../../database/errors.ts';
import { inTransaction } from '../../postgres/pool.ts';
import { queryOf } from '../../postgres/read-query.ts';
import { findResult, type ResultName } from '../results/items-of-results.ts';
import { readRunColumns } from '../run-row.ts';
import { LABEL_COLUMNS, type StoredLabel } from './result-labels.ts';

/** What a person says of an output now. */
export type NewLabel = Pick<ResultLabel, 'by' | 'verdict' | 'note' | 'types'>;

interface Output {
  readonly itemHash: Buffer | null;
  readonly outputHash: Buffer | null;
  readonly datasetId: string;
}

type StatedLabel = Pick<StoredLabel, 'verdict' | 'note' | 'types'>;

const OUTPUT = `result.item_hash AS "itemHash", result.output_hash AS "outputHash", run.dataset_id AS "datasetId"`;

const WRITE = `
  INSERT INTO labels AS label (item_hash, output_hash, person, verdict, note, types, dataset_id)
  VALUES ($1, $2, $3, $4, $5, $6::text[], $7)
  ON CONFLICT (item_hash, output_hash, person) DO UPDATE SET verdict = excluded.verdict, note = excluded.note,
    types = excluded.types, updated_at = excluded.updated_at, dataset_id = excluded.dataset_id, imported = false
  RETURNING ${LABEL_COLUMNS('label')}`;

/**
 * Stores what a person says of an output of an item, in whatever runs the item has it: in place of what the person said
 * before. A label without verdict, note and types is deleted.
 *
 * @throws StoreError `run_not_found`, `result_not_found`; `nothing_to_label` without an output
 */
export async function setLabel(
  { pool }: StoreContext,
  id: string,
  result: ResultName,
  { by, verdict, note, types }: NewLabel,
): Promise<StoredLabel | null> {
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
  const { section, orderIndex: order_index, repetition } = result;
  return await inTransaction(pool, async (client) => {
    // Also for a label that is not there yet: one that the person gives twice at once is one change.
    await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
      `label ${itemHash.toString('hex')} ${outputHash.toString('hex')} ${by}`,
    ]);
    const { rows: before } = await client.query<StatedLabel>(
      'SELECT verdict, note, types FROM labels WHERE item_hash = $1 AND output_hash = $2 AND person = $3',
      key,
    );
    const [old] = before;
    const audit = (action: 'label.set' | 'label.delete', members: string[]): Promise<void> =>
      writeAudit(client, action, { kind: 'run', id }, { section, order_index, repetition, members });
    if (verdict === null && note === null && types.length === 0) {
      await client.query('DELETE FROM labels WHERE item_hash = $1 AND output_hash = $2 AND person = $3', key);
      if (old !== undefined) await audit('label.delete', []);
      return null;
    }
    const members = [
      ...((old?.verdict ?? null) === verdict ? [] : ['verdict']),
      ...((old?.note ?? null) === note ? [] : ['note']),
      ...(JSON.stringify(old?.types ?? []) === JSON.stringify(types) ? [] : ['types']),
    ];
    if (members.length > 0) await audit('label.set', members);
    const { rows } = await client.query<StoredLabel>(WRITE, [...key, verdict, note, types, output.datasetId]);
    return rows[0] as StoredLabel;
  });
}
