import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { LinkAnchor } from '../ui/layout/links.tsx';
import { StatusBadge } from '../ui/status-badge.tsx';
import { type Column, type KeyedColumn, keyed } from '../ui/table/table-model.ts';
import { Age } from '../ui/text/age.tsx';
import { Dimmed } from '../ui/text/dimmed.ts';
import { formatCost, formatCount, formatPercent } from '../ui/text/formats.ts';
import { modelOf, nameOf, type Run, tokensOf } from './queries.ts';
import { scoreText } from './run-facts.ts';

export const DEFAULT_RUN_COLUMNS = [
  ...['name', 'model', 'dataset', 'status', 'done', 'score', 'right', 'failed', 'tokens', 'cost', 'created'],
];

/**
 * What the table of runs can show.
 *
 * @param datasetOf the dataset of a run, with its version
 */
export function runColumns(datasetOf: (run: Run) => string): readonly KeyedColumn<Run>[] {
  const dim = (text: string): ReactNode => <Dimmed span>{text}</Dimmed>;
  const columns: readonly Column<Run>[] = [
    {
      key: 'name',
      label: 'Name',
      size: 220,
      share: 4,
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
      size: 130,
      share: 2,
      wraps: true,
      sortBy: (run) => modelOf(run) ?? undefined,
      cell: (run) => dim(modelOf(run) ?? '–'),
    },
    {
      key: 'dataset',
      label: 'Dataset',
      size: 160,
      share: 3,
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
      isOptional: true,
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
      isOptional: true,
      isNumber: true,
      sortBy: ({ counts }) => counts.failed,
      cell: ({ counts: { failed } }) => (failed === 0 ? '–' : formatCount(failed)),
    },
    {
      key: 'tokens',
      label: 'Tokens',
      size: 90,
      isOptional: true,
      isNumber: true,
      sortBy: tokensOf,
      cell: (run) => formatCount(tokensOf(run)),
    },
    {
      key: 'cost',
      label: 'Cost',
      size: 110,
      isOptional: true,
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
  return columns.map(keyed);
}
