import {
  type DerivedRunName,
  type FieldKind,
  RUN_FIELD_LIST,
  type RunColumns,
  type RunField,
  type RunTexts,
} from '@svc/jsonl-v23/runs';
import type pg from 'pg';
import type { StoreContext } from '../context.ts';
import { StoreError } from '../database/errors.ts';
import {
  boundedName,
  boundedText,
  isUuid,
  readableJson,
  runNotFound,
  storableText,
} from '../database/values.ts';
import { queryOf, type ReadQuery } from '../postgres/read-query.ts';

export interface Run extends RunTexts {}

export interface VersionOfRun {
  readonly datasetId: string;
  readonly version: number;
}

export const versionOf = (run: Pick<Run, 'datasetId' | 'datasetVersion'>): VersionOfRun => {
  return { datasetId: run.datasetId, version: run.datasetVersion };
};

export type RunStatus = Run['status'];

/** SQL for the results that a stored summary is of. */
export const SUMMARY_VERSION = `results_version || ':' || ok + failed + unscored`;

/** SQL for whether a run has ended, and its hash and verdict are of its results. */
const IS_PROVEN = `finished_at IS NOT NULL AND proof_of = ${SUMMARY_VERSION}`;

/** SQL for the price of the first judge of a run that has one; null without it. The configuration of an imported run may be any object. */
export const JUDGE_PRICE: string = `(SELECT coalesce(${['judge', 'scorers[*].judge', 'added_scorers[*].judge']
  .map((judge) => `jsonb_path_query_first(stated, 'lax $.${judge}.price')`)
  .join(', ')}) FROM (SELECT ${readableJson('config::json')}::jsonb AS stated) AS configuration)::text`;

/** SQL for the pass rate of a run, as `groupScores` computes it. */
export const PASS_RATE =
  'CASE WHEN passed + wrong > 0 OR scored = 0 THEN passed::float8 / nullif(passed + wrong + failed, 0) END';

/** What the store computes of a run, as SQL. */
const DERIVED: Readonly<Record<DerivedRunName, string>> = {
  done: 'ok + failed + unscored',
  runHash: `CASE WHEN ${IS_PROVEN} THEN run_hash END`,
  verdict: `CASE WHEN ${IS_PROVEN} THEN verdict END`,
  mean: 'score_sum / nullif(scored, 0)',
  summaryScorers: `CASE WHEN summary_of = ${SUMMARY_VERSION} THEN (${readableJson('summary::json')} -> 'scorers')::text END`,
  summaryScores: `CASE WHEN summary_of = ${SUMMARY_VERSION} THEN (${readableJson('summary::json')} -> 'scores')::text END`,
  addingScorers: `(adding::json -> 'names')::text`,
  passRate: PASS_RATE,
  passRateScored: 'passed::float8 / nullif(passed + wrong, 0)',
  price: `(${readableJson('config::json')} -> 'price')::text`,
  judgePrice: JUDGE_PRICE,
  resultsLeft: 'greatest(0, coalesce(results_due - results_version, total - ok - failed - unscored))',
};

const columnOf = (field: (typeof RUN_FIELD_LIST)[number]): string =>
  selected(field, DERIVED[field.name as DerivedRunName] ?? field.wire);

export const RUN_COLUMNS: string = [...Map.groupBy(RUN_FIELD_LIST, ({ group }) => group)]
  .map(([group, fields]) =>
    group === undefined
      ? fields.map((field) => `${columnOf(field)} AS "${field.name}"`).join(', ')
      : `json_build_object(${fields.map((field) => `'${field.name}', ${columnOf(field)}`).join(', ')}) AS ${group}`,
  )
  .join(', ');

function selected({ kind, maxBytes, isRequired = false }: RunField, sql: string): string {
  if (kind === 'title') return boundedName(sql);
  if (kind === 'count') return `(${sql})::float8`;
  return maxBytes === undefined ? sql : boundedText(sql, maxBytes, isRequired ? `'{}'` : 'NULL');
}

/** Columns and parameters of an insert of a run, from `$1` on. @throws StoreError `invalid_request` */
export function insertedColumns(run: RunColumns) {
  const fields = RUN_FIELD_LIST.filter(
    ({ name, isDerived = false }) => !isDerived && run[name as keyof RunColumns] !== undefined,
  );
  return {
    names: fields.map(({ wire }) => wire).join(', '),
    parameters: fields.map(({ kind }, index) => `$${index + 1}::${SQL_TYPES[kind]}`).join(', '),
    values: fields.map(({ name, wire, kind }) => {
      const value = run[name as keyof RunColumns] ?? null;
      const isText = (kind === 'text' || kind === 'title') && value !== null;
      return isText ? storableText(wire.replaceAll('_', ' '), String(value)) : value;
    }),
  };
}

export function runFinished(run: Pick<Run, 'status'>): StoreError {
  return new StoreError('run_finished', `The run has already ended: it is ${run.status}.`);
}

export const SQL_TYPES: Readonly<Record<FieldKind, string>> = {
  text: 'text',
  title: 'text',
  name: 'text',
  word: 'text',
  integer: 'int',
  count: 'bigint',
  number: 'float8',
  boolean: 'bool',
  hash: 'bytea',
  digest: 'text',
  uuid: 'uuid',
  time: 'timestamptz',
  id: 'text',
  string: 'text',
  long_string: 'text',
  json: 'text',
  object: 'text',
  names: 'text',
  scores: 'text',
  failure: 'text',
};

/**
 * Holds the row of a run until the end of the transaction. What writes results takes `FOR NO KEY UPDATE`, because a comparison
 * of the run, which refers to the row, may take long; what deletes or continues it takes `FOR UPDATE`.
 */
export type RunLock = 'FOR UPDATE' | 'FOR NO KEY UPDATE';

/** Reads some columns of a run. @throws StoreError `run_not_found` */
export async function readRunColumns<Row extends pg.QueryResultRow>(
  query: ReadQuery,
  id: string,
  columns: string,
  lock: RunLock | '' = '',
): Promise<Row> {
  const [row] = isUuid(id) ? await query<Row>(`SELECT ${columns} FROM runs WHERE id = $1 ${lock}`, [id]) : [];
  if (row === undefined) throw runNotFound(id);
  return row;
}

/** Reads a run. @throws StoreError as {@link readRunColumns} */
export async function readRun(query: ReadQuery, id: string, lock: RunLock | '' = ''): Promise<Run> {
  return await readRunColumns<Run>(query, id, RUN_COLUMNS, lock);
}

/** @throws StoreError `run_not_found` */
export async function getRun({ pool }: StoreContext, id: string): Promise<Run> {
  return await readRun(queryOf(pool), id);
}

/** Counts the results of a run whose requests have cost something, and adds up what they have cost. */
export async function readPaid({ pool }: StoreContext, id: string) {
  const { rows } = await pool.query<{ readonly asked: number; readonly askedCost: number }>(
    `SELECT count(*)::float8 AS asked, coalesce(sum(cost), 0) AS "askedCost" FROM run_results
     WHERE run_id = $1 AND cost > 0`,
    [id],
  );
  return rows[0] ?? { asked: 0, askedCost: 0 };
}

/** Which results of a run a retry replaces: nothing else changes it while the run works. */
export interface Retry {
  /** How often the run was retried. */
  readonly retries: number;
  /** The kind of results; null before the first retry. */
  readonly only: string | null;
}

/** Which results a run does again, and the version that has its items; null for an unknown run. */
export async function readRetry(query: ReadQuery, runId: string): Promise<(Retry & VersionOfRun) | null> {
  const [run] = await query<Retry & VersionOfRun>(
    `SELECT dataset_id AS "datasetId", dataset_version AS version, retries, retry_only AS only FROM runs WHERE id = $1`,
    [runId],
  );
  return run ?? null;
}

/** SQL for whether a retry replaces a result: an older one of the kind that it names. */
export function isToReplace(result: string, { retries, only }: Readonly<Record<keyof Retry, string>>) {
  return `${result}.retries < ${retries}::int AND CASE ${only}::text WHEN 'truncated' THEN ${result}.truncated
    ELSE ${result}.status = ${only}::text END`;
}
