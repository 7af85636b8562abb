import { runWithContext } from '@svc/observability';
import { json, type Logger, type Route, toJsonText } from '@svc/service';
import type { Job, Store } from '@svc/store';
import { createWatch } from '../../http/server-sent-events.ts';
import { PAGE_QUERY, page } from '../docs/schemas.ts';
import { pageOf, toPage } from '../page.ts';
import { JOB, JOB_KINDS, JOB_STATUSES, serializeJob } from './serialize.ts';

export interface JobDeps {
  readonly logger: Logger;
  readonly store: Pick<Store, 'jobs'>;
  /** Aborts when the server starts to drain: event streams then end. */
  readonly drainSignal: AbortSignal;
}

/** The endpoints of asynchronous imports. */
export function jobRoutes({ logger, store: { jobs }, drainSignal }: JobDeps): readonly Route[] {
  const errors = ['job_not_found', 'unavailable'];
  const common = { method: 'get', tag: 'jobs', access: 'viewer', produces: 'application/json' } as const;
  const watch = createWatch({
    read: (ids) => jobs.getMany(ids),
    toText: (job) => toJsonText(serializeJob(job)),
    drainSignal,
  });
  return [
    {
      ...common,
      path: '/jobs',
      operationId: 'listJobs',
      summary: 'Asynchronous imports, newest first',
      query: {
        ...PAGE_QUERY,
        status: { type: 'string', enum: JOB_STATUSES },
        kind: { type: 'string', enum: JOB_KINDS },
      },
      responses: { 200: { description: 'a page', schema: page(JOB) } },
      errors: ['invalid_cursor', 'unavailable'],
      handle: async ({ query, signal }) => {
        const found = await jobs.list({
          ...pageOf(query),
          signal,
          status: query['status'] as Job['status'] | undefined,
          kind: query['kind'] as Job['kind'] | undefined,
        });
        return json(toPage(found, query, serializeJob));
      },
    },
    {
      ...common,
      path: '/jobs/{id}',
      operationId: 'getJob',
      summary: 'The progress of an asynchronous import',
      responses: { 200: { description: 'the job', schema: JOB } },
      errors,
      handle: async ({ params }) => json(serializeJob(await jobs.get(params['id'] ?? ''))),
    },
    {
      ...common,
      method: 'post',
      path: '/jobs/{id}/cancel',
      operationId: 'cancelJob',
      summary: 'Cancel a job; no effect on a job that is cancelled or has finished',
      access: 'editor',
      responses: { 202: { description: 'the job', schema: JOB } },
      errors,
      handle: async ({ params }) => {
        const job = await jobs.requestCancel(params['id'] ?? '');
        if (job.finishedAt === null) {
          runWithContext({ job_id: job.id }, () => {
            logger.log('job.cancel', { kind: job.kind, stage: 'requested' });
          });
        }
        return json(serializeJob(job), 202);
      },
    },
    {
      ...common,
      path: '/jobs/{id}/events',
      operationId: 'watchJob',
      summary: 'The progress of a job until its end, as server-sent events',
      produces: 'text/event-stream',
      streams: 'events',
      responses: {
        200: {
          description: 'events `progress` and a last event `end`, each with the job as data',
          schema: { type: 'string' },
        },
      },
      errors,
      handle: async ({ params, signal }) => watch(await jobs.get(params['id'] ?? ''), signal),
    },
  ];
}
