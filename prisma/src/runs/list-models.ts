import type pg from 'pg';
import { seesDataset } from '../database/actor.ts';
import { readableJson } from '../database/values.ts';

/** A model that a run has named. */
export interface UsedModel {
  /** The variable of its key; null without one. */
  readonly keyName: string | null;
  readonly baseUrl: string;
  readonly model: string;
}

const MAX_RUNS = 1_000;
const MAX_CONFIG_BYTES = 65_536;

const modelsSql = (): string => `
  SELECT "keyName", "baseUrl", model FROM (
    SELECT config ->> 'api_key_env' AS "keyName", config ->> 'base_url' AS "baseUrl", config ->> 'model' AS model, max(created_at) AS used
    FROM (
      SELECT ${readableJson('config::json')} -> 'provider' AS config, created_at FROM runs
      WHERE ${seesDataset('dataset_id') ?? 'true'} AND NOT imported AND octet_length(config) <= ${MAX_CONFIG_BYTES} ORDER BY created_at DESC, id DESC LIMIT ${MAX_RUNS}
    ) AS recent WHERE json_typeof(config) = 'object' GROUP BY 1, 2, 3
  ) AS models
  WHERE octet_length("baseUrl") <= 2048 AND octet_length(model) <= 1024 ORDER BY used DESC, model COLLATE "C"`;

/** See `RunStore.listModels`: those of the newest thousand runs, the newest first. */
export async function listModels(pool: pg.Pool): Promise<readonly UsedModel[]> {
  return (await pool.query<UsedModel>(modelsSql())).rows;
}
