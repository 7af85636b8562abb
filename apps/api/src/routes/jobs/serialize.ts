import { type JsonBody, orNull, type ProblemBody, type Schema, shape, toJsonText } from '@svc/service';
import type { Job, JobProgress, StoredResponse } from '@svc/store';
import { serializeProblem } from '../../http/problem.ts';
import { ASYNC_APPLIED } from '../../http/request-headers.ts';
import { record, storedJson } from '../docs/record.ts';
import { COUNT, COUNT_OR_NULL, TEXT_OR_NULL, TIME, TIME_OR_NULL, UUID } from '../docs/scalars.ts';
import { IMPORT_NOTES, NOTE_NAMES, PROBLEM } from '../docs/schemas.ts';

export const JOB_KINDS = ['import', 'upload'] as const;
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

/** A job as JSON. */
export function serializeJob(job: Job): JsonBody {
  const error = job.error === null ? null : JSON.stringify(problemOfJob(job.error, job));
  return RECORD.toBody({ ...job, request: job.subject, error });
}

function problemOfJob(error: string, { id, requestId }: Job): ProblemBody {
  return serializeProblem(error, { instance: `/jobs/${id}`, requestId: requestId ?? '' });
}

/** The response to a request that became a job. */
export function jobAccepted(job: Job): StoredResponse {
  return {
    status: 202,
    headers: { Location: `/jobs/${job.id}`, ...ASYNC_APPLIED },
    body: toJsonText(serializeJob(job)),
  };
}
