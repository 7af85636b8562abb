import { useQuery } from '@tanstack/react-query';
import { useApi } from '../api/api-context.tsx';
import { dataOf } from '../api/api-problem.ts';
import { useRuns } from '../runs/use-runs.ts';
import { Fact } from '../ui/layout/fact.tsx';
import { LinkAnchor } from '../ui/layout/links.tsx';
import { formatCount } from '../ui/text/formats.ts';

const REFRESH_MS = 5000;

const ACTIVE = { status: 'running', limit: 1 } as const;

/** How many runs and imports the whole installation works on now. */
export function InProgress() {
  const api = useApi();
  const runs = useRuns(ACTIVE, { refetchInterval: REFRESH_MS });
  const jobs = useQuery({
    queryKey: ['jobs', ACTIVE],
    queryFn: ({ signal }) => dataOf(api.GET('/jobs', { params: { query: ACTIVE }, signal })),
    refetchInterval: REFRESH_MS,
  });
  const countOf = (list: typeof runs.data | typeof jobs.data): string =>
    list === undefined ? '…' : formatCount(list.meta.total_items);
  return (
    <>
      <Fact
        name="Runs in progress"
        value={countOf(runs.data)}
        note={
          <LinkAnchor to="/runs" search={{ status: 'running' }} size="xs">
            See them
          </LinkAnchor>
        }
      />
      <Fact
        name="Imports in progress"
        value={countOf(jobs.data)}
        note={
          <LinkAnchor to="/jobs" search={{ status: 'running' }} size="xs">
            See them
          </LinkAnchor>
        }
      />
    </>
  );
}
