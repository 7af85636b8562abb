import { runWithContext } from '@svc/observability';
import {
  type JsonBody,
  json,
  ok,
  orNull,
  type ProblemBody,
  type Route,
  type Schema,
  shape,
  toJsonText,
} from '@svc/service';
import type { IdempotencyClaim, Job, JobProgress, Store, StoredResponse } from '@svc/service/store';
import { serializeProblem } from '../http/problem.ts';
import { ASYNC_APPLIED, askedBy } from '../http/request-headers.ts';
import { createWatch } from '../http/server-sent-events.ts';
import type { RouteDeps } from './deps.ts';
import {
  COUNT,
  COUNT_OR_NULL,
  IMPORT_NOTES,
  NOTE_NAMES,
  PAGE_QUERY,
  PROBLEM,
  page,
  record,
  storedJson,
  TEXT_OR_NULL,
  TIME,
  TIME_OR_NULL,
  UUID,
} from './docs/schemas.ts';
import { listed, wanted } from './page.ts';

export function jobRoutes({ logger, store: { jobs }, drainSignal }: RouteDeps): readonly Route[] {
  const common = { method: 'get', tag: 'jobs', access: 'viewer' } as const;
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
      responses: ok('a page', page(JOB)),
      handle: (request) => listed(request, jobs.list(wanted(request)), serializeJob),
    },
    {
      ...common,
      path: '/jobs/{id}',
      operationId: 'getJob',
      summary: 'The progress of an asynchronous import',
      responses: ok('the job', JOB),
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
      responses: ok('events `progress` and a last event `end`, each with the job as data', {
        type: 'string',
      }),
      handle: async ({ params, signal }) => watch(await jobs.get(params['id'] ?? ''), signal),
    },
  ];
}

const JOB_KINDS = ['import', 'upload'] as const;
export const JOB_STATUSES = ['queued', 'running', 'succeeded', 'failed', 'cancelling', 'cancelled'] as const;

const RECORD = record<Job & { readonly request: string | null }>({
  id: UUID,
  kind: { type: 'string', enum: JOB_KINDS },
  status: { type: 'string', enum: JOB_STATUSES },
  progress: record<JobProgress>({
    rows_done: COUNT,
    rows_total: COUNT_OR_NULL,
    bytes_done: COUNT,
    bytes_total: COUNT_OR_NULL,
  }),
  request: storedJson({
    ...shape({
      name: { ...TEXT_OR_NULL, description: 'name of the new dataset; null if the request had none' },
      path: { ...TEXT_OR_NULL, description: 'path of the dataset on the hub' },
      subset: TEXT_OR_NULL,
      split: TEXT_OR_NULL,
      revision: TEXT_OR_NULL,
      file_name: { ...TEXT_OR_NULL, description: 'name of the first file of an upload' },
      file_count: { ...COUNT_OR_NULL, description: 'number of files of an upload; null for a package' },
      dataset_id: { ...TEXT_OR_NULL, format: 'uuid', description: 'the dataset to change' },
    }),
    type: ['object', 'null'],
    description: 'the request in short; null if it is too long to show',
  }),
  dataset_id: { type: ['string', 'null'], format: 'uuid', description: 'the dataset that the job created' },
  notes: storedJson({
    ...shape(IMPORT_NOTES, NOTE_NAMES),
    type: ['object', 'null'],
    description: 'what the response to the same import without `respond-async` says besides; null if nothing',
  }),
  error: storedJson(orNull(PROBLEM, 'why it failed')),
  created_at: TIME,
  started_at: TIME_OR_NULL,
  finished_at: TIME_OR_NULL,
});

export const JOB: Schema = RECORD.schema;

function serializeJob(job: Job): JsonBody {
  const error = job.error === null ? null : JSON.stringify(problemOfJob(job.error, job));
  return RECORD.toBody({ ...job, request: job.subject, error });
}

function problemOfJob(error: string, { id, requestId }: Job): ProblemBody {
  return serializeProblem(error, { instance: `/jobs/${id}`, requestId: requestId ?? '' });
}

export async function enqueueJob(
  { store, logger }: RouteDeps,
  job: Omit<Parameters<Store['jobs']['create']>[0], 'requestId' | 'createdBy'>,
  claim: IdempotencyClaim | undefined,
  signal?: AbortSignal,
): Promise<StoredResponse> {
  const created = await store.jobs.create(
    { ...job, ...askedBy() },
    { signal, idempotent: claim && { claim, of: jobAccepted } },
  );
  runWithContext({ job_id: job.id }, () => logger.log('job.enqueue', { kind: job.kind }));
  return jobAccepted(created);
}

function jobAccepted(job: Job): StoredResponse {
  return {
    status: 202,
    headers: { Location: `/jobs/${job.id}`, ...ASYNC_APPLIED },
    body: toJsonText(serializeJob(job)),
  };
}
