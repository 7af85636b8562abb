import { seesDataset } from '../audit/actor.ts';
import type { StoreContext } from '../context.ts';
import type { ListOrder, Page, PageRequest } from '../database/page.ts';
import { isUuid, readableJson, readableText } from '../database/values.ts';
import { listTasks } from '../queue/task-queue.ts';
import { RUN_COLUMNS, type Run, type RunStatus } from './run-row.ts';

/** Characters of a name that order runs. */
const SORTED_CHARS = 200;

const SCORE = { value: 'score_sum / nullif(scored, 0)', type: 'float8' } as const;
const NAME = { value: `left(lower(name), ${SORTED_CHARS})`, type: 'text' } as const;
const CREATED = { value: null, type: 'text' } as const;

type Column = 'created_at' | 'score' | 'name';

/** Orders of the list of runs; `score` is the mean. A minus turns one round. */
export type RunsSort = Column | `-${Column}`;

const ORDERS: Readonly<Record<RunsSort, ListOrder>> = {
  '-created_at': { ...CREATED, isDescending: true },
  created_at: { ...CREATED, isDescending: false },
  score: { ...SCORE, isDescending: false },
  '-score': { ...SCORE, isDescending: true },
  name: { ...NAME, isDescending: false },
  '-name': { ...NAME, isDescending: true },
};

export const RUNS_SORTS = Object.keys(ORDERS) as readonly RunsSort[];

export interface RunsRequest extends PageRequest {
  readonly datasetId?: string | undefined;
  readonly status?: RunStatus | undefined;
  readonly label?: string | undefined;
  readonly version?: number | undefined;
  /** Part of the name, in any case. */
  readonly name?: string | undefined;
  readonly model?: string | undefined;
  /** By default the newest first. Runs without a score or a name come last. */
  readonly sort?: RunsSort | undefined;
}

/** Runs, newest first. @throws StoreError `invalid_cursor` */
export async function listRuns(
  { pool }: StoreContext,
  { datasetId, status, label, version, name, model, sort = '-created_at', ...page }: RunsRequest,
): Promise<Page<Run>> {
  if (datasetId !== undefined && !isUuid(datasetId)) return { data: [], nextCursor: null, totalItems: 0 };
  return await listTasks<Run>(pool, {
    ...{ ...page, table: 'runs', columns: RUN_COLUMNS, order: ORDERS[sort] },
    equal: { dataset_id: datasetId, status, is_trial: 'false', dataset_version: version?.toString() },
    conditions: [
      [
        label,
        (value) => `EXISTS (SELECT FROM json_array_elements_text(labels::json) AS one WHERE one = ${value})`,
      ],
      [name, (value) => `position(lower(${value}::text) IN lower(name)) > 0`],
      [model, (value) => `${readableJson('config::json')} #>> '{provider,model}' = ${value}`],
    ],
    texts: ['config', 'error', 'name', 'note', 'labels'],
  });
}

/** The runs among these that exist, in any order: one query. */
export async function getRuns({ pool }: StoreContext, ids: readonly string[]): Promise<Run[]> {
  const { rows } = await pool.query<Run>(`SELECT ${RUN_COLUMNS} FROM runs WHERE id = ANY($1::uuid[])`, [
    ids.filter(isUuid),
  ]);
  return rows;
}

export interface UsedModel {
  /** The variable of its key; null without one. */
  readonly keyName: string | null;
  readonly baseUrl: string;
  readonly model: string;
}

/** Older runs are not looked at. */
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

/** The models that the newest thousand runs have named, by the variable of the key and the origin; the newest first. */
export async function listModels({ pool }: StoreContext): Promise<readonly UsedModel[]> {
  return (await pool.query<UsedModel>(modelsSql())).rows;
}

export interface AskedModel {
  readonly datasetId: string;
  /** Such as `https://host`. */
  readonly origin: string;
  readonly model: string;
}

const provider = (member: string): string => `${readableJson('config::json')} #>> '{provider,${member}}'`;

/** The newest ended run of a dataset that asked a model itself and has results; null without one. */
export async function findLatestRun(context: StoreContext, { datasetId, origin, model }: AskedModel) {
  const { rows } = await context.pool.query<{ readonly id: string; readonly baseUrl: string | null }>(
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
  const [found = null] = await getRuns(context, [latest.id]);
  return found;
}

const originOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).origin : null);
