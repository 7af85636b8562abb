import { Checkbox, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useApi } from '../api/api-context.tsx';
import { dataOf } from '../api/api-problem.ts';
import { type Column, Columns } from '../ui/layout/columns.tsx';
import { LinkAnchor } from '../ui/layout/links.tsx';
import { StatusBadge } from '../ui/status-badge.tsx';
import { Age } from '../ui/text/age.tsx';
import { formatCost, formatCount, formatPercent } from '../ui/text/formats.ts';
import { scoreText } from './run-facts.ts';
import { modelOf, nameOf, type Run } from './use-run.ts';

const NUMBERS: readonly Column<Run>[] = [
  { header: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  {
    header: 'Done',
    align: 'end',
    cell: ({ counts: { done, total } }) =>
      done === total ? formatCount(done) : `${formatCount(done)} of ${formatCount(total)}`,
  },
  { header: 'Score', align: 'end', cell: ({ scores }) => scoreText(scores) },
  { header: 'Right', align: 'end', cell: ({ scores }) => formatPercent(scores.pass_rate) },
  {
    header: 'No answer',
    align: 'end',
    cell: ({ counts: { failed } }) => (failed === 0 ? '–' : formatCount(failed)),
  },
  {
    header: 'Tokens',
    align: 'end',
    cell: ({ usage }) => formatCount(usage.input_tokens + usage.output_tokens),
  },
  { header: 'Cost', align: 'end', cell: ({ cost }) => formatCost(cost) },
  { header: 'Created', cell: ({ created_at }) => <Age since={created_at} /> },
];

/** A page of runs, from which some can be chosen to be compared. */
export function RunsTable({
  runs,
  chosen,
  onToggle,
}: {
  readonly runs: readonly Run[];
  readonly chosen: readonly string[];
  readonly onToggle: (id: string) => void;
}) {
  const datasetOf = useDatasetNames();
  const columns: readonly Column<Run>[] = [
    {
      header: '',
      width: 36,
      cell: (run) => (
        <Checkbox
          size="xs"
          aria-label={`Compare ${nameOf(run)}`}
          checked={chosen.includes(run.id)}
          onChange={() => onToggle(run.id)}
        />
      ),
    },
    {
      header: 'Name',
      maxWidth: 320,
      wraps: true,
      cell: (run) => (
        <Link to="/runs/$id" params={{ id: run.id }} className="row-link">
          {nameOf(run)}
        </Link>
      ),
    },
    {
      header: 'Model',
      maxWidth: 220,
      wraps: true,
      cell: (run) => (
        <Text span size="sm" c="dimmed">
          {run.source_run_id === null ? (modelOf(run) ?? '–') : 'scored again'}
        </Text>
      ),
    },
    {
      header: 'Dataset',
      maxWidth: 260,
      wraps: true,
      cell: (run) => (
        <LinkAnchor to="/datasets/$id" params={{ id: run.dataset_id }} size="sm" c="dimmed">
          {datasetOf(run)}
        </LinkAnchor>
      ),
    },
    ...NUMBERS,
  ];
  return (
    <Columns
      label="Table of runs"
      minWidth={1080}
      highlightOnHover
      columns={columns}
      rows={runs}
      keyOf={({ id }) => id}
    />
  );
}

/** Names of the newest datasets, with the version where there are several; others go by the beginning of their hash. */
export function useDatasetNames(): (run: Run) => string {
  const api = useApi();
  const found = useQuery({
    queryKey: ['datasets', { limit: 100 }],
    queryFn: ({ signal }) => dataOf(api.GET('/datasets', { params: { query: { limit: 100 } }, signal })),
  });
  const known = new Map(found.data?.data.map((dataset) => [dataset.id, dataset]));
  return ({ dataset_id, dataset_version, dataset_version_hash }) => {
    const dataset = known.get(dataset_id);
    if (dataset === undefined) return found.isPending ? '…' : dataset_version_hash.slice(0, 10);
    return dataset.version_count === 1 ? dataset.name : `${dataset.name}, version ${dataset_version}`;
  };
}
