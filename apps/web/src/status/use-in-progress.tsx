import { useRead } from '../api/use-read.ts';
import { useRuns } from '../runs/use-runs.ts';
import type { Fact } from '../ui/layout/facts.tsx';
import { LinkAnchor } from '../ui/layout/links.tsx';
import { formatCount } from '../ui/text/formats.ts';

const REFRESH_MS = 5000;

const ACTIVE = { status: 'running', limit: 1 } as const;

/** How many runs and imports the whole installation works on now. */
export function useInProgress(): readonly Fact[] {
  const runs = useRuns(ACTIVE, { refetchInterval: REFRESH_MS });
  const jobs = useRead({
    queryKey: ['jobs', ACTIVE],
    read: (api, signal) => api.GET('/jobs', { params: { query: ACTIVE }, signal }),
    refetchInterval: REFRESH_MS,
  });
  const countOf = (list: typeof runs.data | typeof jobs.data): string =>
    list === undefined ? '…' : formatCount(list.meta.total_items);
  const linkTo = (to: '/runs' | '/jobs') => (
    <LinkAnchor to={to} search={{ status: 'running' }} size="xs">
      See them
    </LinkAnchor>
  );
  return [
    ['Runs in progress', countOf(runs.data), linkTo('/runs')],
    ['Imports in progress', countOf(jobs.data), linkTo('/jobs')],
  ];
}
