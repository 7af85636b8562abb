import type { Page, PageRequest } from '../database/page.ts';
import { isUuid, readableJson } from '../database/values.ts';
import type { Pool } from '../postgres/pool.ts';
import { listTasks, type TasksOrder } from '../queue/list-tasks.ts';
import { RUN_COLUMNS, type Run, type RunRow, type RunStatus, toRun } from './run-row.ts';

/** Characters of a name that order runs. */
const SORTED_CHARS = 200;

const SCORE = { value: 'score_sum / nullif(scored, 0)', type: 'float8' } as const;
const NAME = { value: `left(lower(name), ${SORTED_CHARS})`, type: 'text' } as const;
const CREATED = { value: null, type: 'text' } as const;

type Column = 'created_at' | 'score' | 'name';

/** Orders of the list of runs; `score` is the mean. A minus turns one round. */
export type RunsSort = Column | `-${Column}`;

const ORDERS: Readonly<Record<RunsSort, TasksOrder>> = {
  '-created_at': { ...CREATED, isDescending: true },
  created_at: { ...CREATED, isDescending: false },
  score: { ...SCORE, isDescending: false },
  '-score': { ...SCORE, isDescending: true },
  name: { ...NAME, isDescending: false },
  '-name': { ...NAME, isDescending: true },
};

/** Every way to sort runs. */
export const RUNS_SORTS = Object.keys(ORDERS) as readonly RunsSort[];

export interface RunsRequest extends PageRequest {
  readonly datasetId?: string | undefined;
  readonly status?: RunStatus | undefined;
  readonly label?: string | undefined;
  /** Number of the version of the dataset. */
  readonly version?: number | undefined;
  /** Part of the name, in any case. */
  readonly name?: string | undefined;
  /** Name of the model. */
  readonly model?: string | undefined;
  /** By default the newest first. Runs without a score or a name come last. */
  readonly sort?: RunsSort | undefined;
}

/** See `RunStore.list`. */
export async function listRuns(
  pool: Pool,
  { datasetId, status, label, version, name, model, sort = '-created_at', ...page }: RunsRequest,
): Promise<Page<Run>> {
  if (datasetId !== undefined && !isUuid(datasetId)) return { data: [], nextCursor: null, totalItems: 0 };
  const found = await listTasks<RunRow>(pool, {
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
  return { ...found, data: found.data.map(toRun) };
}
