import { oneOf, type RawSearch, textOf } from '../ui/search-params.ts';

export const JOB_STATUSES = ['queued', 'running', 'succeeded', 'failed', 'cancelling', 'cancelled'] as const;

export const JOB_KINDS = ['import', 'upload'] as const;

/** What the address of the list of jobs states. */
interface JobsSearch {
  readonly status?: (typeof JOB_STATUSES)[number];
  readonly kind?: (typeof JOB_KINDS)[number];
  readonly cursor?: string;
}

/** Reads the address of the list; what it does not know is left out. */
export function parseJobsSearch(search: RawSearch): JobsSearch {
  return {
    status: oneOf(search, 'status', JOB_STATUSES),
    kind: oneOf(search, 'kind', JOB_KINDS),
    cursor: textOf(search, 'cursor'),
  };
}
