import type { ResponseOf } from '@svc/client';
import { getRouteApi, Link } from '@tanstack/react-router';
import { LinkAnchor } from '../../ui/layout/links.tsx';
import { SourceBadge } from '../../ui/source-badge.tsx';
import { DataTable } from '../../ui/table/data-table.tsx';
import type { Column } from '../../ui/table/table-model.ts';
import { Age } from '../../ui/text/age.tsx';
import { CopyText } from '../../ui/text/copy-action.tsx';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { firstLine, formatCount, formatScore } from '../../ui/text/formats.ts';
import type { DatasetSort } from './datasets-search.ts';

type Summary = ResponseOf<'/datasets', 'get'>['data'][number];

const route = getRouteApi('/datasets');

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

/** The table of datasets. */
export function DatasetsTable({
  datasets,
  sort = '-created',
  onSort,
}: {
  readonly datasets: readonly Summary[];
  readonly sort?: DatasetSort | undefined;
  readonly onSort: (sort: DatasetSort) => void;
}) {
  const navigate = route.useNavigate();
  return (
    <DataTable
      label="Table of datasets"
      columns={COLUMNS}
      rows={datasets}
      keyOf={({ id }) => id}
      view={{ sort }}
      onView={({ sort: next }) => onSort((next ?? '-created') as DatasetSort)}
      onOpen={(_, row) => row && void navigate({ to: '/datasets/$id', params: { id: row.id } })}
      isTall
      fills
    />
  );
}
