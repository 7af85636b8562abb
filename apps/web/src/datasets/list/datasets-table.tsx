import type { ResponseOf } from '@svc/client';
import { Link } from '@tanstack/react-router';
import { type Column, Columns } from '../../ui/layout/columns.tsx';
import { LinkAnchor } from '../../ui/layout/links.tsx';
import { SourceBadge } from '../../ui/source-badge.tsx';
import { Age } from '../../ui/text/age.tsx';
import { CopyText } from '../../ui/text/copy-text.tsx';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { firstLine } from '../../ui/text/first-line.ts';
import { formatCount, formatScore } from '../../ui/text/formats.ts';
import type { DatasetSort } from './datasets-search.ts';

type Summary = ResponseOf<'/datasets', 'get'>['data'][number];

const COLUMNS: readonly Column<Summary, DatasetSort>[] = [
  {
    header: 'Name',
    maxWidth: 420,
    wraps: true,
    sort: ['name', '-name'],
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
    header: 'Items',
    align: 'end',
    sort: ['-items', 'items'],
    cell: ({ item_count }) => formatCount(item_count),
  },
  {
    header: 'Last score',
    align: 'end',
    cell: ({ last_run: run }) =>
      run === null ? (
        '–'
      ) : (
        <LinkAnchor to="/runs/$id" params={{ id: run.id }} size="sm">
          {formatScore(run.score)}
        </LinkAnchor>
      ),
  },
  { header: 'Sections', align: 'end', cell: ({ section_count }) => formatCount(section_count) },
  {
    header: 'Files',
    align: 'end',
    cell: ({ asset_count }) => (asset_count === 0 ? '–' : formatCount(asset_count)),
  },
  { header: 'Source', wraps: true, cell: ({ schema }) => <SourceBadge schema={schema} /> },
  {
    header: 'Hash',
    cell: ({ version_hash }) => <CopyText text={version_hash} length={10} label="version hash" />,
  },
  { header: 'Added', sort: ['-created', 'created'], cell: ({ created_at }) => <Age since={created_at} /> },
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
  return (
    <Columns
      label="Table of datasets"
      minWidth={720}
      highlightOnHover
      columns={COLUMNS}
      rows={datasets}
      keyOf={({ id }) => id}
      sort={sort}
      onSort={onSort}
    />
  );
}
