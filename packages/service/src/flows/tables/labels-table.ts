import { wireValue } from '@svc/jsonl-v23/internal';
import type { LabelConditions, LabelOfResult, OpenRun } from '@svc/store';
import type { ColumnType, TableColumn } from '@svc/tabular/write';
import { fileBaseName } from './file-base-name.ts';
import { labelColumns } from './result-columns.ts';
import { type TableExport, type TableOptions, tableExport } from './table-export.ts';

const column = (
  name: string,
  type: ColumnType,
  json: (label: LabelOfResult) => string | null,
): TableColumn<LabelOfResult> => ({ name, type, json });

/** The columns of a table of labels, in their default order. */
export const LABEL_TABLE_COLUMNS: readonly TableColumn<LabelOfResult>[] = [
  column('section', 'string', ({ section }) => JSON.stringify(section)),
  column('order_index', 'int64', ({ orderIndex }) => String(orderIndex)),
  column('item_id', 'string', ({ itemId }) => itemId),
  column('repetition', 'int64', ({ repetition }) => String(repetition)),
  column('item_hash', 'string', ({ itemHash }) => JSON.stringify(wireValue(itemHash))),
  ...labelColumns((label: LabelOfResult) => label),
  column('created_at', 'string', ({ createdAt }) => JSON.stringify(createdAt)),
  column('updated_at', 'string', ({ updatedAt }) => JSON.stringify(updatedAt)),
  column('imported', 'bool', ({ imported }) => String(imported)),
];

export interface LabelsTableOptions extends TableOptions<LabelOfResult> {
  readonly conditions: LabelConditions;
}

/** The labels of an open run's results in item order and by person, as a table. The rest is as for `resultsTable`. */
export function labelsTable(open: OpenRun, { conditions, ...options }: LabelsTableOptions): TableExport {
  const { id, name, resultsWritten } = open.run;
  const table = {
    baseName: `${fileBaseName(name ?? '', `run-${id}`)}.labels`,
    source: [id, resultsWritten, open.labelsState, conditions],
    read: () => open.labels(conditions),
  };
  return tableExport(table, options);
}
