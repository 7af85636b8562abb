import { Group } from '@mantine/core';
import type { ResponseOf } from '@svc/client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { get } from '../../api/api.ts';
import { useCan } from '../../session/session.tsx';
import { ChosenFilter, Clearable, TypedFilter } from '../../ui/filters.tsx';
import { IconCloudDownload, IconUpload } from '../../ui/icons.tsx';
import { LinkAnchor, LinkButton } from '../../ui/layout/links.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Pager } from '../../ui/layout/pager.tsx';
import { QueryState } from '../../ui/query-state.tsx';
import { SavedViews } from '../../ui/saved-views.tsx';
import { SourceBadge } from '../../ui/source-badge.tsx';
import { DataTable } from '../../ui/table/data-table.tsx';
import type { Column } from '../../ui/table/table-model.ts';
import { Age } from '../../ui/text/age.tsx';
import { CopyText } from '../../ui/text/copy-action.tsx';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { firstLine, formatCount, formatScore } from '../../ui/text/formats.ts';
import { type DatasetsSearch, SOURCES } from '../dataset-search.ts';
import { WaysIn } from './ways-in.tsx';

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
  const { q, source, version_hash, sort = '-created', cursor } = search;
  const isFiltered = q !== undefined || source !== undefined || version_hash !== undefined;
  const total = found.data?.meta.total_items ?? 0;
  if (found.data !== undefined && total === 0 && !isFiltered && !found.isPlaceholderData)
    return (
      <Page title="Datasets" subtitle="There is nothing here yet.">
        <WaysIn />
      </Page>
    );
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
          <DataTable
            label="Table of datasets"
            columns={COLUMNS}
            rows={found.data.data}
            keyOf={({ id }) => id}
            view={{ sort }}
            onView={(view) => change({ sort: view.sort as DatasetsSearch['sort'] })}
            onOpen={(_, row) => row && void navigate({ to: '/datasets/$id', params: { id: row.id } })}
            isTall
            fills
          />
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

type Summary = ResponseOf<'/datasets', 'get'>['data'][number];

const COLUMNS: readonly Column<Summary>[] = [
  {
    key: 'name',
    label: 'Name',
    size: 240,
    share: 3,
    wraps: true,
    isSorted: true,
    cell: ({ id, name, description }) => (
      <>
        <Link to="/datasets/$id" params={{ id }} className="row-link">
          {name}
        </Link>
        {description !== null && (
          <Dimmed size="xs" lineClamp={1}>
            {firstLine(description)}
          </Dimmed>
        )}
      </>
    ),
  },
  {
    key: 'items',
    label: 'Items',
    size: 80,
    isNumber: true,
    isSorted: true,
    cell: ({ item_count }) => formatCount(item_count),
  },
  {
    label: 'Last score',
    size: 90,
    isNumber: true,
    cell: ({ last_run: run }) =>
      run === null ? (
        '–'
      ) : (
        <LinkAnchor to="/runs/$id" params={{ id: run.id }} size="sm">
          {formatScore(run.score)}
        </LinkAnchor>
      ),
  },
  {
    label: 'Sections',
    size: 80,
    isNumber: true,
    isOptional: true,
    cell: ({ section_count }) => formatCount(section_count),
  },
  {
    label: 'Files',
    size: 60,
    isNumber: true,
    isOptional: true,
    cell: ({ asset_count }) => (asset_count === 0 ? '–' : formatCount(asset_count)),
  },
  {
    label: 'Source',
    size: 160,
    share: 1,
    wraps: true,
    isOptional: true,
    cell: ({ schema }) => <SourceBadge schema={schema} />,
  },
  {
    label: 'Hash',
    size: 130,
    isOptional: true,
    cell: ({ version_hash }) => <CopyText text={version_hash} length={10} label="version hash" />,
  },
  {
    key: 'created',
    label: 'Added',
    size: 110,
    isSorted: true,
    cell: ({ created_at }) => <Age since={created_at} />,
  },
];
