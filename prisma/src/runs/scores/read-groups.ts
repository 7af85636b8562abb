import { type GroupScores, groupScores, type ResultSums, type Spread } from '@svc/evaluation';
import type { ReadQuery } from '@svc/postgres';
import { Parameters } from '../../database/page.ts';
import { readableJson } from '../../database/values.ts';
import { itemValue } from '../../items/item-value.ts';
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

/** Reads the sums of groups of results and computes their scores. */
export async function readGroups(
  query: ReadQuery,
  { id, repetitions, clusterBy }: SummedRun,
  statements: GroupStatements,
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
    return { kind, key, scores: groupScores(addUp(rows, spreads.get(nameOf({ kind, key }))), repetitions) };
  });
}

const COUNTS = ['results', 'ok', 'failed', 'unscored', 'scoreSum'] as const;

/**
 * The sums of a group from those of its parts.
 *
 * @param clustered how its results spread where items are clustered; undefined where each is on its own
 */
export function addUp(rows: readonly SumsRow[], clustered: ClusterRow | undefined): ResultSums {
  const sumOf = (of: (row: SumsRow) => number): number => rows.reduce((sum, row) => sum + of(row), 0);
  const sums = Object.fromEntries(COUNTS.map((name) => [name, sumOf((row) => row[name])])) as Readonly<
    Record<(typeof COUNTS)[number], number>
  >;
  return {
    ...sums,
    scored: sumOf(({ items, scored }) => items * scored),
    passed: sumOf(({ items, passes }) => items * passes),
    wrong: sumOf(({ items, wrong }) => items * wrong),
    scoredItems: sumOf(({ items, scored }) => (scored > 0 ? items : 0)),
    isBinary: rows.every(({ isBinary }) => isBinary),
    ...(clustered === undefined
      ? {
          scoreSpread: spreadOf(
            rows.map(({ items, scored, scoreMean, scoreVariance }) => {
              return { items, results: scored, mean: scoreMean ?? 0, variance: scoreVariance ?? 0 };
            }),
          ),
          // Items that are alike have the same share.
          scoredSpread: spreadOf(
            rows.map(({ items, passes, wrong }) => {
              const results = passes + wrong;
              return { items, results, mean: passes / results, variance: 0 };
            }),
          ),
          dueSpread: spreadOf(
            rows.map(({ items, tries, passes }) => {
              return { items, results: tries, mean: passes / tries, variance: 0 };
            }),
          ),
        }
      : {
          scoreSpread: {
            values: clustered.scoreValues,
            clusters: clustered.scoreClusters,
            squares: clustered.scoreSquares,
          },
          scoredSpread: {
            values: clustered.shareValues,
            clusters: clustered.shareClusters,
            squares: clustered.shareSquares,
          },
          dueSpread: {
            values: clustered.dueValues,
            clusters: clustered.dueClusters,
            squares: clustered.dueSquares,
          },
        }),
    passCounts: rows.map(({ tries, passes, items }) => ({ tries, passed: passes, items })),
  };
}

/** Items with equally many results: the mean and the variance of the items' means. */
interface ItemsAlike {
  readonly items: number;
  readonly results: number;
  readonly mean: number;
  readonly variance: number;
}

/** How results spread, those of an item together. The differences are from the mean, so that no digits cancel. */
function spreadOf(parts: readonly ItemsAlike[]): Spread {
  const counted = parts.filter(({ results }) => results > 0);
  const sumOf = (of: (part: ItemsAlike) => number): number =>
    counted.reduce((sum, part) => sum + of(part), 0);
  const values = sumOf(({ items, results }) => items * results);
  const center = sumOf(({ items, results, mean }) => items * results * mean) / values;
  return {
    values,
    clusters: sumOf(({ items }) => items),
    squares: sumOf(
      ({ items, results, mean, variance }) => items * results ** 2 * (variance + (mean - center) ** 2),
    ),
  };
}
