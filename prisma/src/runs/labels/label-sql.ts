/*
 * SQL about the labels of results. A label belongs to an output of an item, so a result `result` finds its labels by two
 * hashes, the primary key of `labels`; and a label finds the results of a run by the index `run_results_by_output`. The
 * planner goes from the smaller side to the other one.
 */

/** The condition that a row of `labels` is of a row `result` of `run_results`. */
export const isLabelOf = (label: string, result = 'result'): string =>
  `${label}.item_hash = ${result}.item_hash AND ${label}.output_hash = ${result}.output_hash`;

/** An order of people that no locale changes. */
export const byName = (label: string): string => `${label}.person COLLATE "C"`;

/** The condition that no other person has given a newer verdict. */
export const isNewestVerdict = (label: string): string => `NOT EXISTS (
    SELECT FROM labels newer WHERE ${isLabelOf('newer', label)} AND newer.verdict IS NOT NULL
      AND (newer.updated_at, ${byName('newer')}) > (${label}.updated_at, ${byName(label)}))`;

/** Bytes of a label besides its note and types, as JSON. */
const LABEL_BYTES = 300;

/** About as many bytes as a label takes as JSON. */
export const bytesOfLabel = (label: string): string =>
  `(coalesce(octet_length(${label}.note), 0) + octet_length(${label}.types::text) + ${LABEL_BYTES})::bigint`;

/** The columns of a label. */
export const LABEL_COLUMNS = (label: string): string =>
  `${label}.person AS by, ${label}.verdict, ${label}.note, ${label}.types, ${label}.created_at AS "createdAt",
   ${label}.updated_at AS "updatedAt", ${label}.imported`;
