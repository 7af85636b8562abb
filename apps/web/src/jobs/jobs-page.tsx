import { Badge, Group, Progress, Select, Table, Text } from '@mantine/core';
import type { ResponseOf } from '@svc/client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useApi } from '../api/api-context.tsx';
import { dataOf } from '../api/api-problem.ts';
import { useCan } from '../session/session.tsx';
import { ErrorView } from '../ui/error-view.tsx';
import { LinkAnchor } from '../ui/layout/links.tsx';
import { Page } from '../ui/layout/page.tsx';
import { PageSkeleton } from '../ui/layout/page-skeleton.tsx';
import { Pager } from '../ui/layout/pager.tsx';
import { WideTable } from '../ui/layout/wide-table.tsx';
import { StatusBadge } from '../ui/status-badge.tsx';
import { Age } from '../ui/text/age.tsx';
import { CancelJob } from './cancel-job.tsx';
import { progressText, shareOf } from './job-progress.tsx';
import { JOB_KINDS, JOB_STATUSES } from './jobs-search.ts';

type Job = ResponseOf<'/jobs', 'get'>['data'][number];

const route = getRouteApi('/jobs');

const FILTERS = [
  { key: 'status', label: 'Status', values: JOB_STATUSES },
  { key: 'kind', label: 'Kind', values: JOB_KINDS },
] as const;

const REFRESH_MS = 2000;
const IDLE_REFRESH_MS = 15_000;

/** The imports that run or ran in the background. */
export function JobsPage() {
  const api = useApi();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const found = useQuery({
    queryKey: ['jobs', search],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/jobs', { params: { query: { ...search, limit: 50 } }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.data.some(({ finished_at }) => finished_at === null) === true
        ? REFRESH_MS
        : IDLE_REFRESH_MS,
  });
  return (
    <Page title="Jobs" subtitle="Imports that run in the background, newest first.">
      <Group role="search" aria-label="Jobs">
        {FILTERS.map(({ key, label, values }) => (
          <Select
            key={key}
            aria-label={label}
            placeholder={label}
            size="xs"
            w={150}
            clearable
            value={search[key] ?? null}
            onChange={(value) =>
              void navigate({
                search: (before) => ({ ...before, cursor: undefined, [key]: value ?? undefined }),
              })
            }
            data={[...values]}
          />
        ))}
      </Group>
      {found.error !== null && <ErrorView error={found.error} onRetry={() => void found.refetch()} />}
      {found.isPending && <PageSkeleton />}
      {found.data !== undefined && (
        <>
          {found.data.data.length === 0 ? (
            <Text c="dimmed" size="sm">
              {search.status === undefined && search.kind === undefined
                ? 'No jobs yet. An import from the hub runs as a job, and an upload that asks for it.'
                : 'No job matches the filters.'}
            </Text>
          ) : (
            <JobsTable jobs={found.data.data} />
          )}
          <Pager
            total={found.data.meta.total_items}
            what="jobs"
            isFirst={search.cursor === undefined}
            nextCursor={found.data.meta.next_cursor}
            onCursor={(cursor) => void navigate({ search: (before) => ({ ...before, cursor }) })}
          />
        </>
      )}
    </Page>
  );
}

function JobsTable({ jobs }: { readonly jobs: readonly Job[] }) {
  const canEdit = useCan('editor');
  return (
    <WideTable label="Table of jobs" minWidth={640}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Kind</Table.Th>
          <Table.Th>Status</Table.Th>
          <Table.Th>Progress</Table.Th>
          <Table.Th>Started</Table.Th>
          <Table.Th>Result</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {jobs.map((job) => (
          <Table.Tr key={job.id}>
            <Table.Td>
              <Badge size="sm" variant="default" tt="none">
                {job.kind}
              </Badge>
            </Table.Td>
            <Table.Td>
              <StatusBadge status={job.status} />
            </Table.Td>
            <Table.Td miw={180}>
              <Text size="xs">{progressText(job)}</Text>
              {job.finished_at === null && (
                <Progress value={shareOf(job) ?? 100} size="sm" animated aria-label="Progress" />
              )}
            </Table.Td>
            <Table.Td>
              <Age since={job.created_at} />
            </Table.Td>
            <Table.Td maw={420}>
              {job.dataset_id !== null && job.status === 'succeeded' && (
                <LinkAnchor to="/datasets/$id" params={{ id: job.dataset_id }} size="sm">
                  Dataset
                </LinkAnchor>
              )}
              {job.error !== null && (
                <Text size="xs" className="break" lineClamp={3} title={job.error.detail}>
                  {job.error.detail}
                </Text>
              )}
              {canEdit && job.finished_at === null && <CancelJob id={job.id} status={job.status} />}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </WideTable>
  );
}
