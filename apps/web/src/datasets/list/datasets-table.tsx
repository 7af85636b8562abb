import { Table, Text, UnstyledButton } from '@mantine/core';
import type { ResponseOf } from '@svc/client';
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { WideTable } from '../../ui/layout/wide-table.tsx';
import { SourceBadge } from '../../ui/source-badge.tsx';
import { Age } from '../../ui/text/age.tsx';
import { CopyText } from '../../ui/text/copy-text.tsx';
import { formatCount } from '../../ui/text/formats.ts';
import type { DatasetSort } from './datasets-search.ts';

type Summary = ResponseOf<'/datasets', 'get'>['data'][number];

/** Columns by which the list can be ordered: first click, second click. */
const ORDERS = {
  name: ['name', '-name'],
  items: ['-items', 'items'],
  age: ['-created', 'created'],
} as const satisfies Record<string, readonly [DatasetSort, DatasetSort]>;

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
  const header = (column: keyof typeof ORDERS, label: string) => (
    <SortHeader label={label} orders={ORDERS[column]} sort={sort} onSort={onSort} />
  );
  return (
    <WideTable label="Table of datasets" minWidth={640} highlightOnHover>
      <Table.Thead>
        <Table.Tr>
          {header('name', 'Name')}
          {header('items', 'Items')}
          <Table.Th>Sections</Table.Th>
          <Table.Th>Files</Table.Th>
          <Table.Th>Source</Table.Th>
          <Table.Th>Hash</Table.Th>
          {header('age', 'Added')}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {datasets.map((dataset) => (
          <Table.Tr key={dataset.id}>
            <Table.Td maw={420}>
              <Link to="/datasets/$id" params={{ id: dataset.id }} className="row-link">
                <span className="break">{dataset.name}</span>
              </Link>
              {dataset.description !== null && (
                <Text size="xs" c="dimmed" lineClamp={1} className="break">
                  {dataset.description}
                </Text>
              )}
            </Table.Td>
            <Table.Td>{formatCount(dataset.item_count)}</Table.Td>
            <Table.Td>{formatCount(dataset.section_count)}</Table.Td>
            <Table.Td>{dataset.asset_count === 0 ? '–' : formatCount(dataset.asset_count)}</Table.Td>
            <Table.Td>
              <SourceBadge schema={dataset.schema} />
            </Table.Td>
            <Table.Td>
              <CopyText
                text={dataset.version_hash}
                shown={dataset.version_hash.slice(0, 10)}
                label="version hash"
              />
            </Table.Td>
            <Table.Td>
              <Age since={dataset.created_at} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </WideTable>
  );
}

function SortHeader({
  label,
  orders: [first, second],
  sort,
  onSort,
}: {
  readonly label: string;
  readonly orders: readonly [DatasetSort, DatasetSort];
  readonly sort: DatasetSort;
  readonly onSort: (sort: DatasetSort) => void;
}) {
  const isSorted = sort === first || sort === second;
  const direction = sort.startsWith('-') ? 'descending' : 'ascending';
  return (
    <Table.Th aria-sort={isSorted ? direction : 'none'}>
      <UnstyledButton fz="sm" fw={700} onClick={() => onSort(sort === first ? second : first)}>
        {label}{' '}
        {isSorted &&
          (direction === 'descending' ? (
            <IconArrowDown size={12} aria-hidden />
          ) : (
            <IconArrowUp size={12} aria-hidden />
          ))}
      </UnstyledButton>
    </Table.Th>
  );
}
