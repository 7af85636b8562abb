import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { LinkAnchor } from '../ui/layout/links.tsx';
import { StatusBadge } from '../ui/status-badge.tsx';
import type { SortedColumn } from '../ui/table/use-view-table.ts';
import { Age } from '../ui/text/age.tsx';
import { Dimmed } from '../ui/text/dimmed.ts';
import { formatCost, formatCount, formatPercent } from '../ui/text/formats.ts';
import { scoreText } from './run-facts.ts';
import { modelOf, nameOf, type Run, tokensOf } from './use-run.ts';

/** A column of the table of runs. */
interface RunColumn extends SortedColumn<Run> {
  readonly isNumber?: boolean;
  readonly wraps?: boolean;
  readonly cell: (run: Run) => ReactNode;
}

export const DEFAULT_RUN_COLUMNS = [
  ...['name', 'model', 'dataset', 'status', 'done', 'score', 'right', 'failed', 'tokens', 'cost', 'created'],
];

/**
 * What the table of runs can show.
 *
 * @param datasetOf the dataset of a run, with its version
 */
export function runColumns(datasetOf: (run: Run) => string): readonly RunColumn[] {
  const dim = (text: string): ReactNode => <Dimmed span>{text}</Dimmed>;
  return [
    {
      key: 'name',
      label: 'Name',
      size: 280,
      wraps: true,
      sortBy: nameOf,
      cell: (run) => (
        <>
          <Link to="/runs/$id" params={{ id: run.id }} className="row-link">
            {nameOf(run)}
          </Link>
          {run.source_run_id !== null && dim(' scored again')}
        </>
      ),
    },
    {
      key: 'model',
      label: 'Model',
      size: 200,
      wraps: true,
      sortBy: (run) => modelOf(run) ?? undefined,
      cell: (run) => dim(modelOf(run) ?? '–'),
    },
    {
      key: 'dataset',
      label: 'Dataset',
      size: 280,
      wraps: true,
      sortBy: datasetOf,
      cell: (run) => (
        <LinkAnchor to="/datasets/$id" params={{ id: run.dataset_id }} size="sm" c="dimmed">
          {datasetOf(run)}
        </LinkAnchor>
      ),
    },
    {
      key: 'version',
      label: 'Version',
      size: 80,
      isNumber: true,
      sortBy: ({ dataset_version }) => dataset_version,
      cell: ({ dataset_version }) => dataset_version,
    },
    {
      key: 'status',
      label: 'Status',
      size: 110,
      sortBy: ({ status }) => status,
      cell: ({ status }) => <StatusBadge status={status} />,
    },
    {
      key: 'done',
      label: 'Done',
      size: 100,
      isNumber: true,
      sortBy: ({ counts }) => counts.done,
      cell: ({ counts: { done, total } }) =>
        done === total ? formatCount(done) : `${formatCount(done)} of ${formatCount(total)}`,
    },
    {
      key: 'score',
      label: 'Score',
      size: 130,
      isNumber: true,
      sortBy: ({ scores }) => scores.mean ?? undefined,
      cell: ({ scores }) => scoreText(scores),
    },
    {
      key: 'right',
      label: 'Right',
      size: 80,
      isNumber: true,
      sortBy: ({ scores }) => scores.pass_rate ?? undefined,
      cell: ({ scores }) => formatPercent(scores.pass_rate),
    },
    {
      key: 'failed',
      label: 'No answer',
      size: 90,
      isNumber: true,
      sortBy: ({ counts }) => counts.failed,
      cell: ({ counts: { failed } }) => (failed === 0 ? '–' : formatCount(failed)),
    },
    {
      key: 'tokens',
      label: 'Tokens',
      size: 90,
      isNumber: true,
      sortBy: tokensOf,
      cell: (run) => formatCount(tokensOf(run)),
    },
    {
      key: 'cost',
      label: 'Cost',
      size: 110,
      isNumber: true,
      sortBy: ({ cost }) => cost?.amount,
      cell: ({ cost }) => formatCost(cost),
    },
    {
      key: 'created',
      label: 'Created',
      size: 110,
      sortBy: ({ created_at }) => Date.parse(created_at),
      cell: ({ created_at }) => <Age since={created_at} />,
    },
  ];
}
