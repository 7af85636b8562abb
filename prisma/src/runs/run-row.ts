import { StoreError } from '../database/errors.ts';
import { boundedName, boundedText } from '../database/item-size.ts';
import { readableJson } from '../database/values.ts';

export type RunStatus = 'queued' | 'running' | 'completed' | 'failed' | 'cancelling' | 'cancelled';

/** A stored run. */
export interface Run {
  readonly id: string;
  readonly datasetId: string;
  readonly datasetVersionHash: string;
  readonly name: string | null;
  readonly status: RunStatus;
  /** Sanitised configuration, JSON text. */
  readonly config: string;
  readonly repetitions: number;
  readonly counts: {
    readonly total: number;
    readonly done: number;
    readonly ok: number;
    readonly failed: number;
    readonly unscored: number;
  };
  readonly scores: {
    /** Null until there is a score. */
    readonly mean: number | null;
    /** Of the mean, as the stored summary has it; null below two items, and while there is no summary of these results. */
    readonly stderr: number | null;
    readonly passed: number;
    /** Passed among those that should have been scored: a failed request has not passed. Null without one. */
    readonly passRate: number | null;
    /** Passed among those that have a score; null until there is one. */
    readonly passRateScored: number | null;
  };
  /** `{"code", "message"}` as JSON text. */
  readonly error: string | null;
  readonly requestId: string | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly cancelRequestedAt: Date | null;
  /** Whether it came with a package. */
  readonly imported: boolean;
  /** Its id in that package. */
  readonly originId: string | null;
  /** What was promised before it started, JSON text; null for runs of older versions and of packages. */
  readonly plan: string | null;
  /** JSON text of an array of `{code, message}`; null as for `plan`. */
  readonly warnings: string | null;
  /** Whether it runs some of the items only. */
  readonly hasSelection: boolean;
  /** The run whose outputs it scores again. */
  readonly sourceRunId: string | null;
  /** How often it was retried. */
  readonly retries: number;
  /** Results whose output was cut at the token limit. */
  readonly truncated: number;
  readonly usage: RunUsage;
  /** `price` of the configuration, JSON text; null without one. */
  readonly price: string | null;
  /** The same of its judge. */
  readonly judgePrice: string | null;
  /** Results that were ever written, and those that are still to be written. */
  readonly resultsWritten: number;
  readonly resultsLeft: number;
}

/** Tokens of all results of a run. */
export interface RunUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly judgeInputTokens: number;
  readonly judgeOutputTokens: number;
}

/** More than a request body may have: a safeguard, not the limit of requests. */
const MAX_CONFIG_BYTES = 16 * 1024 * 1024;

/** SQL for the results that a stored summary is of. */
export const SUMMARY_VERSION = `results_version || ':' || ok + failed + unscored`;

/** The columns of a run under the names of {@link RunRow}. */
export const RUN_COLUMNS: string = `id, dataset_id AS "datasetId", dataset_version_hash AS "datasetVersionHash",
  ${boundedName('name')} AS name, status, ${boundedText('config', MAX_CONFIG_BYTES, `'{}'`)} AS config, repetitions, total,
  ok, failed, unscored, scored, score_sum AS "scoreSum", passed, ${boundedText('error', 65_536)} AS error,
  ${boundedText('request_id', 16_384)} AS "requestId", created_at AS "createdAt", started_at AS "startedAt", finished_at AS "finishedAt",
  cancel_requested_at AS "cancelRequestedAt", imported, origin_id AS "originId", ${boundedText('plan', 65_536)} AS plan,
  ${boundedText('warnings', 65_536)} AS warnings, has_selection AS "hasSelection", source_run_id AS "sourceRunId", retries,
  truncated, input_tokens::float8 AS "inputTokens", output_tokens::float8 AS "outputTokens",
  judge_input_tokens::float8 AS "judgeInputTokens", judge_output_tokens::float8 AS "judgeOutputTokens", ${boundedText(`(${readableJson('config::json')} -> 'price')::text`, 1_000)} AS price,
  ${boundedText(`(${readableJson('config::json')} #> '{judge,price}')::text`, 1_000)} AS "judgePrice",
  CASE WHEN summary_of = ${SUMMARY_VERSION}
    THEN (${readableJson('summary::json')} #>> '{scores,stderr}')::float8 END AS stderr,
  results_version::float8 AS "resultsVersion", results_due::float8 AS "resultsDue"`;

export interface RunRow {
  readonly id: string;
  readonly datasetId: string;
  readonly datasetVersionHash: string;
  readonly name: string | null;
  readonly status: string;
  readonly config: string;
  readonly repetitions: number;
  readonly total: number;
  readonly ok: number;
  readonly failed: number;
  readonly unscored: number;
  readonly scored: number;
  readonly scoreSum: number;
  readonly passed: number;
  readonly error: string | null;
  readonly requestId: string | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly cancelRequestedAt: Date | null;
  readonly imported: boolean;
  readonly originId: string | null;
  readonly plan: string | null;
  readonly warnings: string | null;
  readonly hasSelection: boolean;
  readonly sourceRunId: string | null;
  readonly retries: number;
  readonly truncated: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly judgeInputTokens: number;
  readonly judgeOutputTokens: number;
  readonly price: string | null;
  readonly judgePrice: string | null;
  readonly stderr: number | null;
  readonly resultsVersion: number;
  readonly resultsDue: number | null;
}

export function toRun(row: RunRow): Run {
  const { total, ok, failed, unscored, scored, scoreSum, passed } = row;
  return {
    id: row.id,
    datasetId: row.datasetId,
    datasetVersionHash: row.datasetVersionHash,
    name: row.name,
    status: row.status as RunStatus,
    config: row.config,
    repetitions: row.repetitions,
    counts: { total, done: ok + failed + unscored, ok, failed, unscored },
    scores: {
      mean: scored === 0 ? null : scoreSum / scored,
      stderr: row.stderr,
      passed,
      passRate: ok + failed === 0 ? null : passed / (ok + failed),
      passRateScored: scored === 0 ? null : passed / scored,
    },
    error: row.error,
    requestId: row.requestId,
    createdAt: row.createdAt,
    startedAt: row.startedAt,
    finishedAt: row.finishedAt,
    cancelRequestedAt: row.cancelRequestedAt,
    imported: row.imported,
    originId: row.originId,
    plan: row.plan,
    warnings: row.warnings,
    hasSelection: row.hasSelection,
    sourceRunId: row.sourceRunId,
    retries: row.retries,
    truncated: row.truncated,
    usage: {
      inputTokens: row.inputTokens,
      outputTokens: row.outputTokens,
      judgeInputTokens: row.judgeInputTokens,
      judgeOutputTokens: row.judgeOutputTokens,
    },
    price: row.price,
    judgePrice: row.judgePrice,
    resultsWritten: row.resultsVersion,
    resultsLeft: Math.max(
      0,
      row.resultsDue === null ? total - ok - failed - unscored : row.resultsDue - row.resultsVersion,
    ),
  };
}

export function runNotFound(id: string): StoreError {
  const shown = id.length > 100 ? `${id.slice(0, 100)}…` : id;
  return new StoreError('run_not_found', `Run "${shown}" not found.`);
}

export function runFinished(run: Run): StoreError {
  return new StoreError('run_finished', `The run has already ended: it is ${run.status}.`);
}
