import { oneOf, searchParser, text } from '../ui/search-params.ts';

export const JOB_STATUSES = ['queued', 'running', 'succeeded', 'failed', 'cancelling', 'cancelled'] as const;

export const JOB_KINDS = ['import', 'upload'] as const;

/** Reads the address of the list of jobs. */
export const parseJobsSearch = searchParser({
  status: oneOf(...JOB_STATUSES),
  kind: oneOf(...JOB_KINDS),
  cursor: text,
});
