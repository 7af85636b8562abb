import { Button, Group, Select, Text } from '@mantine/core';
import { IconArrowsDiff, IconPlus } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi } from '../api/api-context.tsx';
import { dataOf } from '../api/api-problem.ts';
import { DatasetSelect } from '../datasets/dataset-select.tsx';
import { useCan } from '../session/session.tsx';
import { ErrorView } from '../ui/error-view.tsx';
import { LinkButton } from '../ui/layout/links.tsx';
import { Page } from '../ui/layout/page.tsx';
import { PageSkeleton } from '../ui/layout/page-skeleton.tsx';
import { Pager } from '../ui/layout/pager.tsx';
import { RUN_STATUSES } from './runs-search.ts';
import { RunsTable } from './runs-table.tsx';

const route = getRouteApi('/runs');

const REFRESH_MS = 2000;
const IDLE_REFRESH_MS = 15_000;

/** The runs: a table with filters and pages, from which some can be compared. */
export function RunsPage() {
  const api = useApi();
  const { dataset, status, cursor } = route.useSearch();
  const navigate = route.useNavigate();
  const canEdit = useCan('editor');
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const found = useQuery({
    queryKey: ['runs', { dataset, status, cursor }],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET('/runs', { params: { query: { dataset_id: dataset, status, cursor, limit: 50 } }, signal }),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.data.some(({ finished_at }) => finished_at === null) === true
        ? REFRESH_MS
        : IDLE_REFRESH_MS,
  });
  const toggle = (id: string): void =>
    setChosen((before) => (before.includes(id) ? before.filter((one) => one !== id) : [...before, id]));
  return (
    <Page
      title="Runs"
      actions={
        <>
          <Button
            size="xs"
            variant="default"
            leftSection={<IconArrowsDiff size={16} />}
            disabled={chosen.length < 2}
            onClick={() => void navigate({ to: '/compare', search: { runs: chosen.join(',') } })}
          >
            Compare {chosen.length < 2 ? '' : chosen.length}
          </Button>
          {canEdit && (
            <LinkButton size="xs" leftSection={<IconPlus size={16} />} to="/runs/new" search={{ dataset }}>
              New run
            </LinkButton>
          )}
        </>
      }
    >
      <Group gap="xs" role="search" aria-label="Runs">
        <Select
          aria-label="Status"
          placeholder="Status"
          size="xs"
          w={150}
          clearable
          value={status ?? null}
          onChange={(value) =>
            void navigate({ search: { dataset, status: RUN_STATUSES.find((one) => one === value) } })
          }
          data={RUN_STATUSES}
        />
        <DatasetSelect
          aria-label="Dataset"
          placeholder="Dataset"
          size="xs"
          w={260}
          value={dataset ?? null}
          onChange={(id) => void navigate({ search: { status, dataset: id ?? undefined } })}
        />
      </Group>
      {found.error !== null && <ErrorView error={found.error} onRetry={() => void found.refetch()} />}
      {found.isPending && <PageSkeleton />}
      {found.data !== undefined && (
        <>
          {found.data.data.length === 0 ? (
            <Text c="dimmed" size="sm">
              {status === undefined && dataset === undefined
                ? 'No runs yet. A run sends the items of a dataset to a model and scores the answers.'
                : 'No run matches the filters.'}
            </Text>
          ) : (
            <RunsTable runs={found.data.data} chosen={chosen} onToggle={toggle} />
          )}
          <Pager
            total={found.data.meta.total_items}
            what="runs"
            isFirst={cursor === undefined}
            nextCursor={found.data.meta.next_cursor}
            onCursor={(next) => void navigate({ search: { dataset, status, cursor: next } })}
          />
        </>
      )}
    </Page>
  );
}
