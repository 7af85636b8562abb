import { seesDataset } from '../../audit/actor.ts';

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

/** The columns of a label. */
export const LABEL_COLUMNS = (label: string): string =>
  `${label}.person AS by, ${label}.verdict, ${label}.note, ${label}.types, ${label}.created_at AS "createdAt",
   ${label}.updated_at AS "updatedAt", ${label}.imported`;
