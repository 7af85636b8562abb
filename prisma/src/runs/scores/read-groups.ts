import { addUp, type GroupScores, groupScores } from '@svc/evaluation';
import { Parameters } from '../../database/page.ts';
import { readableJson } from '../../database/values.ts';
import { itemValue } from '../../items/item-value.ts';
import type { ReadQuery } from '../../postgres/read-query.ts';
import type { ClusterRow, SumsRow } from './summary-sql.ts';

/** A run whose results are added up. */
export interface SummedRun {
  readonly id: string;
  readonly repetitions: number;
  /** JSON Pointer of the value that clusters items; null where each is on its own. */
  readonly clusterBy: string | null;
}

/** SQL for the pointer that clusters the items of a run. A configuration of a package may be any object. */
export const CLUSTER_BY: string = `(
    SELECT CASE WHEN json_typeof(value) = 'string' AND value #>> '{}' ~ '^/' AND octet_length(value::text) <= 1024
      THEN value #>> '{}' END
    FROM (SELECT ${readableJson('config::json')} -> 'cluster_by' AS value) AS stated
  )`;

/** The scores of results that belong together. */
export interface ScoredGroup extends Pick<SumsRow, 'kind' | 'key'> {
  readonly scores: GroupScores;
}

/** Statements about groups of results, whose first parameter is the run. */
interface GroupStatements {
  /** SQL for rows of `SumsRow`, those of a group together. */
  sums(add: Parameters['add']): string;
  /** SQL for rows of `ClusterRow`, given SQL for the value that clusters items; the second parameter is the groups. */
  spreads(value: string, add: Parameters['add']): string;
}

/** Reads the sums of groups of results and computes their scores. @param confidence of their intervals, by default 95 % */
export async function readGroups(
  query: ReadQuery,
  { id, repetitions, clusterBy }: SummedRun,
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
