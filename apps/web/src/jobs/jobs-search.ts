import { REQUEST_VALUES } from '@svc/client';
import { oneOf, searchParser, text } from '../ui/search-params.ts';

/** The values of the filters. */
export const JOBS = REQUEST_VALUES['/jobs'];

/** Reads the address of the list of jobs. */
export const parseJobsSearch = searchParser({
  status: oneOf(...JOBS.status),
  kind: oneOf(...JOBS.kind),
  cursor: text,
});
