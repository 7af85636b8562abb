import type pg from 'pg';
import { StoreError } from '../database/errors.ts';

/*
 * Items of a section may be committed before its row is, and remain after its row is gone. Nothing shows them then, because
 * every read begins with rows of `sections`. A row of `loose_sections` names such a section until the transaction that
 * inserts or deletes its row has ended, so that no crash leaves items behind: see `collectSections`.
 */

/** Notes a section whose items other transactions will copy, before and apart from them. */
export async function addLooseSection(
  pool: pg.Pool,
  sectionId: string,
  transactionId: string,
): Promise<void> {
  await pool.query('INSERT INTO loose_sections (section_id, transaction_id) VALUES ($1, $2)', [
    sectionId,
    transactionId,
  ]);
}

/**
 * Keeps the items of a noted section from being removed until this transaction ends.
 *
 * @throws StoreError `unavailable` if they were removed
 */
export async function holdLooseSection(client: pg.ClientBase, sectionId: string): Promise<void> {
  const { rowCount } = await client.query('SELECT FROM loose_sections WHERE section_id = $1 FOR KEY SHARE', [
    sectionId,
  ]);
  if (rowCount === 0) throw isGone();
}

/**
 * Keeps the items of noted sections for good, once the transaction that inserts their rows commits.
 *
 * @throws StoreError `unavailable` if some were removed
 */
export async function keepSections(client: pg.ClientBase, sectionIds: readonly string[]): Promise<void> {
  const { rowCount } = await client.query('DELETE FROM loose_sections WHERE section_id = ANY ($1::uuid[])', [
    sectionIds,
  ]);
  if (rowCount !== sectionIds.length) throw isGone();
}

/** Notes the sections of a dataset, whose rows this transaction deletes. */
export async function releaseSections(client: pg.ClientBase, datasetId: string): Promise<void> {
  await client.query(
    `INSERT INTO loose_sections (section_id, transaction_id)
     SELECT id, pg_current_xact_id()::text::bigint FROM sections WHERE dataset_id = $1`,
    [datasetId],
  );
}

const isGone = (): StoreError =>
  new StoreError('unavailable', 'Cannot finish the import: its first transaction has ended.');
