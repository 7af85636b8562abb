import type pg from 'pg';
import { isUuid, readableJson, readableText } from '../database/values.ts';
import { RUN_COLUMNS, type Run, type RunRow, toRun } from './run-row.ts';

/** A model and where it is asked. */
export interface AskedModel {
  readonly datasetId: string;
  /** Such as `https://host`. */
  readonly origin: string;
  readonly model: string;
}

/** Older runs are not looked at. */
const MAX_RUNS = 1_000;

const provider = (member: string): string => `${readableJson('config::json')} #>> '{provider,${member}}'`;

/** See `RunStore.findLatest`. */
export async function findLatestRun(
  pool: pg.Pool,
  { datasetId, origin, model }: AskedModel,
): Promise<Run | null> {
  if (!isUuid(datasetId)) return null;
  const { rows } = await pool.query<{ readonly id: string; readonly baseUrl: string | null }>(
    `SELECT id, ${provider('base_url')} AS "baseUrl" FROM (
       SELECT * FROM runs WHERE dataset_id = $1 AND finished_at IS NOT NULL AND NOT imported AND NOT is_trial AND source_run_id IS NULL
         AND ok + unscored > 0
       ORDER BY created_at DESC, id DESC LIMIT ${MAX_RUNS}
     ) AS newest WHERE ${provider('model')} = $2 AND octet_length(${provider('base_url')}) <= 2048
     ORDER BY created_at DESC, id DESC`,
    [datasetId, readableText(model)],
  );
  const latest = rows.find(({ baseUrl }) => baseUrl !== null && originOf(baseUrl) === origin);
  if (latest === undefined) return null;
  const found = await pool.query<RunRow>(`SELECT ${RUN_COLUMNS} FROM runs WHERE id = $1`, [latest.id]);
  return found.rows[0] === undefined ? null : toRun(found.rows[0]);
}

const originOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).origin : null);
