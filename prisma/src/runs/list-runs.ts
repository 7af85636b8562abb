import type { Pool } from '@svc/postgres';
import type { Page, PageRequest } from '../database/page.ts';
import { isUuid } from '../database/values.ts';
import { listTasks } from '../queue/list-tasks.ts';
import { RUN_COLUMNS, type Run, type RunRow, type RunStatus, toRun } from './run-row.ts';

export interface RunsRequest extends PageRequest {
  readonly datasetId?: string | undefined;
  readonly status?: RunStatus | undefined;
}

/** See `RunStore.list`. */
export async function listRuns(pool: Pool, { datasetId, status, ...page }: RunsRequest): Promise<Page<Run>> {
  if (datasetId !== undefined && !isUuid(datasetId)) return { data: [], nextCursor: null, totalItems: 0 };
  const found = await listTasks<RunRow>(pool, {
    ...{ ...page, table: 'runs', columns: RUN_COLUMNS },
    equal: { dataset_id: datasetId, status, is_trial: 'false' },
    texts: ['config', 'error', 'name'],
  });
  return { ...found, data: found.data.map(toRun) };
}
