import type pg from 'pg';
import { cursorAfter, olderThan, type Page, type PageRequest, Parameters } from '../database/page.ts';
import { MAX_PAGE_BYTES } from '../database/read-item-texts.ts';
import { createReadQuery } from '../database/read-query.ts';
import { isUuid } from '../database/values.ts';
import { RUN_COLUMNS, type Run, type RunRow, type RunStatus, toRun } from './run-row.ts';

export interface RunsRequest extends PageRequest {
  readonly datasetId?: string | undefined;
  readonly status?: RunStatus | undefined;
}

/** See `RunStore.list`. Reads the index on `(created_at, id)`, or that on `(dataset_id, created_at, id)`. */
export async function listRuns(
  pool: pg.Pool,
  { limit, cursor, datasetId, status, signal }: RunsRequest,
): Promise<Page<Run>> {
  if (datasetId !== undefined && !isUuid(datasetId)) return { data: [], nextCursor: null, totalItems: 0 };
  const query = createReadQuery(pool, signal);
  const parameters = new Parameters();
  const filters = ['true'];
  if (datasetId !== undefined) filters.push(`dataset_id = ${parameters.add(datasetId)}`);
  if (status !== undefined) filters.push(`status = ${parameters.add(status)}`);
  const [total] = await query<{ count: string }>(
    `SELECT count(*) FROM runs WHERE ${filters.join(' AND ')}`,
    parameters.values,
  );
  if (cursor !== undefined) filters.push(olderThan('runs', cursor, parameters));
  const rows = await query<RunRow & { readonly found: string }>(
    `SELECT ${RUN_COLUMNS}, found FROM (
       SELECT *, count(*) OVER () AS found, row_number() OVER newest AS position,
         sum(octet_length(config) + coalesce(octet_length(error), 0) + coalesce(octet_length(name), 0)) OVER newest AS bytes
       FROM (
         SELECT * FROM runs WHERE ${filters.join(' AND ')}
         ORDER BY created_at DESC, id DESC LIMIT ${parameters.add(limit + 1)}
       ) candidate WINDOW newest AS (ORDER BY created_at DESC, id DESC)
     ) runs WHERE bytes <= ${MAX_PAGE_BYTES} OR position = 1
     ORDER BY created_at DESC, id DESC`,
    parameters.values,
  );
  const shown = rows.slice(0, limit);
  return {
    data: shown.map(toRun),
    nextCursor: cursorAfter('runs', shown),
    totalItems: Number(total?.count ?? 0),
  };
}
