import type pg from 'pg';

/**
 * Notes the parts of a dataset, whose rows this transaction deletes. Nothing shows their items from then on, because every
 * read begins with a version; `collectParts` removes them when the transaction has committed.
 */
export async function releaseParts(client: pg.ClientBase, datasetId: string): Promise<void> {
  await client.query('INSERT INTO loose_parts (part_id) SELECT id FROM parts WHERE dataset_id = $1', [
    datasetId,
  ]);
}
