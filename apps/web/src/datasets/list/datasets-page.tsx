import { Group } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { get } from '../../api/api.ts';
import { useCan } from '../../session/session.tsx';
import { ChosenFilter, Clearable, TypedFilter } from '../../ui/filters.tsx';
import { IconCloudDownload, IconUpload } from '../../ui/icons.tsx';
import { LinkButton } from '../../ui/layout/links.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Pager } from '../../ui/layout/pager.tsx';
import { QueryState } from '../../ui/query-state.tsx';
import { SavedViews } from '../../ui/saved-views.tsx';
import { type DatasetsSearch, SOURCES } from './datasets-search.ts';
import { DatasetsTable } from './datasets-table.tsx';
import { EmptyDatasets } from './empty-datasets.tsx';

const route = getRouteApi('/datasets');

const REFRESH_MS = 15_000;

const SOURCE_LABELS = { hub: 'From the hub', pkg_zip: 'Packages', file: 'Files' } as const;

/** The datasets: a table with search, filters, order and pages, or the ways to get the first one. */
export default function DatasetsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const canEdit = useCan('editor');
  const found = useQuery({
    queryKey: ['datasets', search],
    queryFn: ({ signal }) => get('/datasets', { query: { ...search, limit: 50 } }, signal),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
  const change = (changes: DatasetsSearch): void =>
    void navigate({ search: (before) => ({ ...before, cursor: undefined, ...changes }) });
  const { q, source, version_hash, sort, cursor } = search;
  const isFiltered = q !== undefined || source !== undefined || version_hash !== undefined;
  const total = found.data?.meta.total_items ?? 0;
  if (found.data !== undefined && total === 0 && !isFiltered && !found.isPlaceholderData)
    return <EmptyDatasets />;
  return (
    <Page
      title="Datasets"
      actions={
        canEdit && (
          <>
            <LinkButton
              size="xs"
              variant="default"
              leftSection={<IconCloudDownload size={16} />}
              to="/import"
            >
              Import from the hub
            </LinkButton>
            <LinkButton size="xs" leftSection={<IconUpload size={16} />} to="/upload">
              Upload
            </LinkButton>
          </>
        )
      }
    >
      <Group gap="xs" role="search" aria-label="Datasets">
        <Clearable
          isFiltered={isFiltered}
          onClear={() => change({ q: undefined, source: undefined, version_hash: undefined })}
        >
          <TypedFilter label="Search datasets" value={q} onChange={(text) => change({ q: text })} isWide />
          <ChosenFilter
            label="Source"
            value={source}
            values={SOURCES.map((value) => ({ value, label: SOURCE_LABELS[value] }))}
            onChange={(value) => change({ source: value })}
          />
        </Clearable>
        <SavedViews of="datasets" />
      </Group>
      <QueryState query={found} />
      {found.data !== undefined && (
        <>
          <DatasetsTable datasets={found.data.data} sort={sort} onSort={(next) => change({ sort: next })} />
          <Pager
            total={total}
            what="dataset"
            isFirst={cursor === undefined}
            nextCursor={found.data.meta.next_cursor}
            onCursor={(next) => change({ cursor: next })}
          />
        </>
      )}
    </Page>
  );
}
