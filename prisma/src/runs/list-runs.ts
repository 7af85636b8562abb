import type { Pool } from '@svc/postgres';
import type { Page, PageRequest } from '../database/page.ts';
import { isUuid, readableJson, searchableText } from '../database/values.ts';
import { listTasks } from '../queue/list-tasks.ts';
import { RUN_COLUMNS, type Run, type RunRow, type RunStatus, toRun } from './run-row.ts';

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
}

/** See `RunStore.list`. */
export async function listRuns(
  pool: Pool,
  { datasetId, status, label, version, name, model, ...page }: RunsRequest,
): Promise<Page<Run>> {
  if (datasetId !== undefined && !isUuid(datasetId)) return { data: [], nextCursor: null, totalItems: 0 };
  const found = await listTasks<RunRow>(pool, {
    ...{ ...page, table: 'runs', columns: RUN_COLUMNS },
    equal: { dataset_id: datasetId, status, is_trial: 'false', dataset_version: version?.toString() },
    conditions: [
      [
        label,
        (value) => `EXISTS (SELECT FROM json_array_elements_text(labels::json) AS one WHERE one = ${value})`,
      ],
      [
        name === undefined ? undefined : searchableText(name),
        (value) => `position(lower(${value}::text) IN lower(name)) > 0`,
      ],
      [
        model === undefined ? undefined : searchableText(model),
        (value) => `${readableJson('config::json')} #>> '{provider,model}' = ${value}`,
      ],
    ],
    texts: ['config', 'error', 'name', 'note', 'labels'],
  });
  return { ...found, data: found.data.map(toRun) };
}
