import type pg from 'pg';
import { keyColumns } from '../run-results.ts';
import type { ImportedResult } from '../write/written-result.ts';

/**
 * $1 the run, then the members of labels, and the dataset. Types pass as JSON, since a parameter with arrays of arrays would be one long
 * array. No package can change what a person said here, nor say it in the future.
 */
const INSERT = `
  INSERT INTO labels (item_hash, output_hash, person, verdict, note, types, created_at, updated_at, imported, dataset_id)
  SELECT result.item_hash, result.output_hash, stated.person, stated.verdict, stated.note,
    ARRAY(SELECT json_array_elements_text(stated.types::json)), least(stated.created_at, now()), least(stated.updated_at, now()), true, $11::uuid
  FROM unnest($2::int[], $3::int[], $4::int[], $5::text[], $6::text[], $7::text[], $8::text[], $9::timestamptz[], $10::timestamptz[])
      AS stated (section, item, repetition, person, verdict, note, types, created_at, updated_at)
    JOIN run_results result ON result.run_id = $1 AND result.section_order_index = stated.section
      AND result.order_index = stated.item AND result.repetition = stated.repetition
  WHERE result.item_hash IS NOT NULL AND result.output_hash IS NOT NULL
  ORDER BY 1, 2, 3
  ON CONFLICT (item_hash, output_hash, person) DO NOTHING`;

/** Stores the labels of results that a package brings, where their people have said nothing of the outputs yet. */
export async function insertLabels(
  client: pg.ClientBase,
  { runId, datasetId }: { readonly runId: string; readonly datasetId: string },
  results: readonly ImportedResult[],
): Promise<void> {
  const stated = results.flatMap((result) => (result.labels ?? []).map((label) => ({ ...result, ...label })));
  if (stated.length === 0) return;
  await client.query(INSERT, [
    runId,
    ...keyColumns(stated),
    stated.map(({ by }) => by),
    stated.map(({ verdict }) => verdict),
    stated.map(({ note }) => note),
    stated.map(({ types }) => JSON.stringify(types)),
    stated.map(({ createdAt }) => createdAt),
    stated.map(({ updatedAt }) => updatedAt),
    datasetId,
  ]);
}
