import { Badge, Group, Progress, Text } from '@mantine/core';
import { REQUEST_VALUES, type ResponseOf } from '@svc/client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { apiQuery } from '../api/api.ts';
import { datasetQuery } from '../datasets/queries.ts';
import { LinkAnchor } from '../ui/buttons.tsx';
import { ChosenFilter } from '../ui/filters.tsx';
import { Page } from '../ui/layout/page.tsx';
import { PagedTable } from '../ui/layout/pager.tsx';
import { ages, StatusBadge, texts } from '../ui/table/cells.tsx';
import type { Column } from '../ui/table/table-model.ts';
import { Dimmed } from '../ui/text/dimmed.ts';
import { CancelJob, progressText, shareOf } from './job-progress.tsx';

type Job = ResponseOf<'/jobs', 'get'>['data'][number];

const route = getRouteApi('/jobs');

const REFRESH_MS = 2000;
const IDLE_REFRESH_MS = 15_000;

export default function JobsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const found = useQuery({
    ...apiQuery(['jobs', search], '/jobs', { query: { ...search, limit: 50 } }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.data.some(({ finished_at }) => finished_at === null) === true
        ? REFRESH_MS
        : IDLE_REFRESH_MS,
  });
  return (
    <Page title="Jobs" subtitle="Imports that run in the background, newest first.">
      <Group role="search" aria-label="Jobs">
        {(['status', 'kind'] as const).map((key) => (
          <ChosenFilter<string>
            key={key}
            label={key === 'status' ? 'Status' : 'Kind'}
            value={search[key]}
            values={REQUEST_VALUES['/jobs'][key]}
            onChange={(value) =>
              void navigate({ search: (before) => ({ ...before, cursor: undefined, [key]: value }) })
            }
          />
        ))}
      </Group>
      <PagedTable
        query={found}
        columns={COLUMNS}
        what="job"
        empty={
          search.status === undefined && search.kind === undefined
            ? 'No jobs yet. An import from the hub runs as a job, and an upload that asks for it.'
            : 'No job matches the filters.'
        }
        onOpen={(_, job) =>
          job?.dataset_id != null && void navigate({ to: '/datasets/$id', params: { id: job.dataset_id } })
        }
      />
    </Page>
  );
}

const COLUMNS: readonly Column<Job>[] = [
  {
    label: 'Kind',
    size: 90,
    cell: ({ kind }) => (
      <Badge size="sm" variant="default" className="whole">
        {kind}
      </Badge>
    ),
  },
  texts('From', (job) => sourceText(job) || '–', { size: 180, share: 2 }),
  texts('Into', (job) => <JobTarget job={job} />, { size: 180, share: 2 }),
  { label: 'Status', size: 110, cell: ({ status }) => <StatusBadge status={status} /> },
  texts(
    'Progress',
    (job) => (
      <>
        <Text size="xs">{progressText(job)}</Text>
        {job.finished_at === null && (
          <Progress value={shareOf(job) ?? 100} size="sm" animated aria-label="Progress" />
        )}
      </>
    ),
    { size: 180 },
  ),
  ages('Started', ({ created_at }) => created_at, { size: 100 }),
  texts(
    'Error',
    (job) => (
      <>
        {job.error !== null && (
          <Text size="xs" lineClamp={3} title={job.error.detail}>
            {job.error.detail}
          </Text>
        )}
        {job.finished_at === null && <CancelJob job={job} size="compact-xs" />}
      </>
    ),
    { size: 140, share: 2 },
  ),
];

function JobTarget({ job: { dataset_id, request, status } }: { readonly job: Job }) {
  const id = dataset_id ?? (status === 'succeeded' ? null : request?.dataset_id) ?? null;
  const { data } = useQuery(datasetQuery(id));
  return (
    <>
      {id === null ? (
        request?.name
      ) : (
        <LinkAnchor to="/datasets/$id" params={{ id }} size="sm">
          {data?.name ?? 'Dataset'}
        </LinkAnchor>
      )}
      {status === 'succeeded' && dataset_id === null && (
        <Dimmed span>{request?.name == null ? 'deleted since' : ', deleted since'}</Dimmed>
      )}
    </>
  );
}

function sourceText({ request }: Job): string {
  if (request === null) return '';
  const { path, subset, split, revision, file_name, file_count } = request;
  const others = file_count === null || file_count < 2 ? null : `and ${file_count - 1} more`;
  return [path, subset, split, revision === null ? null : `at ${revision}`, file_name, others]
    .filter((part) => part !== null)
    .join(', ');
}
