import type pg from 'pg';
import { cursorAfter, olderThan, type Page, type PageRequest, Parameters } from '../database/page.ts';
import { MAX_PAGE_BYTES } from '../database/read-item-texts.ts';
import { createReadQuery } from '../database/read-query.ts';
import { JOB_COLUMNS, type Job, type JobKind, type JobRow, type JobStatus, toJob } from './job-row.ts';

export interface JobsRequest extends PageRequest {
  readonly status?: JobStatus | undefined;
  readonly kind?: JobKind | undefined;
}

/** See `JobStore.list`. Reads the index on `(created_at, id)`. */
export async function listJobs(
  pool: pg.Pool,
  { limit, cursor, status, kind, signal }: JobsRequest,
): Promise<Page<Job>> {
  const query = createReadQuery(pool, signal);
  const parameters = new Parameters();
  const filters = ['true'];
  if (status !== undefined) filters.push(`status = ${parameters.add(status)}`);
  if (kind !== undefined) filters.push(`kind = ${parameters.add(kind)}`);
  const [total] = await query<{ count: string }>(
    `SELECT count(*) FROM jobs WHERE ${filters.join(' AND ')}`,
    parameters.values,
  );
  if (cursor !== undefined) filters.push(olderThan('jobs', cursor, parameters));
  const rows = await query<JobRow & { readonly found: string }>(
    `SELECT ${JOB_COLUMNS}, found FROM (
       SELECT *, count(*) OVER () AS found, row_number() OVER newest AS position,
         sum(coalesce(octet_length(error), 0)) OVER newest AS bytes
       FROM (
         SELECT * FROM jobs WHERE ${filters.join(' AND ')}
         ORDER BY created_at DESC, id DESC LIMIT ${parameters.add(limit + 1)}
       ) candidate WINDOW newest AS (ORDER BY created_at DESC, id DESC)
     ) jobs WHERE bytes <= ${MAX_PAGE_BYTES} OR position = 1
     ORDER BY created_at DESC, id DESC`,
    parameters.values,
  );
  const shown = rows.slice(0, limit);
  return {
    data: shown.map(toJob),
    nextCursor: cursorAfter('jobs', shown),
    totalItems: Number(total?.count ?? 0),
  };
}
