import type pg from 'pg';
import { StoreError } from '../../database/errors.ts';
import { boundedText, readableJson } from '../../database/values.ts';
import { itemValue } from '../../items/item-value.ts';
import type { ReadQuery } from '../../postgres/read-query.ts';
import { readJoinedVersion, versionOf } from '../read-items-at.ts';
import { JUDGE_PRICE, runNotFound } from '../run-row.ts';
import { scorerNumber } from '../write/scorer-names.ts';
import type { PairBy, Pairing, PairMetric } from './compare-sql.ts';
import { SUMMED_RUN, type SummedRun } from './read-groups.ts';

/** Changes with the members of `StoredSums`, so that no others are read. */
const STORED_FORMAT = 4;

/** Larger configurations are not compared on the main thread. */
const MAX_CONFIG_BYTES = 262_144;

export interface ComparedRun extends SummedRun {
  readonly datasetHash: string;
  readonly scored: number;
  readonly config: string | null;
  readonly price: string | null;
  readonly judgePrice: string | null;
}

/** Which results a comparison is of, and how items pair. */
export interface ComparisonState {
  readonly runs: readonly [ComparedRun, ComparedRun];
  readonly comparisonOf: string;
  readonly clusterBy: string | null;
  readonly scorers: readonly [number | null, number | null];
  readonly metric: PairMetric;
}

/** By what two runs are compared. */
export interface ComparedBy {
  /** JSON Pointer of the value that clusters items, or `none`; by default the pointer of both runs. */
  readonly clusterBy?: string | undefined;
  /** Name of the scorer of both runs; the main ones without it. */
  readonly scorer?: string | undefined;
  /** Default: `mean`. */
  readonly metric?: PairMetric | undefined;
}

/** How the items of both runs pair. @param add adds a value to the statement and gives its placeholder */
export async function pairingOf(
  query: ReadQuery,
  { runs: [run, other], clusterBy, scorers, metric }: ComparisonState,
  pairBy: PairBy,
  add: (value: unknown) => string,
): Promise<Pairing> {
  return {
    pairBy,
    metric,
    scorers,
    versions: [
      await readJoinedVersion(query, versionOf(run)),
      await readJoinedVersion(query, versionOf(other)),
    ],
    haveEqualItems: run.datasetHash === other.datasetHash,
    clusterValue: clusterBy === null ? null : itemValue(clusterBy, add),
  };
}

/** @throws StoreError `run_not_found`; `invalid_request` if the runs are clustered by different values */
export async function stateOf(
  client: pg.Pool | pg.ClientBase,
  id: string,
  otherId: string,
  { clusterBy: wanted, scorer, metric = 'mean' }: ComparedBy,
): Promise<ComparisonState> {
  const { rows } = await client.query<ComparedRun>(
    `SELECT ${SUMMED_RUN}, version_hash AS "datasetHash", scored, ${boundedText('config', MAX_CONFIG_BYTES)} AS config,
       (${readableJson('config::json')} -> 'price')::text AS price,
       ${JUDGE_PRICE} AS "judgePrice"
     FROM runs JOIN versions v ON v.dataset_id = runs.dataset_id AND v.version = runs.dataset_version
     WHERE runs.id IN ($1, $2)`,
    [id, otherId],
  );
  const [run, other] = [id, otherId].map((one) => {
    const found = rows.find((row) => row.id === one.toLowerCase());
    if (found === undefined) throw runNotFound(one);
    return found;
  }) as [ComparedRun, ComparedRun];
  if (wanted === undefined && run.clusterBy !== other.clusterBy) {
    const [one, two] = [run, other].map(({ clusterBy }) => clusterBy ?? 'none');
    const message = `cluster_by must be given, since the runs differ in it: ${one} and ${two}.`;
    throw new StoreError('invalid_request', message, { path: 'cluster_by' });
  }
  const clusterBy = wanted === undefined ? run.clusterBy : wanted === 'none' ? null : wanted;
  const comparisonOf = JSON.stringify([STORED_FORMAT, run.version, other.version, clusterBy]);
  const numberIn = ({ scorerNames }: ComparedRun): number | null =>
    scorer === undefined ? null : scorerNumber(scorerNames, scorer);
  const scorers = [numberIn(run), numberIn(other)] as const;
  return { runs: [run, other], comparisonOf, clusterBy, scorers, metric };
}
