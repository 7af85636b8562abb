import type pg from 'pg';
import { parseStoredRunConfig, scorersOf } from '../../evaluation/index.ts';
import { askedText } from '../audit/actor.ts';
import { readStoredJson } from '../database/read-stored-json.ts';
import { readableJson } from '../database/values.ts';
import { NOTIFY_WORKERS } from '../queue/task-queue.ts';
import type { ResultsFilter } from './run-results.ts';
import { RUN_COLUMNS, type Run } from './run-row.ts';

/** The main scorer of a run, whose scores decide what a result is. */
export interface MainScorer {
  readonly name: string;
  /** Whether `scores` has it too. */
  readonly isNamed: boolean;
}

/** Scorers that a worker adds to a run, or the judges of one whose results clients have sent. */
export interface AddingScorers {
  readonly names: readonly string[];
  /** The main scorer if it is one of them; else null. */
  readonly main: MainScorer | null;
}

export function addingScorersOf({
  config,
  addingScorers,
}: Pick<Run, 'config' | 'addingScorers'>): AddingScorers | null {
  return addingScorers === null ? null : toAdding(config, JSON.parse(addingScorers) as string[]);
}

/** @param config of the run, JSON text */
export function toAdding(config: string, names: readonly string[]): AddingScorers {
  const parsed = parseStoredRunConfig(readStoredJson(config));
  const [{ name }] = scorersOf(parsed);
  return { names, main: names.includes(name) ? { name, isNamed: parsed.scorers !== undefined } : null };
}

/** SQL for results whose output one of some scorers has not scored, or failed to score; values from `$first` on. */
export function lacksScores({ names, main }: AddingScorers, first: number): ResultsFilter {
  const others = names.filter((name) => name !== main?.name);
  return {
    joins: '',
    sql: `AND result.output IS NOT NULL AND (${main === null ? 'false' : `result.status = 'unscored'`}
      OR cardinality($${first}::text[]) > 0 AND (result.scores IS NULL OR EXISTS (
        SELECT FROM unnest($${first}::text[]) AS name
          CROSS JOIN LATERAL (SELECT ${readableJson('result.scores::json')} -> name AS score) AS scored
          WHERE score IS NULL OR score -> 'error' IS NOT NULL)))`,
    values: [others],
  };
}

export async function countLacking(client: pg.ClientBase, runId: string, adding: AddingScorers) {
  const { sql, values } = lacksScores(adding, 2);
  const { rows } = await client.query<{ due: number }>(
    `SELECT count(*)::int AS due FROM run_results result WHERE result.run_id = $1 ${sql}`,
    [runId, ...values],
  );
  return rows[0]?.due ?? 0;
}

/** Hands a run to workers for further scorers, in a transaction that holds the run's row. */
export async function queueScorers(
  client: pg.ClientBase,
  { id }: Pick<Run, 'id'>,
  scorers: {
    readonly names: readonly string[];
    /** Outputs that they are to score. */
    readonly due: number;
    /** What the run is afterwards, unless it was passed on before. */
    readonly status: Run['status'];
    /** A new configuration, JSON text. */
    readonly config?: string | undefined;
  },
): Promise<Run> {
  const { names, due, status, config = null } = scorers;
  const { rows } = await client.query<Run>(
    `UPDATE runs SET asked = $6, config = coalesce($2, config), proof_of = NULL, results_due = results_version + $4, finished_at = NULL, cancel_requested_at = NULL,
       adding = json_build_object('names', $3::json, 'status', coalesce(adding::json ->> 'status', $5),
         'error', CASE WHEN adding IS NULL THEN error ELSE adding::json ->> 'error' END)::text,
       error = NULL, lease_expires_at = NULL, failed_attempts = 0, status = 'queued', available_at = clock_timestamp()
     WHERE id = $1 RETURNING ${RUN_COLUMNS}`,
    [id, config, JSON.stringify(names), due, status, askedText('runs')],
  );
  await client.query(NOTIFY_WORKERS, ['run']);
  return rows[0] as Run;
}
