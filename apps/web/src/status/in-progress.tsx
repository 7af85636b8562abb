import { useQuery } from '@tanstack/react-query';
import { useApi } from '../api/api-context.tsx';
import { dataOf } from '../api/api-problem.ts';
import { Fact } from '../ui/layout/fact.tsx';
import { LinkAnchor } from '../ui/layout/links.tsx';
import { formatCount } from '../ui/text/formats.ts';

const REFRESH_MS = 5000;

const ACTIVE = { status: 'running', limit: 1 } as const;

/** How many runs and imports the whole installation works on now. */
export function InProgress() {
  const api = useApi();
  const options = { refetchInterval: REFRESH_MS };
  const runs = useQuery({
    ...options,
    queryKey: ['runs', ACTIVE],
    queryFn: ({ signal }) => dataOf(api.GET('/runs', { params: { query: ACTIVE }, signal })),
  });
  const jobs = useQuery({
    ...options,
    queryKey: ['jobs', ACTIVE],
    queryFn: ({ signal }) => dataOf(api.GET('/jobs', { params: { query: ACTIVE }, signal })),
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
