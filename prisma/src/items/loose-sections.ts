import type pg from 'pg';

/**
 * Notes the sections of a dataset, whose rows this transaction deletes. Nothing shows their items from then on, because every
 * read begins with rows of `sections`; `collectSections` removes them when the transaction has committed.
 */
export async function releaseSections(client: pg.ClientBase, datasetId: string): Promise<void> {
  await client.query(
    'INSERT INTO loose_sections (section_id) SELECT id FROM sections WHERE dataset_id = $1',
    [datasetId],
  );
}
