import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { DataTable } from '../ui/table/data-table.tsx';
import type { ColumnsView } from '../ui/table/view-columns.ts';
import { useDatasetNames } from './dataset-names.ts';
import { nameOf, type Run } from './queries.ts';
import { DEFAULT_RUN_COLUMNS, runColumns } from './run-columns.tsx';

/** Runs, from which some can be chosen to be compared. A click on a header orders them. */
export function RunsTable({
  runs,
  chosen,
  onChoose,
  view,
  onView,
  defaults = DEFAULT_RUN_COLUMNS,
  fills = false,
}: {
  readonly runs: readonly Run[];
  readonly chosen: readonly string[];
  readonly onChoose: (ids: readonly string[]) => void;
  readonly view: ColumnsView;
  readonly onView: (changes: ColumnsView) => void;
  /** Keys of the columns that are shown without a choice. */
  readonly defaults?: readonly string[];
  /** Whether it takes the room that the window leaves. */
  readonly fills?: boolean;
}) {
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
