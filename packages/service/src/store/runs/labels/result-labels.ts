import { MAX_OUTPUT_LABELS, type ResultLabel } from '@svc/jsonl-v23/runs';
import { seesDataset } from '../../audit/actor.ts';
import type { ReadQuery } from '../../postgres/read-query.ts';

/*
 * SQL about the labels of results. A label belongs to an output of an item, so a result `result` finds its labels by two
 * hashes, the primary key of `labels`; and a label finds the results of a run by the index `run_results_by_item`. The
 * planner goes from the smaller side to the other one.
 */

/** The condition that a row of `labels` is of a row `result` of `run_results`. */
export const isLabelOf = (label: string, result = 'result'): string =>
  `${label}.item_hash = ${result}.item_hash AND ${label}.output_hash = ${result}.output_hash`;

/** The condition, after others, that the actor sees a label: one that was given in a dataset that it sees. */
export function andSeesLabel(label: string): string {
  const sees = seesDataset(`${label}.dataset_id`);
  return sees === null ? '' : ` AND ${sees}`;
}

/** An order of people that no locale changes. */
export const byName = (label: string): string => `${label}.person COLLATE "C"`;

/**
 * The condition that a label of a row `result` has the newest verdict on it. As one expression of both rows it is evaluated
 * only for labels that were found, and not for each result.
 */
export const isNewestVerdict = (label: string, result = 'result'): string => `(
    SELECT newest.person = ${label}.person FROM labels newest WHERE ${isLabelOf('newest', result)} AND newest.verdict IS NOT NULL${andSeesLabel('newest')}
    ORDER BY newest.updated_at DESC, ${byName('newest')} LIMIT 1)`;

/** Bytes of a label besides its note and types, as JSON. */
const LABEL_BYTES = 300;

/** About as many bytes as a label takes as JSON. */
export const bytesOfLabel = (label: string): string =>
  `(coalesce(octet_length(${label}.note), 0) + octet_length(${label}.types::text) + ${LABEL_BYTES})::bigint`;

export const LABEL_COLUMNS = (label: string): string =>
  `${label}.person AS by, ${label}.verdict, ${label}.note, ${label}.types, ${label}.created_at AS "createdAt",
   ${label}.updated_at AS "updatedAt", ${label}.imported`;

export interface StoredLabel extends ResultLabel {
  /** Whether it came with a package, which states whose it is. */
  readonly imported: boolean;
}

/** What finds the labels of a result. */
interface Labelled {
  readonly itemHash: Uint8Array | null;
  readonly outputHash: Uint8Array | null;
}

/** Labels of some results together; one result may have more. */
const MAX_BYTES = 4 * 1024 * 1024;

/** $1 and $2 the hashes of items and outputs. A label that does not fit has neither note nor types. */
const labelsSql = (): string => `
  SELECT place::int AS place, fits, person AS by, verdict, CASE WHEN fits THEN note END AS note,
    CASE WHEN fits THEN types END AS types, created_at AS "createdAt", updated_at AS "updatedAt", imported
  FROM (
    SELECT found.*, sum(bytes) OVER (ORDER BY place) <= ${MAX_BYTES} OR place = min(place) OVER () AS fits
    FROM (
      SELECT wanted.place, l.*, ${bytesOfLabel('l')} AS bytes
      FROM unnest($1::bytea[], $2::bytea[]) WITH ORDINALITY AS wanted (item_hash, output_hash, place)
        CROSS JOIN LATERAL (
          SELECT * FROM labels one WHERE ${isLabelOf('one', 'wanted')}${andSeesLabel('one')}
          ORDER BY one.updated_at DESC, ${byName('one')} LIMIT ${MAX_OUTPUT_LABELS}
        ) AS l
    ) AS found
  ) AS label
  ORDER BY place, updated_at DESC, ${byName('label')}`;

type LabelRow = StoredLabel & { readonly place: number; readonly fits: boolean };

/** Reads the labels of results: of as many results as fit into a page, and one at least. */
export async function readResultLabels<T extends Labelled>(
  query: ReadQuery,
  results: readonly T[],
): Promise<readonly (T & { readonly labels: readonly StoredLabel[] })[]> {
  if (results.length === 0) return [];
  const rows = await query<LabelRow>(labelsSql(), [
    results.map(({ itemHash }) => itemHash),
    results.map(({ outputHash }) => outputHash),
  ]);
  const labels = Map.groupBy(rows, ({ place }) => place);
  const end = rows.find(({ fits }) => !fits)?.place ?? results.length + 1;
  return results
    .slice(0, end - 1)
    .map((result, index) => ({ ...result, labels: (labels.get(index + 1) ?? []).map(toLabel) }));
}

function toLabel({ by, verdict, note, types, createdAt, updatedAt, imported }: LabelRow): StoredLabel {
  return { by, verdict, note, types, createdAt, updatedAt, imported };
}
