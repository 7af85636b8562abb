import { Group } from '@mantine/core';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import { get } from '../api/api.ts';
import { DatasetSelect } from '../datasets/choose-dataset.tsx';
import { useCan } from '../session/session.tsx';
import { LinkButton, SmallButton } from '../ui/buttons.tsx';
import { ChosenFilter, TypedFilter } from '../ui/filters.tsx';
import { Page } from '../ui/layout/page.tsx';
import { BY_CURSOR, MoreButton } from '../ui/layout/pager.tsx';
import { QueryState } from '../ui/query-state.tsx';
import { SavedViews } from '../ui/saved-views.tsx';
import { useChangeSearch } from '../ui/search-params.ts';
import { ColumnsMenu } from '../ui/table/columns-menu.tsx';
import { Dimmed } from '../ui/text/dimmed.ts';
import { formatCount, formatCountOf } from '../ui/text/formats.ts';
import { comparisonOf, modelOf, nameOf, useDatasetNames } from './queries.ts';
import { RUN_STATUSES, type RunsSearch } from './runs-search.ts';
import { DEFAULT_RUN_COLUMNS, RunsTable, runColumns } from './runs-table.tsx';

const route = getRouteApi('/runs');

const PAGE = 100;
const REFRESH_MS = 2_000;
const IDLE_REFRESH_MS = 15_000;

export default function RunsPage() {
  const search = route.useSearch();
  const { dataset, status, q } = search;
  const navigate = route.useNavigate();
  const changeSearch = useChangeSearch<RunsSearch>(route);
  const canEdit = useCan('editor');
  const chosen = search.chosen?.split(',') ?? [];
  const found = useInfiniteQuery({
    queryKey: ['runs', 'pages', { dataset, status }],
    queryFn: ({ signal, pageParam }) =>
      get('/runs', { query: { dataset_id: dataset, status, limit: PAGE, cursor: pageParam } }, signal),
    ...BY_CURSOR,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.pages[0]?.data.some(({ finished_at }) => finished_at === null) === true
        ? REFRESH_MS * state.data.pages.length
        : IDLE_REFRESH_MS,
  });
  const read = found.data?.pages.flatMap(({ data }) => data) ?? [];
  const total = found.data?.pages[0]?.meta.total_items ?? 0;
  const datasetOf = useDatasetNames(read);
  const runs = read.filter((run) =>
    [nameOf(run), modelOf(run) ?? '', datasetOf(run)].some((text) =>
      text.toLowerCase().includes(q?.toLowerCase() ?? ''),
    ),
  );
  const columns = useMemo(() => runColumns(datasetOf), [datasetOf]);
  const change = (changes: RunsSearch): void => changeSearch(changes, { replace: true });
  return (
    <Page
      title="Runs"
      actions={
        <>
          <SmallButton
            label={`Compare ${chosen.length < 2 ? '' : chosen.length}`}
            icon="arrowsDiff"
            disabled={chosen.length < 2}
            onClick={() => void navigate({ to: '/compare', search: { runs: comparisonOf(read, chosen) } })}
          />
          {canEdit && <LinkButton label="New run" icon="plus" to="/runs/new" search={{ dataset }} />}
        </>
      }
    >
      <Group gap="xs" role="search" aria-label="Runs">
        <TypedFilter
          label="Search name, model, dataset"
          value={q}
          onChange={(text) => change({ q: text })}
          isWide
        />
        <ChosenFilter
          label="Status"
          value={status}
          values={RUN_STATUSES}
          onChange={(value) => change({ status: value })}
        />
        <DatasetSelect
          aria-label="Dataset"
          placeholder="Dataset"
          size="xs"
          w={260}
          value={dataset ?? null}
          onChange={(id) => change({ dataset: id ?? undefined })}
        />
        <ColumnsMenu columns={columns} defaults={DEFAULT_RUN_COLUMNS} view={search} onView={change} />
        <SavedViews of="runs" />
      </Group>
      <QueryState query={found} />
      {found.data !== undefined && (
        <>
          {runs.length === 0 ? (
            <Dimmed>
              {total === 0 && status === undefined && dataset === undefined
                ? 'No runs yet. A run sends the items of a dataset to a model and scores the answers.'
                : 'No run matches the filters.'}
            </Dimmed>
          ) : (
            <RunsTable
              runs={runs}
              chosen={chosen}
              onChoose={(ids) => change({ chosen: ids.join(',') || undefined })}
              view={search}
              onView={change}
              fills
            />
          )}
          <Group justify="space-between">
            <Dimmed aria-live="polite">{countText(runs.length, read.length, total)}</Dimmed>
            <MoreButton query={found} size="xs">
              Read older runs
            </MoreButton>
          </Group>
        </>
      )}
    </Page>
  );
}

/** How many runs are shown, and of how many: search and order only cover runs that were read. */
function countText(shown: number, read: number, total: number): string {
  const runs = formatCountOf(shown, 'run');
  if (read < total) return `${runs} of the newest ${formatCount(read)}, of ${formatCount(total)} in all`;
  return shown === total ? runs : `${runs} of ${formatCount(total)}`;
}
