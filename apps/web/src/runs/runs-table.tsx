import { Checkbox } from '@mantine/core';
import { useMemo } from 'react';
import { type Column, Columns } from '../ui/layout/columns.tsx';
import { useViewTable } from '../ui/table/use-view-table.ts';
import type { ColumnsView } from '../ui/table/view-columns.ts';
import { useDatasetNames } from './dataset-names.ts';
import { DEFAULT_RUN_COLUMNS, runColumns } from './run-columns.tsx';
import { nameOf, type Run } from './use-run.ts';

/** Runs, from which some can be chosen to be compared. A click on a header orders them. */
export function RunsTable({
  runs,
  chosen,
  onToggle,
  view,
  onView,
  defaults = DEFAULT_RUN_COLUMNS,
}: {
  readonly runs: readonly Run[];
  readonly chosen: readonly string[];
  readonly onToggle: (id: string) => void;
  readonly view: ColumnsView;
  readonly onView: (changes: ColumnsView) => void;
  /** Keys of the columns that are shown without a choice. */
  readonly defaults?: readonly string[];
}) {
  const datasetOf = useDatasetNames(runs);
  const all = useMemo(() => runColumns(datasetOf), [datasetOf]);
  const table = useViewTable<Run>({ columns: all, defaults, rows: runs, view, onView });
  const headers = table.getHeaderGroups()[0]?.headers ?? [];
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
    ...headers.flatMap(({ column }): Column<Run>[] => {
      const found = all.find(({ key }) => key === column.id);
      if (found === undefined) return [];
      const { key, label, isNumber = false, wraps = false, cell } = found;
      return [
        {
          header: label,
          cell,
          wraps,
          sort: isNumber ? [`-${key}`, key] : [key, `-${key}`],
          ...(isNumber && { align: 'end' }),
          ...(wraps && { minWidth: column.getSize() / 2, maxWidth: column.getSize() }),
          ...(table.state.columnSizing[key] !== undefined && { width: column.getSize() }),
        },
      ];
    }),
  ];
  return (
    <Columns
      label="Table of runs"
      minWidth={headers.reduce((sum, { column }) => sum + column.getSize(), 0) * 0.65}
      highlightOnHover
      horizontalSpacing={6}
      columns={columns}
      rows={table.getRowModel().rows.map(({ original }) => original)}
      keyOf={({ id }) => id}
      sort={view.sort ?? '-created'}
      onSort={(sort) => onView({ sort })}
    />
  );
}
