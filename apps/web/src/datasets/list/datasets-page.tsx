import { Group } from '@mantine/core';
import type { ResponseOf } from '@svc/client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { apiQuery } from '../../api/api.ts';
import { useCan } from '../../session/session.tsx';
import { LinkButton, RunLink } from '../../ui/buttons.tsx';
import { ChosenFilter, Clearable, TypedFilter } from '../../ui/filters.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { PagedTable } from '../../ui/layout/pager.tsx';
import { SavedViews } from '../../ui/saved-views.tsx';
import { ages, numbers, SourceBadge, texts } from '../../ui/table/cells.tsx';
import type { Column } from '../../ui/table/table-model.ts';
import { CopyText } from '../../ui/text/copy-action.tsx';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { firstLine, formatCount, formatScore } from '../../ui/text/formats.ts';
import { type DatasetsSearch, SOURCES } from '../dataset-search.ts';
import { WaysIn } from './ways-in.tsx';

const route = getRouteApi('/datasets');

const REFRESH_MS = 15_000;

const SOURCE_LABELS = { hub: 'From the hub', pkg_zip: 'Packages', file: 'Files' } as const;

export default function DatasetsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const canEdit = useCan('editor');
  const found = useQuery({
    ...apiQuery(['datasets', search], '/datasets', { query: { ...search, limit: 50 } }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
  const change = (changes: DatasetsSearch): void =>
    void navigate({ search: (before) => ({ ...before, cursor: undefined, ...changes }) });
  const { q, source, version_hash, sort = '-created' } = search;
  const isFiltered = q !== undefined || source !== undefined || version_hash !== undefined;
  if (found.data?.meta.total_items === 0 && !isFiltered && !found.isPlaceholderData)
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
            <LinkButton label="Import from the hub" variant="default" icon="cloudDownload" to="/import" />
            <LinkButton label="Upload" icon="upload" to="/upload" />
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
      <PagedTable
        query={found}
        columns={COLUMNS}
        what="dataset"
        empty="No dataset matches the filters."
        view={{ sort }}
        onView={(view) => change({ sort: view.sort as DatasetsSearch['sort'] })}
        onOpen={(_, row) => row && void navigate({ to: '/datasets/$id', params: { id: row.id } })}
      />
    </Page>
  );
}

type Summary = ResponseOf<'/datasets', 'get'>['data'][number];

const COLUMNS: readonly Column<Summary>[] = [
  texts('Name', (dataset) => <Name {...dataset} />, { key: 'name', size: 240, share: 3, isSorted: true }),
  numbers('Items', ({ item_count }) => formatCount(item_count), { key: 'items', size: 80, isSorted: true }),
  numbers(
    'Last score',
    ({ last_run: run }) => (run === null ? '–' : <RunLink id={run.id} label={formatScore(run.score)} />),
    { size: 90 },
  ),
  numbers('Sections', ({ section_count }) => formatCount(section_count), { size: 80, isOptional: true }),
  numbers('Files', ({ asset_count: files }) => (files === 0 ? '–' : formatCount(files)), {
    size: 60,
    isOptional: true,
  }),
  texts('Source', ({ schema }) => <SourceBadge schema={schema} />, { size: 160, share: 1, isOptional: true }),
  {
    label: 'Hash',
    size: 130,
    isOptional: true,
    cell: ({ version_hash }) => <CopyText text={version_hash} length={10} label="version hash" />,
  },
  ages('Added', ({ created_at }) => created_at, { key: 'created', isSorted: true }),
];

function Name({ id, name, description }: Summary) {
  return (
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
  );
}
