import {
  type JsonBody,
  JsonText,
  orNull,
  type ProblemBody,
  type Schema,
  shape,
  toJsonText,
} from '@svc/runtime';
import type { Job, StoredResponse } from '@svc/store';
import { ASYNC_APPLIED } from '../../http/prefer.ts';
import { serializeProblem } from '../../http/problem.ts';
import { COUNT, COUNT_OR_NULL, TEXT_OR_NULL, TIME, TIME_OR_NULL, UUID } from '../docs/scalars.ts';
import { PROBLEM } from '../docs/schemas.ts';

export const JOB_KINDS = ['import', 'upload'] as const;
export const JOB_STATUSES = ['queued', 'running', 'succeeded', 'failed', 'cancelling', 'cancelled'] as const;

export const JOB: Schema = shape({
  id: UUID,
  kind: { type: 'string', enum: JOB_KINDS },
  status: { type: 'string', enum: JOB_STATUSES },
  progress: shape({
    rows_done: COUNT,
    rows_total: COUNT_OR_NULL,
    bytes_done: COUNT,
    bytes_total: COUNT_OR_NULL,
  }),
  request: {
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
  },
  dataset_id: { type: ['string', 'null'], format: 'uuid', description: 'the dataset that the job created' },
  error: orNull(PROBLEM, 'why it failed'),
  created_at: TIME,
  started_at: TIME_OR_NULL,
  finished_at: TIME_OR_NULL,
});

/** A job as JSON. */
export function serializeJob(job: Job): JsonBody {
  const { progress } = job;
  return {
    id: job.id,
    kind: job.kind,
    status: job.status,
    progress: {
      rows_done: progress.rowsDone,
      rows_total: progress.rowsTotal,
      bytes_done: progress.bytesDone,
      bytes_total: progress.bytesTotal,
    },
    request: job.subject === null ? null : new JsonText(job.subject),
    dataset_id: job.datasetId,
    error: job.error === null ? null : new JsonText(JSON.stringify(problemOfJob(job.error, job))),
    created_at: job.createdAt,
    started_at: job.startedAt,
    finished_at: job.finishedAt,
  };
}

function problemOfJob(error: string, { id, requestId }: Job): ProblemBody {
  return serializeProblem(error, { instance: `/jobs/${id}`, requestId: requestId ?? '' });
}

/** Whether a job has finished. */
export function isFinished(job: Job): boolean {
  return job.finishedAt !== null;
}

/** The response to a request that became a job. */
export function jobAccepted(job: Job): StoredResponse {
  return {
    status: 202,
    headers: { Location: `/jobs/${job.id}`, ...ASYNC_APPLIED },
    body: toJsonText(serializeJob(job)),
  };
}
