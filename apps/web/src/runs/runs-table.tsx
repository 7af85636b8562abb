import { Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { LinkAnchor } from '../ui/buttons.tsx';
import { ages, numbers, StatusBadge, texts } from '../ui/table/cells.tsx';
import { DataTable } from '../ui/table/data-table.tsx';
import { type Column, type KeyedColumn, keyed } from '../ui/table/table-model.ts';
import type { ColumnsView } from '../ui/table/view-columns.ts';
import { Dimmed } from '../ui/text/dimmed.ts';
import { formatCost, formatCount, formatPercent } from '../ui/text/formats.ts';
import { type DatasetOf, modelOf, nameOf, type Run, tokensOf, useDatasetNames } from './queries.ts';
import { scoreText } from './run-facts.ts';

export const DEFAULT_RUN_COLUMNS = [
  ...['name', 'model', 'dataset', 'status', 'done', 'score', 'right', 'failed', 'tokens', 'cost', 'created'],
];

export function RunsTable(props: {
  readonly runs: readonly Run[];
  readonly chosen: readonly string[];
  readonly onChoose: (ids: readonly string[]) => void;
  readonly view: ColumnsView;
  readonly onView: (changes: ColumnsView) => void;
  readonly defaults?: readonly string[];
  readonly fills?: boolean;
}) {
  const { runs, chosen, onChoose, view, onView, defaults = DEFAULT_RUN_COLUMNS, fills = false } = props;
  const navigate = useNavigate();
  const datasetOf = useDatasetNames(runs);
  const columns = useMemo(() => runColumns(datasetOf), [datasetOf]);
  return (
    <DataTable
      label="Table of runs"
      columns={columns}
      rows={runs}
      keyOf={({ id }) => id}
      nameOf={nameOf}
      defaults={defaults}
      view={{ ...view, sort: view.sort ?? '-created' }}
      onView={onView}
      chosen={chosen}
      onChoose={onChoose}
      onOpen={(_, run) => run && void navigate({ to: '/runs/$id', params: { id: run.id } })}
      isTall
      fills={fills}
    />
  );
}

const number = (
  [key, label, size]: readonly [key: string, label: string, size: number],
  of: (run: Run) => number | undefined,
  format: (value: number, run: Run) => string,
  isOptional = true,
): Column<Run> => {
  const cell = (run: Run): string => {
    const value = of(run);
    return value === undefined ? '–' : format(value, run);
  };
  return numbers(label, cell, { key, size, isOptional, sortBy: of });
};

export function runColumns(datasetOf: DatasetOf): readonly KeyedColumn<Run>[] {
  const dim = (words: string): ReactNode => <Dimmed span>{words}</Dimmed>;
  const columns: readonly Column<Run>[] = [
    texts(
      'Name',
      (run) => (
        <>
          <Link to="/runs/$id" params={{ id: run.id }} className="row-link">
            {nameOf(run)}
          </Link>
          {run.source_run_id !== null && dim(' scored again')}
        </>
      ),
      { key: 'name', size: 220, share: 4, sortBy: (run) => nameOf(run) },
    ),
    texts('Model', (run) => dim(modelOf(run) ?? '–'), {
      ...{ key: 'model', size: 130, share: 2 },
      sortBy: (run) => modelOf(run) ?? undefined,
    }),
    texts(
      'Dataset',
      (run) => (
        <LinkAnchor to="/datasets/$id" params={{ id: run.dataset_id }} size="sm" c="dimmed">
          {datasetOf(run)}
        </LinkAnchor>
      ),
      { key: 'dataset', size: 190, share: 3, sortBy: datasetOf },
    ),
    number(['version', 'Version', 80], ({ dataset_version }) => dataset_version, String, false),
    {
      ...{ key: 'status', label: 'Status', size: 110 },
      sortBy: ({ status }) => status,
      cell: ({ status }) => <StatusBadge status={status} />,
    },
    number(
      ['done', 'Done', 100],
      ({ counts }) => counts.done,
      (done, { counts }) =>
        done === counts.total ? formatCount(done) : `${formatCount(done)} of ${formatCount(counts.total)}`,
    ),
    number(
      ['score', 'Score', 130],
      ({ scores }) => scores.mean ?? undefined,
      (_, { scores }) => scoreText(scores),
      false,
    ),
    number(
      ['right', 'Right', 80],
      ({ counts, scores }) => (counts.ok === 0 ? undefined : (scores.pass_rate ?? undefined)),
      formatPercent,
      false,
    ),
    number(
      ['failed', 'No answer', 90],
      ({ counts }) => counts.failed,
      (failed) => (failed === 0 ? '–' : formatCount(failed)),
    ),
    number(['tokens', 'Tokens', 90], (run) => tokensOf(run) || undefined, formatCount),
    number(
      ['cost', 'Cost', 110],
      ({ cost }) => cost?.amount,
      (_, { cost }) => formatCost(cost),
    ),
    ages('Created', ({ created_at }) => created_at, {
      key: 'created',
      sortBy: ({ created_at }) => Date.parse(created_at),
    }),
  ];
  return columns.map(keyed);
}
