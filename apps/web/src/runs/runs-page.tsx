import { Button, Group, Select, Text } from '@mantine/core';
import { IconArrowsDiff, IconPlus } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useApi } from '../api/api-context.tsx';
import { dataOf } from '../api/api-problem.ts';
import { DatasetSelect } from '../datasets/dataset-select.tsx';
import { useCan } from '../session/session.tsx';
import { ErrorView } from '../ui/error-view.tsx';
import { LinkButton } from '../ui/layout/links.tsx';
import { Page } from '../ui/layout/page.tsx';
import { PageSkeleton } from '../ui/layout/page-skeleton.tsx';
import { Pager } from '../ui/layout/pager.tsx';
import { RUN_STATUSES, type RunsSearch } from './runs-search.ts';
import { RunsTable } from './runs-table.tsx';

const route = getRouteApi('/runs');

const REFRESH_MS = 2000;
const IDLE_REFRESH_MS = 15_000;

/** The runs: a table with filters and pages, from which some can be compared. */
export function RunsPage() {
  const api = useApi();
  const search = route.useSearch();
  const { dataset, status, cursor } = search;
  const navigate = route.useNavigate();
  const canEdit = useCan('editor');
  const chosen = search.chosen?.split(',') ?? [];
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
  const change = (changes: Partial<RunsSearch>, isNew = true): void =>
    void navigate({
      search: (before) => ({ ...before, ...(isNew && { cursor: undefined }), ...changes }),
      replace: !isNew,
      resetScroll: false,
    });
  const toggle = (id: string): void => {
    const next = chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id];
    change({ chosen: next.join(',') || undefined }, false);
  };
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
          onChange={(value) => change({ status: RUN_STATUSES.find((one) => one === value) })}
          data={RUN_STATUSES}
        />
        <DatasetSelect
          aria-label="Dataset"
          placeholder="Dataset"
          size="xs"
          w={260}
          value={dataset ?? null}
          onChange={(id) => change({ dataset: id ?? undefined })}
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
            onCursor={(next) => change({ cursor: next })}
          />
        </>
      )}
    </Page>
  );
}
