import { Checkbox, Table } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useApi } from '../api/api-context.tsx';
import { dataOf } from '../api/api-problem.ts';
import { WideTable } from '../ui/layout/wide-table.tsx';
import { StatusBadge } from '../ui/status-badge.tsx';
import { Age } from '../ui/text/age.tsx';
import { formatCost, formatCount, formatPercent, formatScore } from '../ui/text/formats.ts';
import { nameOf, type Run } from './use-run.ts';

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
  return (
    <WideTable label="Table of runs" minWidth={900} highlightOnHover>
      <Table.Thead>
        <Table.Tr>
          <Table.Td w={36} />
          <Table.Th>Name</Table.Th>
          <Table.Th>Dataset</Table.Th>
          <Table.Th>Status</Table.Th>
          <Table.Th ta="end">Done</Table.Th>
          <Table.Th ta="end">Score</Table.Th>
          <Table.Th ta="end">Passed</Table.Th>
          <Table.Th ta="end">Failed</Table.Th>
          <Table.Th ta="end">Cost</Table.Th>
          <Table.Th>Created</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody className="numbers">
        {runs.map((run) => (
          <Table.Tr key={run.id}>
            <Table.Td>
              <Checkbox
                size="xs"
                aria-label={`Compare ${nameOf(run)}`}
                checked={chosen.includes(run.id)}
                onChange={() => onToggle(run.id)}
              />
            </Table.Td>
            <Table.Td maw={320} className="wrapping-cell">
              <Link to="/runs/$id" params={{ id: run.id }} className="row-link">
                <span className="break">{nameOf(run)}</span>
              </Link>
            </Table.Td>
            <Table.Td maw={260} className="wrapping-cell">
              <Link to="/datasets/$id" params={{ id: run.dataset_id }} className="quiet-link">
                <span className="break">{datasetOf(run)}</span>
              </Link>
            </Table.Td>
            <Table.Td>
              <StatusBadge status={run.status} />
            </Table.Td>
            <Table.Td ta="end">
              {run.counts.done === run.counts.total
                ? formatCount(run.counts.done)
                : `${formatCount(run.counts.done)} of ${formatCount(run.counts.total)}`}
            </Table.Td>
            <Table.Td ta="end">{formatScore(run.scores.mean)}</Table.Td>
            <Table.Td ta="end">{formatPercent(run.scores.pass_rate)}</Table.Td>
            <Table.Td ta="end">{run.counts.failed === 0 ? '–' : formatCount(run.counts.failed)}</Table.Td>
            <Table.Td ta="end">{formatCost(run.cost)}</Table.Td>
            <Table.Td>
              <Age since={run.created_at} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </WideTable>
  );
}

/** Names of the newest datasets; others go by the beginning of their hash. */
function useDatasetNames(): (run: Run) => string {
  const api = useApi();
  const found = useQuery({
    queryKey: ['datasets', { limit: 100 }],
    queryFn: ({ signal }) => dataOf(api.GET('/datasets', { params: { query: { limit: 100 } }, signal })),
  });
  const names = new Map(found.data?.data.map(({ id, name }) => [id, name]));
  return ({ dataset_id, dataset_version_hash }) =>
    names.get(dataset_id) ?? (found.isPending ? '…' : dataset_version_hash.slice(0, 10));
}
