import { addUp, type GroupScores, groupScores } from '@svc/evaluation';
import { Parameters } from '../../database/page.ts';
import { readableJson } from '../../database/values.ts';
import { itemValue } from '../../items/item-value.ts';
import type { ReadQuery } from '../../postgres/read-query.ts';
import { SUMMARY_VERSION } from '../run-row.ts';
import type { ClusterRow, SumsRow } from './summary-sql.ts';

/** A run whose results are added up, as {@link SUMMED_RUN} reads it. */
export interface SummedRun {
  readonly id: string;
  readonly datasetId: string;
  readonly datasetVersion: number;
  readonly repetitions: number;
  /** Whether an item may have several results: a run of a package may have more than it states. */
  readonly isRepeated: boolean;
  /** JSON Pointer of the value that clusters items; null if each is on its own. */
  readonly clusterBy: string | null;
  /** JSON text of an array; null without any. */
  readonly scorerNames: string | null;
  /** Changes with the results. */
  readonly version: string;
  /** Results that the run has, as it counts them. */
  readonly counted: number;
}

/** SQL for the pointer that clusters the items of a run. A configuration of a package may be any object. */
const CLUSTER_BY: string = `(
    SELECT CASE WHEN json_typeof(value) = 'string' AND value #>> '{}' ~ '^/' AND octet_length(value::text) <= 1024
      THEN value #>> '{}' END
    FROM (SELECT ${readableJson('config::json')} -> 'cluster_by' AS value) AS stated
  )`;

/** The columns of a {@link SummedRun}. */
export const SUMMED_RUN: string = `runs.id, runs.dataset_id AS "datasetId", dataset_version AS "datasetVersion", repetitions,
  repetitions > 1 OR imported AS "isRepeated", ${CLUSTER_BY} AS "clusterBy", scorer_names AS "scorerNames",
  ${SUMMARY_VERSION} AS version, ok + failed + unscored AS counted`;

/** The scores of results that belong together. */
export interface ScoredGroup extends Pick<SumsRow, 'kind' | 'key'> {
  readonly scores: GroupScores;
}

/** Statements about groups of results, whose first parameter is the run. */
interface GroupStatements {
  /** SQL for rows of `SumsRow`, the rows of a group together. */
  sums(add: Parameters['add']): string;
  /** SQL for rows of `ClusterRow`, given SQL for the value that clusters items; the second parameter is the groups. */
  spreads(value: string, add: Parameters['add']): string;
}

/** Reads the sums of groups of results and computes their scores. @param confidence of their intervals, by default 95 % */
export async function readGroups(
  query: ReadQuery,
  { id, repetitions, clusterBy }: Pick<SummedRun, 'id' | 'repetitions' | 'clusterBy'>,
  statements: GroupStatements,
  confidence?: number,
): Promise<readonly ScoredGroup[]> {
  const groups: { readonly kind: SumsRow['kind']; readonly key: string; readonly rows: SumsRow[] }[] = [];
  const summed = new Parameters([id]);
  for (const row of await query<SumsRow>(statements.sums(summed.add), summed.values)) {
    const last = groups.at(-1);
    if (last?.kind === row.kind && last.key === row.key) last.rows.push(row);
    else groups.push({ kind: row.kind, key: row.key, rows: [row] });
  }
  const nameOf = ({ kind, key }: Pick<SumsRow, 'kind' | 'key'>): string => `${kind} ${key}`;
  const spreads = new Map<string, ClusterRow>();
  if (clusterBy !== null && groups.length > 0) {
    const parameters = new Parameters([id, groups.map(nameOf)]);
    const sql = statements.spreads(itemValue(clusterBy, parameters.add), parameters.add);
    for (const row of await query<ClusterRow>(sql, parameters.values)) spreads.set(nameOf(row), row);
  }
  return groups.map(({ kind, key, rows }) => {
    const sums = addUp(rows, spreads.get(nameOf({ kind, key })));
    return { kind, key, scores: groupScores(sums, repetitions, confidence) };
  });
}
